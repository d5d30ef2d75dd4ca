package host

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHasSwap: files in /proc/swaps (proc_swaps(5)) are recognized, with blanks in their names, and devices are not.
func TestHasSwap(t *testing.T) {
	const swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n" +
		"/dev/sda2                               partition\t1048572\t\t0\t\t-2\n" +
		"/swapfile                               file\t\t1048572\t\t0\t\t-3\n" +
		"/srv/my\\040swap                         file\t\t1048572\t\t0\t\t-4\n"
	for file, want := range map[string]bool{"/swapfile": true, "/srv/my swap": true, "/dev/sda2": false, "/swap": false, "Filename": false} {
		require.Equal(t, want, hasSwap(swaps, file), file)
	}
	require.False(t, hasSwap("", "/swapfile"))
}
