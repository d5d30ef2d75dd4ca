package collector

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The limit is the least of that of the machine and those of all control groups above the process.
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

// A small heap gets the lowest limit, a larger one a quarter more than it uses, a large one half as much, and
// none more than the highest limit.
func TestCollectorLimit(t *testing.T) {
	c := collector{least: 40 * mebibyte, maxHeap: 400 * mebibyte}
	for live, want := range map[int64]int64{0: 40, 20: 40, 26: 40, 28: 41, 40: 56, 42: 59, 91: 145, 140: 221, 180: 283, 200: 314, 500: 400} {
		require.Equal(t, want, c.limit(live*mebibyte, 4*mebibyte)/mebibyte, "%d MiB", live)
	}
	require.Equal(t, int64(778), collector{}.limit(500*mebibyte, 4*mebibyte)/mebibyte)
}
