package filelock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, name string) *os.File {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	return f
}

// A lock ends with Close, even while a child has a copy of the descriptor.
func TestClose(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, name), open(t, name)
	require.NoError(t, TryLock(first, Exclusive))
	require.ErrorIs(t, TryLock(second, Exclusive), ErrLocked)
	copied, err := syscall.Dup(int(first.Fd()))
	require.NoError(t, err)
	defer syscall.Close(copied)
	require.NoError(t, Close(first))
	require.NoError(t, TryLock(second, Exclusive))
	require.NoError(t, Close(second))
}

func TestShared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	a, b, c := open(t, name), open(t, name), open(t, name)
	require.NoError(t, Lock(a, Shared))
	require.NoError(t, Lock(b, Shared))
	require.ErrorIs(t, TryLock(c, Exclusive), ErrLocked)
	require.NoError(t, Close(a))
	require.NoError(t, Close(b))
	require.NoError(t, TryLock(c, Exclusive))
	require.NoError(t, Close(c))
}
