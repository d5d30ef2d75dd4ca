package apt

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// lastWords returns ": " and what apt said of its failure. What is wrong with a
// package stands in its standard output, apt's own conclusion in the other.
func lastWords(res host.Result) string {
	conclusion := slices.DeleteFunc(said(res.Stderr), func(s string) bool {
		return strings.HasPrefix(s, "W: ") || strings.HasPrefix(s, "N: ")
	})
	words := append(explanation(said(res.Stdout)), conclusion[max(0, len(conclusion)-most):]...)
	if len(words) == 0 {
		return res.LastWords()
	}
	return ": " + strings.Join(words, "\n")
}

// most is how many lines of each output are told.
const most = 8

// explanation returns what apt and dpkg wrote of unmet dependencies, of a
// package that failed, or of who holds a lock.
func explanation(lines []string) []string {
	if i := slices.Index(lines, "The following packages have unmet dependencies:"); i >= 0 {
		return lines[i+1 : min(len(lines), i+1+most)]
	}
	if i := slices.IndexFunc(lines, begins("dpkg: error")); i >= 0 {
		// What the scripts of the package said stands between its step and the error.
		start := i
		for start > 0 && i-start < most/2 && !isStep(lines[start-1]) {
			start--
		}
		return lines[start:min(len(lines), start+most)]
	}
	if i := slices.IndexFunc(lines, begins("Waiting for cache lock: ")); i >= 0 {
		return lines[i : i+1]
	}
	return nil
}

// isStep reports whether dpkg wrote s when it began or ended a step.
func isStep(s string) bool {
	for _, prefix := range []string{
		"(Reading database", "Selecting ", "Preparing to unpack ", "Unpacking ",
		"Setting up ", "Removing ", "Processing triggers for ",
	} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

func begins(prefix string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, prefix) }
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
