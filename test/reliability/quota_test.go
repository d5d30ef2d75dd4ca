//go:build integration

package reliability

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// The quota of a file system is reached while files are written. It is that of btrfs, which applies to root too;
// those of ext4 and xfs need options that many kernels lack.
func TestQuota(t *testing.T) {
	tries := tally.Of(t, "a quota of btrfs is used up (EDQUOT), by files or by the state directory",
		"an error of that resource and exit status 4, or 1 if the run cannot be recorded; old or new content, nothing left behind; the next run with room converges")
	needs(t, "mkfs.btrfs", "btrfs", "losetup")
	k := filesystem{"btrfs", 160 << 20, []string{"mkfs.btrfs", "-q"}, ""}
	image, dir := k.image(t), t.TempDir()
	if out := try(t, "mount", "-o", "loop", image, dir); out.status != 0 {
		t.Skipf("btrfs cannot be mounted: %s", out.stderr)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
	vol := filepath.Join(dir, "vol")
	do(t, "btrfs", "subvolume", "create", vol)
	do(t, "btrfs", "quota", "enable", dir)
	id := "0/" + do(t, "btrfs", "inspect-internal", "rootid", vol)
	limit := func(size string) { do(t, "btrfs", "qgroup", "limit", size, id, dir) }

	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`
local dir, version = arg[1], arg[2]
file.defaults { owner = "root", group = "root", mode = "0644" }
for i = 1, 8 do
  file { dir .. "/" .. i, content = (version .. " of " .. i .. "\n"):rep(version == "A" and 1 or 60000) }
end
`), 0o644))
	want := func(version string, i int) string {
		return strings.Repeat(fmt.Sprintf("%s of %d\n", version, i), map[string]int{"A": 1, "B": 60000}[version])
	}
	for _, size := range []string{"128K", "512K", "2M"} {
		for _, state := range []string{filepath.Join(vol, "state"), t.TempDir()} {
			limit("none")
			first := run(t, state, site, vol, "A")
			require.Zero(t, first.status, "%s", first)
			do(t, "btrfs", "filesystem", "sync", dir)
			limit(size)
			v := run(t, state, site, vol, "B")
			tries.Add(1)
			require.Contains(t, []int{1, 4}, v.status, "%s: %s", size, v)
			require.Contains(t, v.String(), "disk quota exceeded", size)
			require.Equal(t, v.status == 4, v.summary.Failed > 0, "%s: %s", size, v)
			for i := 1; i <= 8; i++ {
				path := filepath.Join(vol, fmt.Sprint(i))
				version := "A"
				if e := v.events["file#"+path]; e.Outcome == "changed" {
					version = "B"
				}
				require.Equal(t, want(version, i), string(must(os.ReadFile(path))), "%s: %s", path, v)
			}
			require.Empty(t, must(filepath.Glob(filepath.Join(vol, ".*"))), size)
			limit("none")
			next := run(t, state, site, vol, "B")
			require.Zero(t, next.status, "%s", next)
			require.NotContains(t, next.stderr, "set aside")
			for i := 1; i <= 8; i++ {
				require.Equal(t, want("B", i), string(must(os.ReadFile(filepath.Join(vol, fmt.Sprint(i))))))
			}
		}
	}
}
