package resource

import (
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A ShellSyntaxError reports that a command line, which no shell reads, has a word that only a shell
// understands. The command would get the word as an argument.
type ShellSyntaxError struct{ Line, Word string }

// Error names the word and the line.
func (e *ShellSyntaxError) Error() string {
	return fmt.Sprintf("%s requires a shell, but %q runs without one", e.Word, e.Line)
}

// Hint describes how to have a shell read the line, and how to pass the word as an argument.
func (e *ShellSyntaxError) Hint() string {
	return fmt.Sprintf(`use sh -c '...' to run it in a shell, or quote it: '%s'`, e.Word)
}

var (
	// quotedWord is a word of a command line, with its quotes and backslashes.
	quotedWord = lazyregexp.New(`(?s)(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+`)
	// shellOperator is a word that is only an operator of a shell: |, &&, ;, 2>, 2>&1.
	shellOperator = lazyregexp.New(`^(?:[|&;<>]+|[0-9]*[<>]+(?:&[0-9-]*)?)$`)
)

// SplitWords splits a command line into words as a shell would (go-shellquote). A word that
// is only an operator of a shell, and not quoted, is a [ShellSyntaxError].
func SplitWords(line string) ([]string, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		return nil, fmt.Errorf("%s in %q", strings.ToLower(err.Error()), line)
	}
	if strings.ContainsAny(line, "|&;<>") {
		for _, w := range quotedWord().FindAllString(line, -1) {
			if shellOperator().MatchString(w) {
				return nil, &ShellSyntaxError{line, w}
			}
		}
	}
	return words, nil
}
