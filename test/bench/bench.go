//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A bench is one session of measuring.
type bench struct {
	options
	ccm, floor  string // binaries
	before      string // another binary of ccm, or ""
	current     string // the row that is measured
	pairs       []binaryPair
	mem, disk   *place // disk is nil if there is none besides mem
	user, group string
	workers     int // as many as ccm looks with
	installed   []*peer
	lines       []line
	singleCore  []line // of some rows, on one processor
	hot         []figure
	otherLoad   []float64 // cores that other work had, while a row was measured
	scratch     string
}

// sizes are how much work there is in a row.
type sizes struct {
	small, middle, large int // files
	literal              int
	created              int
	packages, services   int
	execs                int
	big                  int64 // bytes
	edges                int   // resources, with three edges each
}

var (
	fullSizes  = sizes{1000, 10_000, 100_000, 10_000, 1000, 200, 200, 1000, 256 << 20, 10_000}
	quickSizes = sizes{100, 500, 2000, 500, 50, 20, 20, 50, 4 << 20, 500}
)

// newBench builds what is measured, as users get it, and makes the directories that
// are worked in: one in memory, if there is such a place, and one on a disk.
func newBench(o options) (b *bench, err error) {
	b = &bench{options: o, workers: min(max(2, runtime.GOMAXPROCS(0)), 8)}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	u, err := user.Current()
	if err != nil {
		return b, err
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return b, err
	}
	b.user, b.group = u.Username, g.Name
	if b.scratch, err = os.MkdirTemp("", "ccm-bench-"); err != nil {
		return b, err
	}
	if b.ccm = o.ccm; b.ccm == "" {
		b.ccm, err = "bin/ccm", command("make", "-s", "build")
	}
	if b.floor = o.floor; b.floor == "" {
		b.floor = filepath.Join(b.scratch, "floor.built")
		err = errors.Join(err, command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.floor, "./test/bench/floor"))
	}
	if err != nil {
		return b, err
	}
	if o.peers && !o.lines {
		b.installed = findPeers(o)
	}
	install := map[*string]string{&b.ccm: "ccm", &b.floor: "floor"}
	if b.before = o.before; b.before != "" {
		install[&b.before] = "ccm-before"
	}
	for i, p := range b.installed {
		if p.single {
			install[&p.binary] = fmt.Sprint("peer", i)
		}
	}
	for binary, name := range install {
		// A copy, as installing makes one: the pages of a file that the linker has written
		// are many small ones until it is read from disk again, which costs each start of a
		// large binary a millisecond or two.
		text, err := os.ReadFile(*binary)
		if err != nil {
			return b, err
		}
		*binary = filepath.Join(b.scratch, name)
		if err := os.WriteFile(*binary, text, 0o755); err != nil {
			return b, err
		}
	}
	memory := "/dev/shm"
	if unix.Access(memory, unix.W_OK) != nil {
		memory = os.TempDir()
	}
	if b.mem, err = newPlace(or(o.dir, memory)); err != nil {
		return b, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	if err := os.MkdirAll(or(o.disk, cache), 0o700); err != nil {
		return b, err
	}
	if b.disk, err = newPlace(or(o.disk, cache)); err == nil && b.disk.kind == "tmpfs" {
		err, b.disk = os.RemoveAll(b.disk.dir), nil
	}
	return b, err
}

// command runs a command and shows what it says only if it fails.
func command(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, out)
	}
	return nil
}

func (b *bench) close() {
	for _, p := range []*place{b.mem, b.disk} {
		switch {
		case p == nil:
		case b.keep:
			fmt.Fprintln(os.Stderr, "left", p.dir)
		default:
			_ = os.RemoveAll(p.dir)
		}
	}
	if !b.keep && b.scratch != "" {
		_ = os.RemoveAll(b.scratch)
	}
}

// write writes a file to the scratch directory in memory and returns its name.
func (b *bench) write(name, text string) (string, error) {
	path := filepath.Join(b.mem.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// A place is a directory that is worked in.
type place struct {
	dir   string
	kind  string // of file system
	moved int
}

// fileSystems are the names of file systems by their magic numbers (statfs(2)).
var fileSystems = map[int64]string{
	unix.TMPFS_MAGIC: "tmpfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.XFS_SUPER_MAGIC: "xfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.F2FS_SUPER_MAGIC: "f2fs",
}

// newPlace makes a directory below parent.
func newPlace(parent string) (*place, error) {
	dir, err := os.MkdirTemp(parent, "ccm-bench-")
	if err == nil {
		// Paths are compared and are part of what is written, so that they stand for
		// themselves.
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	var st unix.Statfs_t
	if err := errors.Join(os.Chmod(dir, 0o755), unix.Statfs(dir, &st)); err != nil {
		return nil, err
	}
	return &place{dir: dir, kind: or(fileSystems[int64(st.Type)], fmt.Sprintf("file system %#x", st.Type))}, nil
}

func (p *place) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// reset makes an empty directory of one that a row starts with. The old one is moved
// away, not deleted: ext4 without a journal steps over inodes that were deleted a
// moment ago, one by one, and creating files would be slower than it is.
func (p *place) reset(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		p.moved++
		if err := os.Rename(dir, p.path(fmt.Sprint("old-", p.moved))); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

// sync has everything written that was changed in p, so that the next program
// does not pay for the one before it.
func (p *place) sync() error {
	fd, err := unix.Open(p.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

// A meter tells how much of the machine others use.
type meter struct {
	at   time.Time
	busy float64 // processor seconds of all work but that of this process and its children
}

func startMeter() meter { return meter{time.Now(), busyElsewhere()} }

// others returns how many cores were busy with other work since the start.
func (m meter) others() float64 {
	elapsed := time.Since(m.at).Seconds()
	if elapsed < 0.05 {
		return 0
	}
	return max(0, busyElsewhere()-m.busy) / elapsed
}

// waitForQuiet waits until others use less than a fifth of a core, or until the
// patience is over.
func waitForQuiet(patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m := startMeter()
		time.Sleep(150 * time.Millisecond)
		if m.others() < 0.2 {
			return
		}
	}
}

// busyElsewhere returns the processor seconds that all other work has used.
func busyElsewhere() (sum float64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	// user nice system idle iowait irq softirq steal, in hundredths of a second
	for i, field := range strings.Fields(first)[1:] {
		if n, err := strconv.ParseFloat(field, 64); err == nil && i < 8 && i != 3 && i != 4 {
			sum += n / 100
		}
	}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum -= float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return sum
}
