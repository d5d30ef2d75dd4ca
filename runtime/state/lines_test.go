package state

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A line whose sync fails is not in the file, and lines that waited for it are there once.
func TestLineThatCannotBeMadeDurable(t *testing.T) {
	fails := ""
	dir := statedir.New(t.TempDir(), func(op, _ string) error {
		if op == fails {
			return errors.New("no " + op)
		}
		return nil
	}, func(string) {})
	l := lines{s: &Store{dir: dir, secrets: new(secret.Keeper)}, name: "x"}
	require.NoError(t, l.enqueue("A"))
	fails = "sync"
	require.Error(t, l.add(true, "B"))
	fails = ""
	require.NoError(t, l.flush())
	require.NoError(t, l.add(true, "C"))
	require.NoError(t, l.close())
	text, err := os.ReadFile(dir.Path("x"))
	require.NoError(t, err)
	require.Equal(t, "\"A\"\n\"C\"\n", string(text))
}
