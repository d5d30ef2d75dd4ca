package dialog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "# A page\n\n```lua site.lua\nlocal x = 1\n```\n\n```console\n$ cat << END\n> text\n> END\ntext\n" +
	"$ ls\na\n...\nz (... s)\nweb2$ true\n```\n\n```\nno language\n```\n"

func TestBlocks(t *testing.T) {
	all := Blocks(page)
	require.Len(t, all, 2)
	require.Equal(t, "site.lua", all[0].File)
	require.Equal(t, "local x = 1\n", all[0].Text)
	require.False(t, all[0].IsDialog())
	require.True(t, all[1].IsDialog())
	commands := all[1].Commands()
	require.Len(t, commands, 3)
	require.Equal(t, "cat << END\ntext\nEND\n", commands[0].Line)
	require.Equal(t, "text\n", commands[0].Want)
	require.Equal(t, "ls\n", commands[1].Line)
	require.Equal(t, "web2", commands[2].Prompt)
	require.Empty(t, commands[2].Want)
}

func TestAnswer(t *testing.T) {
	ls := Blocks(page)[1].Commands()[1]
	for _, fits := range []string{"a\nz (1 s)\n", "a\nb\nc\nz (1.5 s)\n"} {
		require.Regexp(t, ls.Answer(), fits)
	}
	for _, differs := range []string{"", "a\n", "z (1 s)\n", "a\nz (1 s)\nmore\n", "a\nz 1 s\n"} {
		require.NotRegexp(t, ls.Answer(), differs)
	}
}

// TestAnswered: only the output changes.
func TestAnswered(t *testing.T) {
	commands := Blocks(page)[1].Commands()
	require.Equal(t, page, Answered(page, commands, []string{commands[0].Want, commands[1].Want, ""}))
	got := Blocks(Answered(page, commands, []string{"", "one\ntwo\n", "three\n"}))[1].Commands()
	require.Equal(t, []string{"", "one\ntwo\n", "three\n"}, []string{got[0].Want, got[1].Want, got[2].Want})
	require.Equal(t, commands[0].Line, got[0].Line)
}
