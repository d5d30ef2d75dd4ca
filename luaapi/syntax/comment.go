package syntax

import "strings"

// CommentAbove returns the comment in the lines right above line n, without its
// dashes, or that at the end of line n.
func CommentAbove(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	first := n - 1
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "--") {
		first--
	}
	var out []string
	for _, line := range lines[first : n-1] {
		line = strings.TrimLeft(strings.TrimSpace(line), "-")
		out = append(out, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
