package dnf

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// didNothing reports whether dnf succeeded without a change. An action has to change something,
// so that is a failure.
func didNothing(res host.Result) bool {
	isNothing := func(s string) bool { return s == "Nothing to do." }
	return slices.ContainsFunc(append(pkgtool.Lines(res.Stdout), pkgtool.Lines(res.Stderr)...), isNothing)
}

// unavailable matches dnf's messages about packages that no repository has.
var unavailable = lazyregexp.New(`(?m)^(.*: )?(No match for argument|Unable to find a match|No package .* available)`)

// reason returns the lines that explain a failure: those of package scripts and of the
// transaction, from standard output, and the end of standard error. If dnf lacks the key of a repository, it prints all
// that it knows of the repository, with passwords.
func reason(stdout, stderr []string) []string {
	const keyless = "Problem repository: "
	if i := slices.IndexFunc(stderr, func(s string) bool { return strings.HasPrefix(s, keyless) }); i >= 0 {
		repository := strings.Trim(strings.TrimPrefix(stderr[i], keyless), "[]")
		stderr = []string{"dnf cannot verify packages of the repository " + repository + ": key missing (set gpgkey, or run rpm --import)"}
	}
	return append(explanation(stdout), pkgtool.Tail(stderr)...)
}

// explanation returns the lines of a failed package script, or the reason why there is nothing to
// do.
func explanation(lines []string) []string {
	if i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "error: %") }); i >= 0 {
		return lines[pkgtool.ScriptOutput(lines, i, isStep) : i+1]
	}
	return slices.DeleteFunc(lines, func(s string) bool {
		return !strings.HasPrefix(s, "No match for argument") && !strings.HasPrefix(s, "No package ") && !strings.HasPrefix(s, "Installed package ") && !strings.HasSuffix(s, " is already installed.")
	})
}

// isStep reports whether s is the line of a transaction step, such as
// "Running scriptlet: zsh-5.8-9.el9.x86_64   1/1".
func isStep(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 {
		return true
	}
	done, all, ok := strings.Cut(words[len(words)-1], "/")
	return ok && strings.Trim(done+all, "0123456789") == ""
}
