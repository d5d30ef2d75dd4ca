// Package blocks finds blocks without an end in templates of Jet and of Go.
//
// Begin with [Unclosed].
package blocks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// unclosedBlock returns the action at the beginning of the innermost unclosed block, and its line;
// "" if there is none.
func unclosedBlock(text, left, right string) (action string, line int) {
	type block struct {
		action string
		line   int
	}
	var open []block
	for at := 0; ; {
		i := strings.Index(text[at:], left)
		if i < 0 || left == "" || right == "" {
			break
		}
		begin := at + i
		n := strings.Index(text[begin+len(left):], right)
		if n < 0 {
			break
		}
		end := begin + len(left) + n
		code := strings.TrimSpace(strings.Trim(strings.TrimSpace(text[begin+len(left):end]), "-"))
		word := firstWord().FindString(code)
		switch {
		case word == "end" && len(open) > 0:
			open = open[:len(open)-1]
		case word == "if", word == "range", word == "with", word == "define", word == "block", word == "try", word == "yield" && strings.HasSuffix(code, " content"):
			open = append(open, block{left + code + right, strings.Count(text[:begin], "\n") + 1})
		}
		at = end + len(right)
	}
	if len(open) == 0 {
		return "", 0
	}
	last := open[len(open)-1]
	return last.action, last.line
}

var firstWord = lazyregexp.New(`^[a-z]+`)

// Unclosed names the unclosed block in the error of a template that ends too early. It returns
// other errors unchanged.
func Unclosed(err error, text, left, right string) error {
	if !strings.Contains(err.Error(), "unexpected EOF") {
		return err
	}
	action, line := unclosedBlock(text, left, right)
	if action == "" {
		return err
	}
	if len(action) > 60 {
		action = action[:57] + "..."
	}
	return errors.New(strings.Replace(err.Error(), "unexpected EOF", fmt.Sprintf("%s in line %d without %send%s", action, line, left, right), 1))
}
