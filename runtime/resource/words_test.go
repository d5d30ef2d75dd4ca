package resource

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSplitWords tells operators of a shell from words that hold or quote them.
func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		`grep '|' /etc/x`:                   {"grep", "|", "/etc/x"},
		`find / -exec rm {} \;`:             {"find", "/", "-exec", "rm", "{}", ";"},
		`echo "a && b" "&&" '>'`:            {"echo", "a && b", "&&", ">"},
		`sh -c 'true && false; x > y 2>&1'`: {"sh", "-c", "true && false; x > y 2>&1"},
		`curl http://x/?a=1&b=2 a|b <x>`:    {"curl", "http://x/?a=1&b=2", "a|b", "<x>"},
		"echo '\n|\n' \\| 2":                {"echo", "\n|\n", "|", "2"},
		`echo ''|'' a""`:                    {"echo", "|", "a"},
	} {
		words, err := SplitWords(line)
		require.NoError(t, err, line)
		require.Equal(t, want, words, line)
	}
	for line, word := range map[string]string{
		"a | b": "|", "a || b": "||", "a && b": "&&", "a &": "&", "a ; b": ";", "a > b": ">", "a >> b": ">>", "a < b": "<",
		"a 2> b": "2>", "a 2>> b": "2>>", "a 2>&1": "2>&1", "echo '|' |\nb": "|", "|": "|", `find -exec x {} ;`: ";",
	} {
		_, err := SplitWords(line)
		require.Equal(t, &ShellSyntaxError{line, word}, err, line)
	}
	_, err := SplitWords("echo 'x && y")
	require.EqualError(t, err, `unterminated single-quoted string in "echo 'x && y"`)
}
