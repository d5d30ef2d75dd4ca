package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A form is one of the languages of ccm.
type form string

const (
	lua  form = "lua"
	yaml form = "yaml"
)

// loopSite declares files in a loop. A manifest has none.
func (b *bench) loopSite(f files) string {
	return fmt.Sprintf(`local pad = %q
for i = 0, %d do
  file {
    string.format("%s/f%%06d.conf", i),
    content = string.format("%%08d", i) .. pad, owner = %q, group = %q, mode = "0644",
  }
end
`, pad, f.n-1, f.dir, b.user, b.group)
}

// literalSite writes every file out.
func (b *bench) literalSite(f files, in form) string {
	var s site
	s.begin(in, "file")
	for i := range f.n {
		s.resource(f.path(i), "ensure", "present", "owner", b.user, "group", b.group, "mode", "0644", "content", content(i))
	}
	return s.String()
}

// execSite declares commands that need not be run, since what they would create
// is there.
func (b *bench) execSite(guards []string, in form) string {
	var s site
	s.begin(in, "exec")
	for i, g := range guards {
		s.resource(fmt.Sprintf("guarded-%d", i), "command", "/bin/true", "creates", g)
	}
	return s.String()
}

// edgeSite declares commands of which each requires three earlier ones.
func (b *bench) edgeSite(n int, guard string, in form) string {
	var s site
	s.begin(in, "exec")
	for i := range n {
		s.open(fmt.Sprintf("e%d", i))
		s.property("command", "/bin/true")
		s.property("creates", guard)
		if i > 3 {
			s.list("require", "exec#e"+strconv.Itoa(i/2), "exec#e"+strconv.Itoa(i*7/10), "exec#e"+strconv.Itoa(i-1))
		}
		s.close()
	}
	return s.String()
}

// namedSite declares resources of a type that all want the same.
func (b *bench) namedSite(typ string, names []string, in form, properties func(name string) []string) string {
	var s site
	s.begin(in, typ)
	for _, name := range names {
		s.resource(name, properties(name)...)
	}
	return s.String()
}

// bigSite declares a file that comes from another one.
func (b *bench) bigSite(source, target string, in form) string {
	var s site
	s.begin(in, "file")
	s.resource(target, "ensure", "present", "owner", b.user, "group", b.group, "mode", "0644", "source", source)
	return s.String()
}

// A site is the text of a script or manifest, under way.
type site struct {
	strings.Builder
	in  form
	typ string
}

func (s *site) begin(in form, typ string) {
	s.in, s.typ = in, typ
	if in == yaml {
		fmt.Fprintf(s, "ccm:\n  resources:\n    - %s:\n", typ)
	}
}

// resource writes one resource with properties, each a name and a value.
func (s *site) resource(name string, properties ...string) {
	s.open(name)
	for i := 0; i < len(properties); i += 2 {
		s.property(properties[i], properties[i+1])
	}
	s.close()
}

func (s *site) open(name string) {
	if s.in == yaml {
		fmt.Fprintf(s, "        - %q:\n", name)
		return
	}
	fmt.Fprintf(s, "%s { %q", s.typ, name)
}

func (s *site) property(name, value string) {
	if s.in == yaml {
		fmt.Fprintf(s, "            %s: %q\n", name, value)
		return
	}
	fmt.Fprintf(s, ", %s = %q", name, value)
}

func (s *site) list(name string, values ...string) {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	text := strings.Join(quoted, ", ")
	if s.in == yaml {
		fmt.Fprintf(s, "            %s: [%s]\n", name, text)
		return
	}
	fmt.Fprintf(s, ", %s = { %s }", name, text)
}

func (s *site) close() {
	if s.in == lua {
		s.WriteString(" }\n")
	}
}

// write writes a file to the scratch directory and returns its name.
func (b *bench) write(name, text string) (string, error) {
	path := filepath.Join(b.mem.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}
