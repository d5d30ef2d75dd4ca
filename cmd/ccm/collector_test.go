package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The limit is the least of the machine's and of those of the control groups above.
func TestGroupLimit(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/memory.max":                             "max\n",
		"/sys/fs/cgroup/user.slice/memory.max":                  "500\n",
		"/sys/fs/cgroup/user.slice/one/memory.max":              "700\n",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes":           "9223372036854771712\n",
		"/sys/fs/cgroup/memory/box/memory.limit_in_bytes":       "300\n",
		"/sys/fs/cgroup/memory/box/inner/memory.limit_in_bytes": "9223372036854771712\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
	for groups, want := range map[string]int64{
		"":                          1000,
		"0::/\n":                    1000,
		"0::/user.slice/one\n":      500,
		"4:memory:/box/inner\n0::/": 300,
		"3:cpu,memory:/box\n":       300,
		"5:devices:/box\nx\n":       1000,
	} {
		require.Equal(t, want, groupLimit(1000, groups, read), "%q", groups)
	}
	require.Equal(t, int64(500), groupLimit(0, "0::/user.slice", read))
}

// A small heap grows to the goal, one about as large by a quarter, a large one by more, up to twice its size.
func TestCollectorPercent(t *testing.T) {
	const mib = 1 << 20
	for live, want := range map[int64]int{0: 700, mib: 700, 4 * mib: 600, 7 * mib: 300, 14 * mib: 100, 24 * mib: 25, 42 * mib: 25, 56 * mib: 35, 91 * mib: 62, 140 * mib: 100, 500 * mib: 100} {
		require.Equal(t, want, collectorPercent(live, 28*mib), "%d bytes", live)
	}
}
