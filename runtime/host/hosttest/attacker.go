package hosttest

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// attack swaps entries of the home until the standard input ends.
func attack(home string) {
	names := os.Args[1:]
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	must(os.Chdir(home))
	count, err := sharedCounter(counter)
	must(err)
	x := &attacker{home: home, names: names, random: rand.New(rand.NewPCG(1, uint64(os.Getpid()))), swaps: count}
	x.setUp()
	fmt.Println("begun")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for {
		select {
		case <-ended:
			x.report()
			return
		default:
		}
		x.follow()
		for range 10 {
			x.swap()
		}
		x.setUp()
		x.meddle()
	}
}

type attacker struct {
	home   string
	names  []string
	random *rand.Rand
	swaps  *uint64
	leaked bool
	locks  []int // descriptors
}

// follow enters the present home if it is another directory than before.
func (x *attacker) follow() {
	var here, there unix.Stat_t
	if unix.Stat(".", &here) != nil {
		return
	}
	for _, home := range []string{x.home, filepath.Join(filepath.Dir(x.home), "moved")} {
		if unix.Stat(home, &there) == nil && (there.Ino != here.Ino || there.Dev != here.Dev) && os.Chdir(home) == nil {
			return
		}
		if here.Nlink > 0 {
			return
		}
	}
}

// stores are the directories of the replacements: each has one for every name.
var stores = []string{".own", ".link", ".abs", ".hard", ".fifo", ".dir", ".dirlink"}

// setUp makes the replacements that were used up.
func (x *attacker) setUp() {
	victim := filepath.Join(filepath.Dir(x.home), "victim")
	write("mine", 0o644)
	for _, name := range x.names {
		isDir := isDirectory(name)
		for _, kind := range stores {
			at := kind + name
			if _, err := os.Lstat(at); err == nil {
				continue
			}
			switch kind {
			case ".own":
				if isDir {
					x.ownDir(at)
				} else {
					write(at, 0o640)
				}
			case ".link":
				_ = os.Symlink("../victim/"+name, at)
			case ".abs":
				_ = os.Symlink(filepath.Join(victim, name), at)
			case ".hard":
				if os.Link(filepath.Join(victim, name), at) != nil {
					_ = os.Link("mine", at)
				}
			case ".fifo":
				_ = syscall.Mkfifo(at, 0o666)
			case ".dir":
				x.ownDir(at)
			case ".dirlink":
				_ = os.Symlink("../victim", at)
			}
		}
		if _, err := os.Lstat(name); err != nil {
			if isDir {
				x.ownDir(name)
			} else {
				write(name, 0o640)
			}
		}
	}
}

// ownDir makes a directory that looks like the victim's.
func (x *attacker) ownDir(at string) {
	_ = os.MkdirAll(filepath.Join(at, "dir"), 0o755)
	for _, name := range x.names {
		write(filepath.Join(at, name), 0o644)
		write(filepath.Join(at, "dir", name), 0o644)
	}
}

// write writes a file of the adversary. It does not wait for a reader where root has just copied
// a pipe.
func write(name string, mode fs.FileMode) {
	if f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK, mode); err == nil {
		_, _ = f.WriteString("mine\n")
		f.Close()
	}
}

// swap exchanges a name that root works on with a replacement, some times to and fro.
func (x *attacker) swap() {
	name := x.names[x.random.IntN(len(x.names))]
	other := stores[x.random.IntN(len(stores))] + name
	for range 1 + x.random.IntN(30) {
		if exchange(name, other) != nil {
			_ = renameNew(other, name)
			break
		}
		atomic.AddUint64(x.swaps, 1)
	}
}

// meddle attacks the temporary names of root.
func (x *attacker) meddle() {
	for _, dir := range []string{".", "dir"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if fileHoldsSecret(name) {
				x.leaked = true
			}
			if !strings.Contains(e.Name(), ".ccm-") {
				continue
			}
			if fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0); err == nil {
				_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
				x.lock(fd)
			}
			_ = exchange(name, ".link"+x.names[0])
		}
		for _, name := range x.names {
			for _, suffix := range []string{".ccm-new", ".ccm-old", ".ccm-extract"} {
				_ = os.Mkdir(filepath.Join(dir, "."+name+suffix), 0o755)
			}
		}
	}
}

// lock keeps a locked descriptor open until there are many newer ones.
func (x *attacker) lock(fd int) {
	x.locks = append(x.locks, fd)
	if len(x.locks) > 500 {
		_ = unix.Close(x.locks[0])
		x.locks = x.locks[1:]
	}
}

func (x *attacker) report() {
	if x.leaked || HoldsSecret(".") {
		fmt.Println("leak")
	}
	fmt.Println(atomic.LoadUint64(x.swaps))
}
