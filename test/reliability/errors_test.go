//go:build integration

package reliability

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// A disk gives errors from some operation on: once, for a while or for ever, with parts of failed writes on the disk
// nevertheless.
func TestDiskErrors(t *testing.T) {
	tries := tally.Of(t, "a disk gives EIO from any write, flush or read on, once or for ever, and keeps a part of what it failed to write; the state directory on it or elsewhere",
		"an error and exit status 4 (1 if the run cannot be recorded), what is said to be changed is on the disk, old or new content, the next run converges")
	k := filesystems[0]
	needs(t, "losetup", "e2fsck", k.mkfs[0])
	d, device := serve(t, k.image(t))
	dir, site := t.TempDir(), "testdata/site.lua"
	rnd := rand.New(rand.NewPCG(2, 3))
	failed := 0
	for n := range times(16, 300) {
		state := filepath.Join(dir, "state")
		if n%4 == 3 {
			state = t.TempDir()
		}
		old, version := "AB"[n%2:n%2+1], "BA"[n%2:n%2+1]
		mount(t, device, dir)
		require.Zero(t, run(t, state, site, dir, old).status)
		do(t, "umount", dir)
		mount(t, device, dir, "-o", k.options+",errors="+[]string{"continue", "remount-ro"}[n/2%2])

		x := &failure{rnd: rnd, after: rnd.IntN(90), kinds: [][]string{{"write", "flush"}, {"write", "flush"}, {"read"}, {"flush"}}[n%4], times: []int{1, 3, 1 << 30}[n%3]}
		if x.kinds[0] == "read" {
			x.after /= 8
		}
		d.failing(x.decide)
		v := run(t, state, site, dir, version)
		d.failing(nil)
		_ = try(t, "umount", dir)
		tries.Add(1)
		if x.done > 0 {
			failed++
		}
		if wrong := afterErrors(t, v, x, device, dir, state, version); wrong != "" {
			tries.Fail("try %d, %v %s after %d, %d times: %s", n, x.kinds, "failed", x.after, x.done, wrong)
		}
	}
	t.Logf("the disk gave errors in %d runs", failed)
	require.Positive(t, failed)
}

// A failure is the failure of all operations of some kinds after a number of them.
type failure struct {
	rnd          *rand.Rand
	kinds        []string
	after, times int
	done         int // number of failed operations
}

func (x *failure) decide(kind string, length int) (syscall.Errno, int) {
	if !strings.Contains(strings.Join(x.kinds, " "), kind) {
		return 0, 0
	}
	if x.after > 0 {
		x.after--
		return 0, 0
	}
	if x.done >= x.times {
		return 0, 0
	}
	x.done++
	return syscall.EIO, x.rnd.IntN(length/pageSize+1) * pageSize
}

// afterErrors returns what is wrong after a run on a disk that had errors and works again, "" if nothing is.
func afterErrors(t *testing.T, v verdict, x *failure, device, dir, state, version string) string {
	t.Helper()
	said := strings.ToLower(v.String()) // commands of the site report it in their own words
	switch {
	case v.status != 0 && v.status != 4 && v.status != 1:
		return "unexpected: " + v.String()
	case v.status != 0 && x.done == 0:
		return "nothing failed: " + v.String()
	case v.status == 1 && strings.Contains(v.stdout, `"changed":true`):
		return "something was changed by a run that could not start: " + v.String()
	case v.status != 0 && !strings.Contains(said, "input/output error") && !strings.Contains(said, "read-only file system"):
		return "the error does not say what failed: " + v.String()
	case v.status == 0 && v.summary.Failed > 0, v.status == 4 && v.summary.Failed == 0:
		return "the exit status is not what the summary says: " + v.String()
	}
	if out := try(t, "e2fsck", "-p", device); out.status > 1 {
		do(t, "sh", "-c", "e2fsck -fy "+device+" || [ $? -le 2 ]")
	}
	do(t, "mount", device, dir)
	defer do(t, "umount", dir)
	for i := 1; i <= fileCount["B"]; i++ {
		have, err := versionOf(dir, i)
		if err != nil || have == "" && i <= fileCount["A"] {
			return fmt.Sprintf("file %d is gone or damaged: %v\n%s", i, err, v)
		}
		if e, ok := v.events["file#"+filepath.Join(dir, strconv.Itoa(i))]; ok && (e.Outcome == "changed" || e.Outcome == "stable") && have != version {
			return fmt.Sprintf("file %d is said to be %s, and is of version %q\n%s", i, e.Outcome, have, v)
		}
	}
	next := run(t, state, "testdata/site.lua", dir, version)
	switch {
	case next.status != 0:
		return "the next run failed: " + next.String()
	case !allSeen(dir, version):
		return "a refresh was lost\n" + v.String() + next.String()
	}
	for i := 1; i <= fileCount[version]; i++ {
		if have, err := versionOf(dir, i); have != version {
			return fmt.Sprintf("the next run did not make file %d: %v", i, err)
		}
	}
	for _, e := range must(filepath.Glob(filepath.Join(dir, ".*ccm*"))) {
		return "left behind: " + e
	}
	return ""
}
