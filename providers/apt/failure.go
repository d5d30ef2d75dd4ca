package apt

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
)

// reason returns the lines that explain a failure: those about the failed package, from standard
// output, and the end of standard error.
func reason(stdout, stderr []string) []string {
	conclusion := slices.DeleteFunc(stderr, func(s string) bool {
		return strings.HasPrefix(s, "W: ") || strings.HasPrefix(s, "N: ")
	})
	return append(explanation(stdout), pkgtool.Tail(conclusion)...)
}

// explanation returns the lines of apt and dpkg about unmet dependencies, a package that
// failed, or the holder of a lock.
func explanation(lines []string) []string {
	if i := slices.Index(lines, "The following packages have unmet dependencies:"); i >= 0 {
		return lines[i+1 : min(len(lines), i+1+pkgtool.MaxLines)]
	}
	if i := slices.IndexFunc(lines, begins("dpkg: error")); i >= 0 {
		start := pkgtool.ScriptOutput(lines, i, isStep)
		return lines[start:min(len(lines), start+pkgtool.MaxLines)]
	}
	if i := slices.IndexFunc(lines, begins("Waiting for cache lock: ")); i >= 0 {
		return lines[i : i+1]
	}
	return nil
}

// isStep reports whether s is dpkg's line about the beginning or end of a step.
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
