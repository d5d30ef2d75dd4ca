package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// LargestText is how many bytes a file may hold that says what ccm is to do: a
// script, a manifest, data, a template, facts.
const LargestText = 64 << 20

// pseudoPatience is how long a file of the kernel, such as those of /proc, may keep
// its reader waiting: /proc/kmsg does until there is a message.
const pseudoPatience = 2 * time.Second

// toRead returns a file that was opened for reading. It waits for nothing: neither for
// somebody who writes to a pipe, nor longer than a moment for a file of the kernel that
// has nothing to say.
func toRead(name string) func(fd int, err error) (*os.File, error) {
	return func(fd int, err error) (*os.File, error) {
		f, err := openedFile(name)(fd, err)
		if err == nil {
			_ = f.SetReadDeadline(time.Now().Add(pseudoPatience)) // of others it is refused
		}
		return f, err
	}
}

// openToRead opens a file for reading, links followed.
func openToRead(w *walker, name string) (*os.File, error) {
	return toRead(name)(w.follow(name, unix.O_RDONLY|unix.O_NONBLOCK))
}

// openRegular opens a regular file, links followed. What is none is refused.
func openRegular(w *walker, path string) (*os.File, os.FileInfo, error) {
	f, err := openToRead(w, path)
	if errors.Is(err, syscall.ENXIO) { // which is what opening a socket gives
		err = unsuitable(path, "want a file, found %s", Special)
	}
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = unsuitable(path, "want a file, found %s", kindOf(fi))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// readRegular returns what a regular file holds, links followed. More than limit
// bytes are an error, and so is a file of the kernel that keeps its reader waiting.
func readRegular(w *walker, path string, limit int64) ([]byte, error) {
	f, fi, err := openRegular(w, path)
	if err != nil {
		return nil, err
	}
	return readOpened(f, fi, path, limit)
}

// readOpened is readRegular for a file that is open, and closes it.
func readOpened(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if isPseudo(f, fi) {
		return readPseudo(f, path, limit) // which closes it
	}
	defer f.Close()
	return readSized(f, fi, path, limit)
}

// readSized returns what a file holds that is on a disk.
func readSized(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if fi.Size() > limit {
		return nil, unsuitable(path, "want a file of at most %s, found one of %s", FormatBytes(limit), FormatBytes(fi.Size()))
	}
	text := make([]byte, 0, fi.Size()+1)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		if text = text[:len(text)+n]; err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
		if int64(len(text)) > limit {
			return nil, unsuitable(path, "want a file of at most %s, found one of more", FormatBytes(limit))
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// isPseudo reports whether the kernel makes up what a file holds while it is read.
func isPseudo(f *os.File, fi os.FileInfo) bool {
	if fi.Size() == 0 {
		return true // of those in /proc it says so
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || st.Blocks > 0 {
		return false
	}
	var fs unix.Statfs_t
	conn, err := f.SyscallConn() // Fd would make reading wait
	if err != nil || conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &fs) }) != nil || err != nil {
		return false
	}
	switch fs.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}

// readPseudo returns what a file of the kernel holds, and closes it. Some keep
// their reader waiting whatever they are asked, so that somebody else reads.
func readPseudo(f *os.File, path string, limit int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer f.Close()
		text, err := readUpTo(f, limit)
		done <- result{text, err}
	}()
	late := time.NewTimer(2 * pseudoPatience)
	defer late.Stop()
	select {
	case r := <-done:
		if errors.Is(r.err, os.ErrDeadlineExceeded) {
			return nil, waits(path)
		}
		return r.text, r.err
	case <-late.C:
		return nil, waits(path)
	}
}

// waits is the error of a file that keeps its reader waiting.
func waits(path string) error {
	return unsuitable(path, "want a file, found one that keeps its reader waiting")
}

// unsuitable is the error of what cannot be read as a file.
func unsuitable(path, format string, args ...any) error {
	return &os.PathError{Op: "read", Path: path, Err: fmt.Errorf(format, args...)}
}

// openOpened opens a pipe or a terminal that whoever started ccm has opened: standard
// input, or what the shell makes of <(...). It returns nil if the path names none.
func openOpened(path string) *os.File {
	if !isOpened(path) {
		return nil
	}
	f, err := openToRead(believed, path)
	if err != nil {
		return nil // which reading it as a file says
	}
	if fi, err := f.Stat(); err != nil || fi.Mode().IsRegular() || fi.IsDir() {
		f.Close()
		return nil
	}
	_ = f.SetReadDeadline(time.Time{})
	return f
}

// ReadStream returns what a stream holds, which must be no more than LargestText. It
// returns as soon as the context ends, whether the stream has ended or not.
func ReadStream(ctx context.Context, r io.Reader, name string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readUpTo(r, LargestText)
		done <- result{text, err}
	}()
	select {
	case x := <-done:
		if x.err != nil {
			return nil, fmt.Errorf("%s: %w", name, x.err)
		}
		return x.text, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", name, context.Cause(ctx))
	}
}

// isOpened reports whether a path names what a process has opened already.
func isOpened(path string) bool {
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/", "/dev/stdin", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}
