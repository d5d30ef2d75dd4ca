// Package filecap reads and writes file capabilities (capabilities(7)) in both forms: the text of setcap and getcap, and
// the value of the extended attribute security.capability.
//
// Begin with [Capabilities].
package filecap

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Capabilities are the file capabilities of one file. The zero value is a file without them. Equal ones are ==.
type Capabilities struct {
	// Given is set if the file has the attribute. With nothing in it, a program has no capabilities even as root.
	Given bool
	// Permitted and Inheritable have a bit for each capability, by its number.
	Permitted, Inheritable uint64
	// Effective is set if the program begins with the capabilities, so that it need not know about them.
	Effective bool
	// Root is the user who is root in the user namespace in which alone the capabilities count; 0 for everywhere.
	Root uint32
}

// all has the bits of the known capabilities.
var all = uint64(1)<<len(names) - 1

// A flags is the sets that a clause of the text is about.
type flags uint8

const (
	effective flags = 1 << iota
	permitted
	inheritable
)

// UnmarshalText reads the text of cap_from_text(3), as setcap takes it: clauses separated by blanks, each with names, an
// operator and flags. The empty text is a file without capabilities.
func (c *Capabilities) UnmarshalText(text []byte) error {
	var given [inheritable + 1]uint64 // for each flag
	for clause := range strings.FieldsSeq(string(text)) {
		if err := apply(clause, &given); err != nil {
			return err
		}
	}
	e, either := given[effective], given[permitted]|given[inheritable]
	switch {
	case e != 0 && either == 0:
		return diag.Expected(`"ep" or "ei", because e has no effect alone`).Got("%q", text)
	case e != 0 && e != either:
		return diag.Expected("e for all capabilities of the file or for none").Got("%q", text)
	}
	*c = Capabilities{Given: strings.TrimSpace(string(text)) != "", Permitted: given[permitted], Inheritable: given[inheritable], Effective: e != 0}
	return nil
}

// apply applies one clause to the capabilities that have each flag.
func apply(clause string, given *[inheritable + 1]uint64) error {
	at := strings.IndexAny(clause, "=+-")
	if at < 0 {
		if _, err := bitsOf(clause); err != nil {
			return err
		}
		return diag.Expected(`flags after the names, as in "%s=ep"`, clause).Got("none")
	}
	bits := all
	if at > 0 {
		bits = 0
		for name := range strings.SplitSeq(clause[:at], ",") {
			b, err := bitsOf(name)
			if err != nil {
				return err
			}
			bits |= b
		}
	}
	for rest := clause[at:]; rest != ""; {
		op, first := rest[0], len(rest) == len(clause)-at
		rest = rest[1:]
		end := strings.IndexAny(rest, "=+-")
		if end < 0 {
			end = len(rest)
		}
		chosen, err := flagsOf(rest[:end])
		rest = rest[end:]
		switch {
		case err != nil:
			return err
		case op == '=' && !first:
			return diag.Expected("= only behind the names").Got("%q", clause)
		case op != '=' && at == 0:
			return diag.Expected("names before %c", op).Got("%q", clause)
		case op != '=' && chosen == 0:
			return diag.Expected("flags after %c", op).Got("%q", clause)
		}
		for f := effective; f <= inheritable; f <<= 1 {
			if op == '=' {
				given[f] &^= bits
			}
			switch {
			case chosen&f == 0:
			case op == '-':
				given[f] &^= bits
			default:
				given[f] |= bits
			}
		}
	}
	return nil
}

// flagsOf reads flags.
func flagsOf(text string) (f flags, err error) {
	for _, c := range text {
		i := strings.IndexRune("epi", c)
		if i < 0 {
			return 0, diag.Expected("flags e (effective), i (inheritable) and p (permitted)").Got("%q", text)
		}
		f |= 1 << i
	}
	return f, nil
}

