package retry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A time limit grows while answers do not come, and shrinks again when they do.
func TestTimeout(t *testing.T) {
	x := Timeout{Min: 4 * time.Second, Max: 30 * time.Second}
	require.Equal(t, 4*time.Second, x.Get())
	x.Answered(time.Millisecond)
	require.Equal(t, 4*time.Second, x.Get())
	for _, want := range []time.Duration{8, 16, 30, 30} {
		x.Missed()
		require.Equal(t, want*time.Second, x.Get())
	}
	x.Answered(12 * time.Second)
	require.Equal(t, 24*time.Second, x.Get(), "servers that need so long may need longer")
	for _, want := range []time.Duration{12, 6, 4, 4} {
		x.Answered(time.Millisecond)
		require.Equal(t, want*time.Second, x.Get())
	}
}
