package host

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A ModeChange is a mode in the syntax of chmod(1) that depends on the present permissions:
// u=rwX,go=rX. It sets no setuid, setgid or sticky bit; for a file u= and g= clear setuid and
// setgid, as chmod does.
type ModeChange []modeClause

// A modeClause is one part of a ModeChange, such as go=rX.
type modeClause struct {
	userBits uint32 // the bits of the users that it changes
	op       byte   // + - =
	bits     uint32 // rwx for all users
	ifAny    bool   // X: x for directories, and where anybody has x
}

// ParseModeChange reads a mode such as u=rwX,go=rX. Each part needs to name the users. It refuses
// a mode of which a second application would change something.
func ParseModeChange(text string) (m ModeChange, err error) {
	for part := range strings.SplitSeq(text, ",") {
		at := strings.IndexAny(part, "+-=")
		if at < 1 || len(strings.Trim(part[:at], "ugoa")) > 0 || len(strings.Trim(part[at+1:], "rwxX")) > 0 {
			return nil, diag.Expected("parts such as u=rwX or go-w, of u, g, o or a, then +, - or =, then r, w, x or X").Got("%q", part)
		}
		c := modeClause{op: part[at], ifAny: strings.Contains(part[at+1:], "X")}
		for _, w := range part[:at] {
			c.userBits |= map[rune]uint32{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[w]
		}
		for _, b := range part[at+1:] {
			c.bits |= map[rune]uint32{'r': 0o444, 'w': 0o222, 'x': 0o111}[b]
		}
		m = append(m, c)
	}
	for mode := range uint32(0o1000) {
		for _, directory := range []bool{false, true} {
			once := m.Apply(mode, directory)
			if m.Apply(once, directory) != once {
				return nil, diag.Expected("permissions with the same result when applied again").Got("%q, which yields %04o from %04o, then %04o", text, once, mode, m.Apply(once, directory))
			}
		}
	}
	return m, nil
}

// Apply returns the new permissions of a file or directory.
func (m ModeChange) Apply(mode uint32, directory bool) uint32 {
	for _, c := range m {
		bits := c.bits
		if c.ifAny && (directory || mode&0o111 != 0) {
			bits |= 0o111
		}
		switch bits &= c.userBits; c.op {
		case '+':
			mode |= bits
		case '-':
			mode &^= bits
		default:
			mode = mode&^c.userBits | bits
			if !directory {
				mode &^= c.userBits&0o400<<3 | c.userBits&0o020<<6 // clears setuid for u, setgid for g
			}
		}
	}
	return mode
}
