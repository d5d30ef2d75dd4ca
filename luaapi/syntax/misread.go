package syntax

import (
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// largeEscape matches an escape of more than 255.
var largeEscape = lazyregexp.New(`\\(25[6-9]|2[6-9][0-9]|[3-9][0-9][0-9])`)

// lacksExponent reports whether a text has an e behind a digit and no digit behind the e. It may be part of a name, of a
// string or of a hexadecimal number too.
func lacksExponent(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i]|0x20 != 'e' || text[i-1] != '.' && !isDigit(text[i-1]) {
			continue
		}
		behind := strings.TrimLeft(text[i+1:min(i+3, len(text))], "+-")
		if behind == "" || !isDigit(behind[0]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// misread returns the first mistake of a text that the parser of gopher-lua does not see, nil if there is none: it takes
// the number 1e for one that is no number, and the string "\256" for "\0".
func misread(text string) error {
	if lacksExponent(text) {
		r := NewTokenReader(text)
		for {
			t, err := r.Read()
			if err != nil || t.Typ == parse.EOF {
				break
			}
			if t.Typ != parse.TNumber {
				continue
			}
			// The scanner takes what comes behind the e for a digit.
			digits := strings.Map(func(c rune) rune {
				if strings.ContainsRune("0123456789.eE+-", c) {
					return c
				}
				return -1
			}, t.text)
			if lacksExponent(digits) && !strings.ContainsAny(t.text, "xX") {
				return &diag.Error{Pos: diag.Pos{Line: t.Line, Col: t.Col, Len: len(digits)},
					Err: &Error{Text: fmt.Sprintf("malformed number near %q", digits)}}
			}
		}
	}
	if !largeEscape().MatchString(text) {
		return nil
	}
	var mistake error
	eachLiteral(text, func(from, _ int, inner string, _ bool) {
		if mistake != nil || text[from] == '[' {
			return
		}
		for i := strings.IndexByte(inner, '\\'); i >= 0 && i < len(inner); {
			if at := largeEscape().FindStringIndex(inner[i:]); at != nil && at[0] == 0 {
				before := text[:from+1+i]
				mistake = &diag.Error{
					Pos:  diag.Pos{Line: 1 + strings.Count(before, "\n"), Col: len(before) - strings.LastIndexByte(before, '\n'), Len: at[1]},
					Err:  &Error{Text: fmt.Sprintf("the escape %s is larger than 255", inner[i:i+at[1]])},
					Hint: "a byte has at most three decimal digits",
				}
				return
			}
			next := strings.IndexByte(inner[min(i+2, len(inner)):], '\\')
			if next < 0 {
				return
			}
			i += 2 + next
		}
	})
	return mistake
}