// bitsOf returns the bit of the capability with a name or number, or those of all.
func bitsOf(name string) (uint64, error) {
	lower := strings.ToLower(name)
	if lower == "all" {
		return all, nil
	}
	if i := slices.Index(names, lower); i >= 0 {
		return 1 << i, nil
	}
	if n, err := strconv.ParseUint(name, 10, 8); err == nil && n < 64 {
		return 1 << n, nil
	}
	err := diag.Unknown("capability", name, names)
	if lower == "none" {
		return 0, noneError{err}
	}
	return 0, err
}

// A noneError is about the word none, which the text does not have.
type noneError struct{ error }

// Hint is the advice for [diag.HintOf].
func (noneError) Hint() string { return `"" removes the capabilities` }

// String returns the text as getcap prints it; "" for a file without capabilities.
func (c Capabilities) String() string {
	if !c.Given {
		return ""
	}
	e := uint64(0)
	if c.Effective {
		e = c.Permitted | c.Inheritable
	}
	var clauses []string
	for _, flag := range []string{"eip", "ip", "ei", "i", "ep", "p"} {
		same := ^uint64(0)
		for i, bits := range []uint64{e, c.Permitted, c.Inheritable} {
			if !strings.Contains(flag, "epi"[i:i+1]) {
				bits = ^bits
			}
			same &= bits
		}
		if same == 0 {
			continue
		}
		switch list := namesOf(same); {
		case len(clauses) > 0:
			clauses = append(clauses, list+"+"+flag)
		case same == all:
			clauses = append(clauses, "="+flag)
		default:
			clauses = append(clauses, list+"="+flag)
		}
	}
	if clauses == nil {
		clauses = []string{"="}
	}
	if c.Root != 0 {
		clauses = append(clauses, fmt.Sprintf("[rootid=%d]", c.Root))
	}
	return strings.Join(clauses, " ")
}

// namesOf returns the names of capabilities.
func namesOf(bits uint64) string {
	if bits == all {
		return "all"
	}
	var list []string
	for i := range 64 {
		switch {
		case bits&(1<<i) == 0:
		case i < len(names):
			list = append(list, names[i])
		default:
			list = append(list, strconv.Itoa(i))
		}
	}
	return strings.Join(list, ",")
}

// Versions of the attribute, and its flag for Effective (linux/capability.h).
const (
	version1     = 1 << 24 // 32 capabilities
	version2     = 2 << 24 // 64 capabilities
	version3     = 3 << 24 // with Root
	effectiveBit = 1
)

// FromXattr reads the value of the attribute; an empty one is that of a file without it.
func FromXattr(value []byte) (Capabilities, error) {
	if len(value) == 0 {
		return Capabilities{}, nil
	}
	words := make([]uint32, len(value)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(value[4*i:])
	}
	if len(words) == 0 || len(value)%4 != 0 {
		return Capabilities{}, diag.Damaged("the attribute security.capability", nil)
	}
	c := Capabilities{Given: true, Effective: words[0]&effectiveBit != 0}
	switch version := words[0] &^ effectiveBit; {
	case version == version1 && len(words) == 3:
		words = append(words, 0, 0)
	case version == version3 && len(words) == 6:
		c.Root = words[5]
	case version != version2 || len(words) != 5:
		return Capabilities{}, diag.Damaged("the attribute security.capability", nil)
	}
	c.Permitted = uint64(words[1]) | uint64(words[3])<<32
	c.Inheritable = uint64(words[2]) | uint64(words[4])<<32
	c.Effective = c.Effective && c.Permitted|c.Inheritable != 0
	return c, nil
}

// Xattr returns the value of the attribute, nil for a file without it. The kernel adds the user namespace.
func (c Capabilities) Xattr() []byte {
	if !c.Given {
		return nil
	}
	first := uint32(version2)
	if c.Effective {
		first |= effectiveBit
	}
	value := make([]byte, 0, 20)
	for _, word := range []uint32{first, uint32(c.Permitted), uint32(c.Inheritable), uint32(c.Permitted >> 32), uint32(c.Inheritable >> 32)} {
		value = binary.LittleEndian.AppendUint32(value, word)
	}
	return value
}

// JSONSchema implements schema.JSONSchemer.
func (Capabilities) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "examples": []any{"cap_net_bind_service=ep"}}
}
