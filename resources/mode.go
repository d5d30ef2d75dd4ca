package resources

import (
	"fmt"
	"strconv"
	"strings"
)

// A Mode is the permissions of a file in octal. Digits that are x are left as
// they are.
type Mode struct {
	bits uint32
	mask uint32 // the bits that are managed
}

// ModeOf returns the Mode that manages all permission bits.
func ModeOf(bits uint32) Mode { return Mode{bits, 0o777} }

// UnmarshalText reads up to four octal digits, at most 0777, with an optional
// 0o before them: 0644, 644, 0o644, 0O644, 07x5.
func (m *Mode) UnmarshalText(text []byte) error {
	s := string(text)
	digits := s
	if len(digits) > 2 && (strings.HasPrefix(digits, "0o") || strings.HasPrefix(digits, "0O")) {
		digits = digits[2:]
	}
	bits, err := strconv.ParseUint(strings.ReplaceAll(digits, "x", "0"), 8, 32)
	if err != nil || strings.HasPrefix(digits, "+") {
		return fmt.Errorf(`want octal permissions such as "0644", got %q`, s)
	}
	if bits > 0o777 {
		return fmt.Errorf("want at most 0777, got %q: setuid, setgid and sticky cannot be set", s)
	}
	mask := uint32(0o777)
	if strings.Contains(digits, "x") {
		if len(digits) < 3 {
			return fmt.Errorf(`want three digits such as "7x5" where x is used, got %q`, s)
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

// String formats m as four digits, those that are not managed as x.
func (m Mode) String() string {
	s := []byte(fmt.Sprintf("%04o", m.bits))
	for i := range 3 {
		if m.mask&(7<<(3*i)) == 0 {
			s[3-i] = 'x'
		}
	}
	return string(s)
}

// Matches reports whether permissions are as m wants them.
func (m Mode) Matches(have uint32) bool {
	return have&m.mask == m.bits && (m.mask != 0o777 || have&^0o777 == 0)
}

// Over returns the permissions that have become when m is applied.
func (m Mode) Over(have uint32) uint32 { return have&0o777&^m.mask | m.bits }

// JSONSchema implements schema.JSONSchemer.
func (Mode) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^(0[oO])?0?[0-7x]{1,3}$", "examples": []any{"0644"}}
}
