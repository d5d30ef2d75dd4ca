package safepath

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// LargestText is how many bytes a file may hold that says what ccm is to do: a
// script, a manifest, data, a template, facts.
const LargestText = 64 << 20

// pseudoPatience is how long a file of the kernel, such as those of /proc, may keep
// its reader waiting: /proc/kmsg does until there is a message.
const pseudoPatience = 2 * time.Second

// ToRead returns a file that was opened for reading. It waits for nothing: neither for
// somebody who writes to a pipe, nor longer than a moment for a file of the kernel that
// has nothing to say.
func ToRead(name string) func(fd int, err error) (*os.File, error) {
	return func(fd int, err error) (*os.File, error) {
		f, err := OpenedFile(name)(fd, err)
		if err == nil {
			_ = f.SetReadDeadline(time.Now().Add(pseudoPatience)) // of others it is refused
		}
		return f, err
	}
}

// OpenedFile returns a file that was opened, or the error of that.
func OpenedFile(name string) func(fd int, err error) (*os.File, error) {
	return func(fd int, err error) (*os.File, error) {
		if err != nil {
			return nil, PathError("open", name, err)
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// OpenToRead opens a file for reading, links followed.
func (r *Resolver) OpenToRead(name string) (*os.File, error) {
	return ToRead(name)(r.Follow(name, unix.O_RDONLY|unix.O_NONBLOCK))
}

// OpenRegular opens a regular file, links followed. What is none is refused.
func (r *Resolver) OpenRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := r.OpenToRead(path)
	if errors.Is(err, syscall.ENXIO) { // which is what opening a socket gives
		err = unsuitable(path, "want a file, found %s", Special)
	}
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = unsuitable(path, "want a file, found %s", KindOf(fi))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// ReadRegular returns what a regular file holds, links followed. More than limit
// bytes are an error, and so is a file of the kernel that keeps its reader waiting.
func (r *Resolver) ReadRegular(path string, limit int64) ([]byte, error) {
	f, fi, err := r.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return ReadOpened(f, fi, path, limit)
}

// ReadOpened is readRegular for a file that is open, and closes it.
func ReadOpened(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if IsPseudo(f, fi) {
		return ReadPseudo(f, path, limit) // which closes it
	}
	defer f.Close()
	return readSized(f, fi, path, limit)
}

// readSized returns what a file holds that is on a disk.
func readSized(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if fi.Size() > limit {
		return nil, unsuitable(path, "want a file of at most %s, found one of %s", bytesize.Format(limit), bytesize.Format(fi.Size()))
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
			return nil, unsuitable(path, "want a file of at most %s, found one of more", bytesize.Format(limit))
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// IsPseudo reports whether the kernel makes up what a file holds while it is read.
func IsPseudo(f *os.File, fi os.FileInfo) bool {
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
	return holdsKernelFiles(&fs)
}

// ReadPseudo returns what a file of the kernel holds, and closes it. Some keep
// their reader waiting whatever they are asked, so that somebody else reads.
func ReadPseudo(f *os.File, path string, limit int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer f.Close()
		text, err := ReadUpTo(f, limit)
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

// ReadUpTo reads r to its end, which must come within limit bytes.
func ReadUpTo(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %s", bytesize.Format(limit))
	}
	return b, err
}

// IsOpened reports whether a path names what a process has opened already.
func IsOpened(path string) bool {
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/", "/dev/stdin", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}
