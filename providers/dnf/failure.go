package dnf

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// didNothing reports whether dnf succeeded by leaving everything as it is. A
// verb is called because something is to change, so that is a failure.
func didNothing(res host.Result) bool {
	isNothing := func(s string) bool { return s == "Nothing to do." }
	return slices.ContainsFunc(append(said(res.Stdout), said(res.Stderr)...), isNothing)
}

// lastWords returns ": " and what dnf said of its failure. What the scripts of
// a package and the transaction said stands in the standard output, dnf's own
// conclusion in the other.
func lastWords(res host.Result) string {
	conclusion := said(res.Stderr)
	words := append(explanation(said(res.Stdout)), conclusion[max(0, len(conclusion)-most):]...)
	if len(words) == 0 {
		return res.LastWords()
	}
	return ": " + strings.Join(words, "\n")
}

// most is how many lines of each output are told.
const most = 8

// explanation returns what the script of a package wrote before it failed, or
// why there is nothing to do.
func explanation(lines []string) []string {
	if i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "error: %") }); i >= 0 {
		start := i
		for start > 0 && i-start < most/2 && !isStep(lines[start-1]) {
			start--
		}
		return lines[start : i+1]
	}
	return slices.DeleteFunc(lines, func(s string) bool {
		return !strings.HasPrefix(s, "No match for argument") && !strings.HasPrefix(s, "No package ") && !strings.HasSuffix(s, " is already installed.")
	})
}

// isStep reports whether s is one step of a transaction, such as
// "Running scriptlet: zsh-5.8-9.el9.x86_64   1/1".
func isStep(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 {
		return true
	}
	done, all, ok := strings.Cut(words[len(words)-1], "/")
	return ok && strings.Trim(done+all, "0123456789") == ""
}

// said returns the lines of out that are not empty, without indentation.
func said(out []byte) []string {
	var lines []string
	for line := range strings.FieldsFuncSeq(string(out), func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
