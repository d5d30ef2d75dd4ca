package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExamine: Examine reports what Lock would, and changes nothing.
func TestExamine(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "deep", "state")
	c, err := Examine(dir)
	require.NoError(t, err)
	require.Equal(t, base, c.Nearest)
	require.NoDirExists(t, filepath.Dir(dir))

	lock, err := Lock(t.Context(), dir, "ccm run site.lua", 0, time.Now())
	require.NoError(t, err)
	c, err = Examine(dir)
	require.NoError(t, err)
	require.Equal(t, dir, c.Nearest)
	require.True(t, c.Locked)
	require.Equal(t, os.Getpid(), c.Holder.PID)
	require.Equal(t, "ccm run site.lua", c.Holder.Command)
	require.NoError(t, lock.Unlock())
	c, err = Examine(dir)
	require.NoError(t, err)
	require.False(t, c.Locked)

	// The named process exists but does not hold the lock: its PID was used again.
	require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), []byte(`{"pid":1,"command":"x"}`), 0o600))
	c, err = Examine(dir)
	require.NoError(t, err)
	require.False(t, c.Locked)
	lock, err = Lock(t.Context(), dir, "ccm run site.lua", 0, time.Now())
	require.NoError(t, err)
	require.NoError(t, lock.Unlock())

	// Examine refuses what Lock refuses, and does not change the mode that Lock would.
	other := filepath.Join(base, "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	c, err = Examine(other)
	require.NoError(t, err)
	fi, err := os.Stat(other)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), fi.Mode().Perm())
	require.Equal(t, other, c.Nearest)
	require.NoError(t, os.WriteFile(filepath.Join(other, "letter"), nil, 0o644))
	_, err = Examine(other)
	require.ErrorContains(t, err, "expected a directory for state only, accessible only by its owner")
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Examine(file)
	require.ErrorContains(t, err, "not a directory")
}
