package pkgtool

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// MaxLines is the largest number of lines of each output in the reason of a failure.
const MaxLines = 8

// LastWords returns ": " and the reason of a failure.
func (t *Tool) LastWords(res host.Result) string {
	if words := t.Reason(Lines(res.Stdout), Lines(res.Stderr)); len(words) > 0 {
		return ": " + strings.Join(words, "\n")
	}
	return res.LastWords()
}

// CouldNot returns the error of a program that failed to do something, such as "install", with the reason.
func (t *Tool) CouldNot(program, verb string, res host.Result) error {
	return ExitError(fmt.Sprintf("%s could not %s it", program, verb), res.Code, t.LastWords(res))
}

// ExitError returns the error of a command that ended with an exit status. Words is "" or the reason, after ": ".
func ExitError(command string, code int, words string) error {
	return fmt.Errorf("%s: %w%s", command, diag.ExitStatus(code), words)
}

// Tail returns the last [MaxLines] lines.
func Tail(lines []string) []string { return lines[max(0, len(lines)-MaxLines):] }

// ScriptOutput returns the index of the first line that a package script wrote before the error
// in line at. The line before it is a step of the package manager.
func ScriptOutput(lines []string, at int, isStep func(line string) bool) int {
	start := at
	for start > 0 && at-start < MaxLines/2 && !isStep(lines[start-1]) {
		start--
	}
	return start
}

// Lines returns the lines of an output without empty ones and indentation.
func Lines(out []byte) []string {
	var lines []string
	for line := range strings.FieldsFuncSeq(string(out), func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
