package resources

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Mode is the permissions of a file in octal. Digits that are x are not managed. The zero Mode
// manages none.
type Mode struct {
	bits uint32
	mask uint32 // the managed bits
}

const (
	permissionBits = 0o777
	specialBits    = 0o7000 // setuid, setgid, sticky
)

// ModeOf returns the Mode that manages all bits.
func ModeOf(bits uint32) Mode { return Mode{bits, specialBits | permissionBits} }

// UnmarshalText reads up to four octal digits, with an optional 0o before them: 0644, 644, 0o644,
// 0O644, 07x5, 2775. With an x among them, setuid, setgid and sticky are managed only if one of
// them is set.
func (m *Mode) UnmarshalText(text []byte) error {
	s := string(text)
	digits := s
	if len(digits) > 2 && (strings.HasPrefix(digits, "0o") || strings.HasPrefix(digits, "0O")) {
		digits = digits[2:]
	}
	bits, err := strconv.ParseUint(strings.ReplaceAll(digits, "x", "0"), 8, 32)
	if err != nil || strings.HasPrefix(digits, "+") {
		return diag.Expected(`octal permissions such as "0644"`).Got("%q", s)
	}
	if len(digits) > 4 || bits > specialBits|permissionBits {
		return diag.Expected(`at most four digits such as "0644"`).Got("%q", s)
	}
	mask := uint32(specialBits | permissionBits)
	if strings.Contains(digits, "x") {
		if bits <= permissionBits {
			mask = permissionBits
		}
		if len(digits) < 3 {
			return diag.Expected(`three digits such as "7x5" where x is used`).Got("%q", s)
		}
		for i, c := range digits[len(digits)-3:] {
			if c == 'x' {
				mask &^= 7 << (3 * (2 - i))
			}
		}
	}
	*m = Mode{uint32(bits) & mask, mask}
	return nil
}

// NumberHint is the advice for a mode that was written as a number. Lua reads
// 0644 as the decimal number 644.
func (Mode) NumberHint(num string) string {
	return fmt.Sprintf(`quote it: mode = "0%s"`, strings.TrimPrefix(num, "0"))
}

// String formats m as four digits, with x for those that are not managed.
func (m Mode) String() string {
	s := []byte(fmt.Sprintf("%04o", m.bits))
	for i := range 3 {
		if m.mask&(7<<(3*i)) == 0 {
			s[3-i] = 'x'
		}
	}
	if m.mask == permissionBits {
		s[0] = 'x'
	}
	return string(s)
}

// Matches reports whether permissions are as m demands.
func (m Mode) Matches(have uint32) bool {
	return have&m.mask == m.bits
}

// Over returns the permissions after m was applied.
func (m Mode) Over(have uint32) uint32 { return have&^m.mask | m.bits }

// IsSpecial reports whether m sets setuid, setgid or sticky.
func (m Mode) IsSpecial() bool { return m.bits > permissionBits }

// PropertyKind implements schema.KindReporter.
func (Mode) PropertyKind() string { return "mode" }

// JSONSchema implements schema.JSONSchemer.
func (Mode) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^(0[oO])?[0-7x]{1,4}$", "examples": []any{"0644"}}
}
