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
	"github.com/luaccm/ccm/runtime/diag"
)

const (
	// LargestText limits the size in bytes of scripts, data, templates and facts.
	LargestText = 64 << 20
	// LargestManifest limits the size in bytes of manifests.
	LargestManifest = 256 << 20
)

// pseudoPatience limits how long a read from a file of the kernel may block: /proc/kmsg blocks until there is a
// message.
const pseudoPatience = 2 * time.Second

// ToRead returns a function that makes a file of a descriptor, or passes on the error of opening it. Reads do not
// block: neither for a writer of a named pipe, nor for long in a file of the kernel.
func ToRead(name string) func(fd int, err error) (*os.File, error) {
	return func(fd int, err error) (*os.File, error) {
		f, err := OpenedFile(name)(fd, err)
		if err == nil {
			_ = f.SetReadDeadline(time.Now().Add(pseudoPatience)) // regular files refuse it, and need none
		}
		return f, err
	}
}

// OpenedFile returns a function that makes a file of a descriptor, or passes on the error of opening it.
func OpenedFile(name string) func(fd int, err error) (*os.File, error) {
	return func(fd int, err error) (*os.File, error) {
		if err != nil {
			return nil, PathError("open", name, err)
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// OpenToRead opens a file for reading, and follows links.
func (r *Resolver) OpenToRead(name string) (*os.File, error) {
	return ToRead(name)(r.Follow(name, unix.O_RDONLY|unix.O_NONBLOCK))
}

// OpenRegular opens a regular file, and follows links. Other kinds of files are refused.
func (r *Resolver) OpenRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := r.OpenToRead(path)
	if errors.Is(err, syscall.ENXIO) { // the error of opening a socket
		err = unsuitable(path, "%w", diag.Expected("a file").Found("%s", Special))
	}
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = unsuitable(path, "%w", diag.Expected("a file").Found("%s", KindOf(fi)))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// ReadRegular returns the content of a regular file, and follows links. A file of more than limit bytes is an error,
// and so is a file of the kernel whose reads block.
func (r *Resolver) ReadRegular(path string, limit int64) ([]byte, error) {
	f, fi, err := r.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return ReadOpened(f, fi, path, limit)
}

// ReadText is ReadRegular for a text, which may be large: it is not copied as a whole.
func (r *Resolver) ReadText(path string, limit int64) (string, error) {
	f, fi, err := r.OpenRegular(path)
	if err != nil {
		return "", err
	}
	if IsPseudo(f, fi) {
		text, err := ReadPseudo(f, path, limit) // it closes f
		return string(text), err
	}
	defer f.Close()
	if err := checkSize(fi, path, limit); err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(fi.Size()))
	n, err := io.Copy(&text, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		return "", unsuitable(path, "%w", diag.Expected("a file of at most %s", bytesize.Format(limit)).Found("one of more"))
	}
	return text.String(), err
}

// ReadOpened returns the content of an open regular file, and closes it. See ReadRegular.
func ReadOpened(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if IsPseudo(f, fi) {
		return ReadPseudo(f, path, limit) // it closes f
	}
	defer f.Close()
	return readSized(f, fi, path, limit)
}

// readSized returns the content of a file on a disk.
func readSized(f *os.File, fi os.FileInfo, path string, limit int64) ([]byte, error) {
	if err := checkSize(fi, path, limit); err != nil {
		return nil, err
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
			return nil, unsuitable(path, "%w", diag.Expected("a file of at most %s", bytesize.Format(limit)).Found("one of more"))
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

func checkSize(fi os.FileInfo, path string, limit int64) error {
	if fi.Size() > limit {
		return unsuitable(path, "%w", diag.Expected("a file of at most %s", bytesize.Format(limit)).Found("one of %s", bytesize.Format(fi.Size())))
	}
	return nil
}

// IsPseudo reports whether the kernel generates the content of a file while it is read.
func IsPseudo(f *os.File, fi os.FileInfo) bool {
	if fi.Size() == 0 {
		return true // the size of files in /proc
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || st.Blocks > 0 {
		return false
	}
	var fs unix.Statfs_t
	conn, err := f.SyscallConn() // Fd would set the file to blocking mode
	if err != nil || conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &fs) }) != nil || err != nil {
		return false
	}
	return holdsKernelFiles(&fs)
}

// ReadPseudo returns the content of a file of the kernel, and closes it. Reads of some of these files block in spite
// of the deadline, so another goroutine reads.
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

// waits returns the error for a file whose reads block.
func waits(path string) error {
	return unsuitable(path, "%w", diag.Expected("a file").Found("one that blocks its reader"))
}

// unsuitable returns the error for a file that cannot be read.
func unsuitable(path, format string, args ...any) error {
	return &os.PathError{Op: "read", Path: path, Err: fmt.Errorf(format, args...)}
}

// ReadUpTo reads r to its end. More than limit bytes are an error.
func ReadUpTo(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = diag.Exceeds("", "%s", bytesize.Format(limit))
	}
	return b, err
}

// IsOpened reports whether a path names an open descriptor, such as /dev/fd/3.
func IsOpened(path string) bool {
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/", "/dev/stdin", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}
