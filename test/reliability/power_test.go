//go:build integration

package reliability

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// nightly is the variable that makes tests try much more.
const nightly = "CCM_TEST_NIGHTLY"

// times returns the number of tries.
func times(short, long int) int {
	if os.Getenv(nightly) != "" {
		return long
	}
	return tally.Times(short, long)
}

// content is the content of a file in site.lua.
func content(version string, i int) string {
	n := 1
	if i%3 == 0 {
		n = 20000
	}
	return strings.Repeat(fmt.Sprintf("%s of %d\n", version, i), n)
}

// fileCount is the number of files in each version of site.lua.
var fileCount = map[string]int{"A": 6, "B": 9}

// versionOf returns the version of site.lua that a file has, "" for a missing file. Any other content is an error.
func versionOf(dir string, i int) (string, error) {
	path := filepath.Join(dir, strconv.Itoa(i))
	have, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	for version, mode := range map[string]fs.FileMode{"A": 0o644, "B": 0o640} {
		if string(have) == content(version, i) && info.Mode() == mode {
			return version, nil
		}
	}
	return "", fmt.Errorf("%s is neither old nor new: mode %v, %d bytes: %.20q", path, info.Mode(), len(have), have)
}

// allSeen reports whether the command of site.lua has run with the present files.
func allSeen(dir, version string) bool {
	var want bytes.Buffer
	for i := 1; i <= fileCount["B"]; i++ {
		if i <= fileCount[version] || version == "A" { // the further files of B stay
			v := version
			if i > fileCount[version] {
				v = "B"
			}
			want.WriteString(content(v, i))
		}
	}
	seen, _ := os.ReadFile(filepath.Join(dir, "seen"))
	return bytes.Equal(seen, want.Bytes())
}

// The power fails at any time during a run: each possible content of the disk, with any part of the writes after the
// last flush, is mounted, and the site is run again.
func TestPowerLoss(t *testing.T) {
	for _, k := range filesystems {
		t.Run(k.name, func(t *testing.T) {
			tries := tally.Of(t, "the power goes during a run, on ext4 and xfs; writes that were not flushed are lost, torn or out of order",
				"old or new content, mode and owner; the state directory is readable; the next run converges, and what subscribes has seen the last change")
			testPowerLoss(t, k, tries)
		})
	}
}

func testPowerLoss(t *testing.T, k filesystem, tries *tally.Counter) {
	needs(t, "losetup", k.mkfs[0])
	d, device := serve(t, k.image(t))
	dir, site := t.TempDir(), "testdata/site.lua"
	state := filepath.Join(dir, "state")
	rnd := rand.New(rand.NewPCG(1, uint64(len(k.name))))
	versions := []string{"A", "B"}
	var histories []history
	for n := range times(2, 6) {
		// The old version is there, and synced.
		mount(t, device, dir, "-o", k.options)
		require.Zero(t, run(t, state, site, dir, versions[n%2]).status)
		do(t, "umount", dir)
		mount(t, device, dir, "-o", k.options)
		end := d.record()
		require.Zero(t, run(t, state, site, dir, versions[(n+1)%2]).status)
		histories = append(histories, end())
		do(t, "umount", dir)
	}
	snapshot, unusable := filepath.Join(inMemory(t), "snapshot"), 0
	for range times(16, 400) {
		n := rnd.IntN(len(histories))
		h := histories[n]
		at := rnd.IntN(len(h.ops) + 1)
		require.NoError(t, h.crash(at, rnd).save(snapshot, d.size))
		tries.Add(1)
		lost, shutDown := recovered(t, k, snapshot, dir, versions[(n+1)%2])
		if shutDown {
			unusable++
			t.Logf("%s: the kernel found the file system damaged after %d of %d operations of run %d, and shut it down", k.name, at, len(h.ops), n)
		} else if lost != "" {
			tries.Fail("%s: the power went after %d of %d operations of run %d: %s", k.name, at, len(h.ops), n, lost)
		}
	}
	require.LessOrEqual(t, unusable, times(2, 20), "file systems that the kernel has shut down say nothing of ccm")
	for n, h := range histories {
		t.Logf("%s: run %d did %d writes and flushes", k.name, n, len(h.ops))
	}
}

// recovered mounts a disk after a crash, and returns what is wrong with it before and after a run to a version; "" if
// nothing is. shutDown says that the kernel found its own data damaged and shut the file system down, as XFS does at
// times when it removes unlinked files after replaying its log.
func recovered(t *testing.T, k filesystem, image, dir, version string) (lost string, shutDown bool) {
	t.Helper()
	out := try(t, "mount", "-o", "loop,"+k.options, image, dir)
	if out.status != 0 {
		return "it cannot be mounted: " + out.stderr, false
	}
	defer do(t, "umount", dir)
	lost = lossAfter(t, dir, version)
	_, err := os.ReadDir(dir)
	return lost, lost != "" && errors.Is(err, syscall.EIO)
}

// lossAfter is recovered for a mounted file system.
func lossAfter(t *testing.T, dir, version string) string {
	t.Helper()
	state := filepath.Join(dir, "state")
	for i := 1; i <= fileCount["B"]; i++ {
		if v, err := versionOf(dir, i); err != nil {
			return err.Error()
		} else if v == "" && i <= fileCount["A"] {
			return fmt.Sprintf("file %d is gone", i)
		}
	}
	if out := try(t, ccm, "history", "--state-dir", state); out.status != 0 {
		return "the history cannot be read: " + out.stderr
	}
	v := run(t, state, "testdata/site.lua", dir, version)
	if v.status != 0 {
		return "the next run failed: " + v.String()
	}
	if strings.Contains(v.stderr, "set aside") {
		return "the state directory was damaged: " + v.stderr
	}
	for i := 1; i <= fileCount[version]; i++ {
		if v, err := versionOf(dir, i); v != version {
			return fmt.Sprintf("file %d is not what the next run made: %v", i, err)
		}
	}
	if !allSeen(dir, version) {
		return "a refresh was lost: " + v.String()
	}
	for _, e := range must(os.ReadDir(dir)) {
		if strings.HasPrefix(e.Name(), ".") {
			return "left behind: " + e.Name()
		}
	}
	if out := try(t, ccm, "history", "--pending", "--state-dir", state); out.status != 0 || strings.TrimSpace(out.stdout) != "" {
		return "still pending: " + out.stdout
	}
	return ""
}

// inMemory returns a directory for temporary data, in memory if possible.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "ccm-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// must returns x.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
