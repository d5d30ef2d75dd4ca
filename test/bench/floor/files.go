//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// work is files with their contents.
type work struct {
	paths    []string
	data     []byte
	size     int
	workers  int
	uid, gid uint32
}

func load(a args) *work {
	w := &work{paths: lines(a.at(0)), size: a.number(2), workers: a.number(3), uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	var err error
	w.data, err = os.ReadFile(a.at(1))
	check(err)
	return w
}

func lines(name string) []string {
	text, err := os.ReadFile(name)
	check(err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func (w *work) want(i int) []byte { return w.data[i*w.size : (i+1)*w.size] }

// each calls do for every i below n on some workers, which take batches.
func each(n, workers int, do func(i int, buf *[]byte)) {
	const batch = 32
	if workers <= 1 {
		var buf []byte
		for i := range n {
			do(i, &buf)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var buf []byte
			for {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				for i := from; i < min(from+batch, n); i++ {
					do(i, &buf)
				}
			}
		})
	}
	wg.Wait()
}

// missing returns how many paths are not there.
func missing(paths []string, workers int) int {
	var n atomic.Int64
	each(len(paths), workers, func(i int, _ *[]byte) {
		var st unix.Stat_t
		if unix.Lstat(paths[i], &st) != nil {
			n.Add(1)
		}
	})
	return int(n.Load())
}

// differing returns which files are not as wanted.
func (w *work) differing() []int {
	var mu sync.Mutex
	var list []int
	each(len(w.paths), w.workers, func(i int, buf *[]byte) {
		if !w.same(i, buf) {
			mu.Lock()
			list = append(list, i)
			mu.Unlock()
		}
	})
	return list
}

func (w *work) same(i int, buf *[]byte) bool {
	if *buf == nil {
		*buf = make([]byte, w.size)
	}
	fd, err := unix.Open(w.paths[i], unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Size != int64(w.size) || st.Uid != w.uid || st.Gid != w.gid || st.Mode != unix.S_IFREG|0o644 {
		return false
	}
	for got := 0; got < w.size; {
		n, err := unix.Read(fd, (*buf)[got:])
		if n <= 0 || err != nil {
			return false
		}
		got += n
	}
	return bytes.Equal(*buf, w.want(i))
}

// create brings all files to what is wanted and returns how many were not so.
func (w *work) create(how string) int {
	list := w.differing()
	each(len(list), w.workers, func(k int, _ *[]byte) {
		w.write(list[k], how == "each")
		if how != "batch" {
			w.rename(list[k])
		}
		if how == "each" {
			syncDir(filepath.Dir(w.paths[list[k]]))
		}
	})
	if how != "batch" || len(list) == 0 {
		return len(list)
	}
	fd, err := unix.Open(filepath.Dir(w.paths[list[0]]), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	check(err)
	check(unix.Syncfs(fd))
	check(unix.Close(fd))
	dirs := make(map[string]bool)
	for _, i := range list {
		w.rename(i)
		dirs[filepath.Dir(w.paths[i])] = true
	}
	for dir := range dirs {
		syncDir(dir)
	}
	return len(list)
}

func (w *work) write(i int, sync bool) {
	fd, err := unix.Open(w.paths[i]+".t", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	check(err)
	n, err := unix.Write(fd, w.want(i))
	check(err)
	if n != w.size {
		fail("a file was not written whole")
	}
	check(unix.Fchown(fd, int(w.uid), int(w.gid)))
	check(unix.Fchmod(fd, 0o644))
	if sync {
		check(unix.Fsync(fd))
	}
	check(unix.Close(fd))
}

func (w *work) rename(i int) { check(unix.Rename(w.paths[i]+".t", w.paths[i])) }

func syncDir(dir string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	check(err)
	check(unix.Fsync(fd))
	check(unix.Close(fd))
}
