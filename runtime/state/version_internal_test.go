package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/safepath"
)

// TestVersionAfterReboot: a file is the same when only its device has another number, as after a reboot.
func TestVersionAfterReboot(t *testing.T) {
	v := Version{Kind: safepath.Regular, Mode: 0o644, Size: 3, MTime: time.Unix(1, 2), Dev: 40, Ino: 7}
	w := v
	w.Dev = 41
	require.True(t, v.Is(w))
	require.True(t, v.sameContent(w))
	for name, change := range map[string]func(*Version){
		"inode": func(w *Version) { w.Ino = 8 }, "size": func(w *Version) { w.Size = 4 }, "time": func(w *Version) { w.MTime = time.Unix(1, 3) },
	} {
		w := v
		change(&w)
		require.False(t, v.Is(w), name)
		require.False(t, v.sameContent(w), name)
	}
}
