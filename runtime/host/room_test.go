package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// TestRoomOfQuota: what a quota leaves is judged like the room of a file system, each owner for itself.
func TestRoomOfQuota(t *testing.T) {
	const all = math.MaxInt64
	for name, c := range map[string]struct {
		room          safepath.Room
		earlier, need overlay.Claim
		errno         error
		want          string
	}{
		"enough":          {room: safepath.Room{Bytes: 1024, Files: 1}, need: overlay.Claim{Bytes: 1024, Files: 1}},
		"full":            {room: safepath.Room{Bytes: 10, Files: all}, need: overlay.Claim{Bytes: 1024, Files: 1}, errno: unix.EDQUOT, want: "the quota of uid 1000 in /home/a is full: 10 B free, 1.0 KiB needed (repquota -a)"},
		"no files":        {room: safepath.Room{Bytes: all}, need: overlay.Claim{Files: 1}, errno: unix.EDQUOT, want: "the quota of uid 1000 in /home/a can hold no more files (repquota -a)"},
		"earlier changes": {room: safepath.Room{Bytes: 1024, Files: all}, earlier: overlay.Claim{Bytes: 1000}, need: overlay.Claim{Bytes: 100}, errno: unix.EDQUOT, want: "the quota of uid 1000 in /home/a is too small for this plan: 1.0 KiB free, 1000 B needed by earlier changes and 100 B by this one (repquota -a)"},
		"freed earlier":   {room: safepath.Room{Files: all}, earlier: overlay.Claim{Bytes: -1000, Files: -1}, need: overlay.Claim{Bytes: 1000, Files: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c.room.Quota = "uid 1000"
			err := roomError(c.room, "/home/a", c.earlier, c.need)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, c.errno)
		})
	}
	claims := &overlay.RoomProposal{Claims: make(map[overlay.Volume]overlay.Claim)}
	old := &safepath.Handle{Stat: unix.Stat_t{Uid: 1000, Mode: unix.S_IFREG, Nlink: 1, Blocks: 8}}
	dir := &safepath.Handle{Path: "/home/a"}
	room := safepath.Room{Device: 7, Bytes: 100, Files: 1, Quota: "uid 1000"}
	v := New(Options{Root: t.TempDir()}).Planning(t.Context()).overlay
	need := overlay.Claim{Bytes: 50, Files: 1}
	require.NoError(t, claimRoom(v, claims, room, false, need, dir, nil))
	require.ErrorIs(t, claimRoom(v, claims, room, false, need, dir, nil), unix.EDQUOT, "the second file of two")
	room.Quota = "uid 1001"
	require.NoError(t, claimRoom(v, claims, room, false, need, dir, old), "another quota; the file that it replaces does not count")
	require.Equal(t, overlay.Claim{Bytes: 50, Files: 1}, claims.Claims[overlay.Volume{Device: 7, Quota: "uid 1001"}])
	for p, want := range map[*overlay.PathEffect][2]uint32{
		{Kind: safepath.Regular}: {1000, 0},
		{Kind: safepath.Regular, Attr: &safepath.Attr{UID: 5, GID: 6}}: {5, 6},
	} {
		uid, gid := ownerAfter(*p, old)
		require.Equal(t, want, [2]uint32{uid, gid})
	}
}
