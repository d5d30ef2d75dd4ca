package luatype

import (
	"fmt"
	"path"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Path is an absolute path without . and ..
type Path string

// UnmarshalText reads a path.
func (p *Path) UnmarshalText(text []byte) error {
	s := string(text)
	switch {
	case !strings.HasPrefix(s, "/"):
		err := &diag.Error{Err: diag.Expected("an absolute path").Got("%q", s), Hint: resource.HomeHint(s)}
		if err.Hint == "" {
			return err.Err
		}
		return err
	case strings.ContainsRune(s, 0):
		return diag.Expected("a path without NUL bytes").Got("%q", s)
	case path.Clean(s) != s:
		return diag.Expected("a path without . or .. or doubled slashes such as %s", path.Clean(s)).Got("%q", s)
	}
	*p = Path(s)
	return nil
}

// String returns the path.
func (p Path) String() string { return string(p) }

// PropertyKind implements schema.KindReporter.
func (Path) PropertyKind() string { return "path" }

// JSONSchema implements schema.JSONSchemer.
func (Path) JSONSchema() map[string]any { return map[string]any{"type": "string", "pattern": "^/"} }

// A Mode is permissions in octal.
type Mode uint32

// UnmarshalText parses permissions such as 0644, 644 or 0o644.
func (m *Mode) UnmarshalText(text []byte) error {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(string(text)), "0o"), "0")
	n, err := strconv.ParseUint("0"+digits, 8, 32)
	if err != nil || n > 0o7777 || len(text) == 0 {
		return diag.Expected("octal permissions such as %q", "0644").Got("%q", text)
	}
	*m = Mode(n)
	return nil
}

// String formats m with four digits.
func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// NumberHint is the advice for a number: Lua lacks octal numbers.
func (Mode) NumberHint(num string) string {
	return fmt.Sprintf("quote it: \"0%s\"", strings.TrimPrefix(num, "0"))
}

// PropertyKind implements schema.KindReporter.
func (Mode) PropertyKind() string { return "mode" }

// JSONSchema implements schema.JSONSchemer.
func (Mode) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^(0[oO]?)?[0-7]{1,4}$", "examples": []any{"0644"}}
}

var (
	_ schema.JSONSchemer = Path("")
	_ schema.JSONSchemer = Mode(0)
)

// A ModeChange is octal permissions, or a change of the present permissions, such as u=rwX,go=rX.
type ModeChange string

// UnmarshalText reads either.
func (m *ModeChange) UnmarshalText(text []byte) error {
	*m = ModeChange(text)
	_, err := m.parse()
	return err
}

// parse returns the function that computes the new permissions of a file or directory from its
// present ones.
func (m ModeChange) parse() (func(have uint32, directory bool) uint32, error) {
	var octal Mode
	err := octal.UnmarshalText([]byte(m))
	if err == nil {
		return func(uint32, bool) uint32 { return uint32(octal) }, nil
	}
	if strings.Trim(string(m), "0123456789") == "" || strings.HasPrefix(string(m), "0") {
		return nil, err
	}
	change, err := host.ParseModeChange(string(m))
	return change.Apply, err
}

// String returns the text of the change; octal permissions have four digits.
func (m ModeChange) String() string {
	var octal Mode
	if octal.UnmarshalText([]byte(m)) == nil {
		return octal.String()
	}
	return string(m)
}

// A Regexp is a regular expression in the syntax of the library re.
type Regexp string

// UnmarshalText reads one.
func (r *Regexp) UnmarshalText(text []byte) error {
	if len(text) == 0 { // it would match each line
		return diag.Expected("a regular expression (RE2)").Got("an empty string")
	}
	if _, err := syntax.Parse(string(text), syntax.Perl); err != nil {
		return diag.Expected("a regular expression (RE2): %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	*r = Regexp(text)
	return nil
}

// String returns the text.
func (r Regexp) String() string { return string(r) }
