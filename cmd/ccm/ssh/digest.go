package ssh

import (
	"fmt"
	"strings"
)

// digestOf returns the function that sums up a command's output of several lines in a host's line;
// nil if the last line of the output is its summary.
func digestOf(command string) func(lines []string) string {
	switch command {
	case "history":
		return func(lines []string) string { // below the names of columns: the last run
			return strings.Join(strings.Fields(lines[1]), " ")
		}
	case "doctor":
		return digestOfDoctor
	case "status":
		return func(lines []string) string {
			for _, line := range lines[1:] {
				if ensure, ok := strings.CutPrefix(strings.TrimSpace(line), "ensure: "); ok {
					return lines[0] + ": " + ensure
				}
			}
			return lines[0]
		}
	case "facts", "diff":
		return func(lines []string) string { return fmt.Sprintf("%d lines", len(lines)) }
	}
	return nil
}

// digestOfDoctor names the problems.
func digestOfDoctor(lines []string) string {
	var bad []string
	well := 0
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || strings.HasPrefix(line, " "):
		case words[0] == "ok":
			well++
		default:
			bad = append(bad, words[0]+": "+words[1])
		}
	}
	if len(bad) == 0 {
		return fmt.Sprintf("%d ok", well)
	}
	return fmt.Sprintf("%d ok, %s", well, strings.Join(bad, ", "))
}
