//go:build !portable

package safepath

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestQuotas: what a kernel answers about quotas is the room that they leave. A kernel with quotas is seldom where tests
// run, so its answers are made here.
func TestQuotas(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	const past, future = 999_999, 1_000_001
	const all = math.MaxInt64
	for name, c := range map[string]struct {
		limited uint16
		user    [8]uint64 // hard and soft limit, and use, of KiB (use: bytes) and of files; ends of grace of both
		group   [8]uint64
		refused error // of the questions about users and groups
		want    []Room
	}{
		"off":           {user: [8]uint64{10}},
		"only counted":  {limited: 1 << 0, user: [8]uint64{10}},
		"no limits":     {limited: userLimited, user: [8]uint64{0, 0, 500, 0, 0, 3}},
		"bytes":         {limited: userLimited, user: [8]uint64{10, 0, 240}, want: []Room{{Device: 7, Bytes: 10000, Files: all, Quota: "uid 1000"}}},
		"exceeded":      {limited: userLimited, user: [8]uint64{10, 0, 20480}, want: []Room{{Device: 7, Files: all, Quota: "uid 1000"}}},
		"files":         {limited: userLimited, user: [8]uint64{0, 0, 0, 5, 0, 3}, want: []Room{{Device: 7, Bytes: all, Files: 2, Quota: "uid 1000"}}},
		"group":         {limited: groupLimited, user: [8]uint64{1}, group: [8]uint64{1}, want: []Room{{Device: 7, Bytes: 1024, Files: all, Quota: "gid 50"}}},
		"both":          {limited: userLimited | groupLimited, user: [8]uint64{2}, group: [8]uint64{1}, want: []Room{{Device: 7, Bytes: 2048, Files: all, Quota: "uid 1000"}, {Device: 7, Bytes: 1024, Files: all, Quota: "gid 50"}}},
		"grace":         {limited: userLimited, user: [8]uint64{10, 1, 2048, 0, 0, 0, future}, want: []Room{{Device: 7, Bytes: 8192, Files: all, Quota: "uid 1000"}}},
		"grace is over": {limited: userLimited, user: [8]uint64{10, 1, 2048, 9, 1, 2, past, past}, want: []Room{{Device: 7, Quota: "uid 1000"}}},
		"not allowed":   {limited: userLimited, refused: unix.EPERM},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(_, request, kind int, id uint32, answer []byte) error {
				switch {
				case request == requestState:
					binary.NativeEndian.PutUint16(answer[2:], c.limited)
					return nil
				case c.refused != nil:
					return c.refused
				}
				require.Equal(t, []uint32{1000, 50}[kind], id)
				for i, n := range [][8]uint64{c.user, c.group}[kind] {
					binary.NativeEndian.PutUint64(answer[8*i:], n)
				}
				return nil
			}
			require.Equal(t, c.want, quotas(ask, -1, 7, now, 1000, 50))
		})
	}
	ask := func(int, int, int, uint32, []byte) error { return unix.ENOSYS } // Linux before 5.14
	require.Empty(t, quotas(ask, -1, 7, now, 1000, 50))
	stat := unix.Stat_t{Uid: 1000, Gid: 50}
	for quota, want := range map[string]bool{"": true, "uid 1000": true, "gid 50": true, "uid 50": false, "gid 1000": false} {
		require.Equal(t, want, Room{Quota: quota}.Counts(&stat), quota)
	}
}
