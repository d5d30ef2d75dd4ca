package retry

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The first pause is short, and each further one up to twice as long, up to a maximum.
func TestDelay(t *testing.T) {
	b := Backoff{Min: 500 * time.Millisecond, Max: 20 * time.Second}
	always := func(x float64) func() float64 { return func() float64 { return x } }
	for failures, longest := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 3: 2 * time.Second, 7: 20 * time.Second, math.MaxInt: 20 * time.Second} {
		require.Equal(t, longest, b.Delay(failures, always(1)), "%d failures", failures)
		require.Equal(t, 250*time.Millisecond, b.Delay(failures, always(0)), "%d failures", failures)
	}
	b.Spread = 5 * time.Second
	require.Equal(t, 250*time.Millisecond, b.Delay(1, always(0)))
	require.Equal(t, 5500*time.Millisecond, b.Delay(1, always(1)))
	require.Equal(t, 11*time.Second, b.Delay(2, always(1)))
	require.Equal(t, 20*time.Second, b.Delay(3, always(1)))
	require.Equal(t, time.Second, Backoff{Min: time.Minute, Max: time.Second}.Delay(1, always(0.5)))
}
