package module

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A tree is a list of all files in the directory of a module.
type tree struct {
	dir   string
	files []file // in no particular order
	// stats is a digest of the files' metadata (stat). As long as it is the same, the contents are too: only root can
	// set the change time of an inode.
	stats [sha256.Size]byte
	// changeTime is the latest change time of the files' inodes.
	changeTime time.Time
	// open is the path of a file or directory that everybody may write, "" if there is none.
	open string

	buffer [4 << 10]byte
}

// A file is a file of a module with its metadata at the time of the check.
type file struct {
	name                      string // path below the directory, with slashes
	size, mtime, ctime, inode int64
	mode                      uint32
}

func fileOf(name string, st *unix.Stat_t) file {
	return file{name, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), int64(st.Ino), uint32(st.Mode)}
}

// append appends the metadata as text, for the digest.
func (f *file) append(to []byte) []byte {
	to = append(append(to, f.name...), 0)
	for _, n := range []int64{f.size, f.mtime, f.ctime, f.inode, int64(f.mode)} {
		to = append(strconv.AppendInt(to, n, 10), ' ')
	}
	return to
}

// HashDir returns the hash of all files in a directory: Hash1 of golang.org/x/mod/sumdb/dirhash, with paths relative
// to the directory.
func HashDir(dir string) (string, error) {
	t, err := readTree(dir)
	if err != nil {
		return "", err
	}
	return t.hash()
}

// readTree lists a directory. It fails for anything but files and directories, and beyond the limits on a module.
func readTree(dir string) (*tree, error) {
	fd, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	t := &tree{dir: dir}
	if err := errors.Join(t.read(fd, "", 0), unix.Close(fd)); err != nil {
		return nil, err
	}
	var bytes, changed int64
	text := append([]byte(dir), 0)
	for i := range t.files {
		f := &t.files[i]
		bytes, changed, text = bytes+f.size, max(changed, f.ctime), f.append(text)
	}
	if bytes > MaxBytes {
		return nil, t.tooLarge()
	}
	t.stats, t.changeTime = sha256.Sum256(text), time.Unix(0, changed)
	return t, nil
}

func openDir(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// maxTreeDepth limits how deep the directories of a module may nest.
const maxTreeDepth = 32

func (t *tree) tooLarge() error {
	return diag.Exceeds(t.dir, "%d files and %s for a module", MaxFiles, bytesize.Format(MaxBytes))
}

// read adds all files below an open directory; below is its path in the tree. It uses system calls, because each run
// lists each module and os.File needs twice as many.
func (t *tree) read(fd int, below string, depth int) error {
	if depth > maxTreeDepth {
		return fmt.Errorf("%s: %w", t.dir, diag.Exceeds("nesting of directories", "%d levels", maxTreeDepth))
	}
	entries, err := t.names(fd)
	if err != nil {
		return &fs.PathError{Op: "read", Path: path.Join(t.dir, below), Err: err}
	}
	// Entries are not sorted: their order stays the same while the directory does not change.
	for _, entry := range entries {
		name := path.Join(below, entry)
		var st unix.Stat_t
		if err := unix.Fstatat(fd, entry, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &fs.PathError{Op: "lstat", Path: path.Join(t.dir, name), Err: err}
		}
		if st.Mode&0o002 != 0 {
			t.open = path.Join(t.dir, name)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			inner, err := openDir(fd, entry)
			if err != nil {
				return &fs.PathError{Op: "open", Path: path.Join(t.dir, name), Err: err}
			}
			if err := errors.Join(t.read(inner, name, depth+1), unix.Close(inner)); err != nil {
				return err
			}
		case unix.S_IFREG:
			if len(t.files) == MaxFiles {
				return t.tooLarge()
			}
			t.files = append(t.files, fileOf(name, &st))
		default:
			return fmt.Errorf("%s: %w", path.Join(t.dir, name), diag.Expected("files and directories").Found("something else, such as a link"))
		}
	}
	return nil
}

// names returns the names in an open directory.
func (t *tree) names(fd int) (names []string, err error) {
	for {
		var n int
		err := safepath.IgnoringEINTR(func() (err error) {
			n, err = unix.ReadDirent(fd, t.buffer[:])
			return err
		})
		if err != nil || n == 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(t.buffer[:n], -1, names)
		if len(names) > MaxFiles {
			return nil, t.tooLarge()
		}
	}
}

// read returns the content of a file below dir. It fails if the metadata differ from those at the check.
func (f *file) read(dir string) ([]byte, error) {
	at := path.Join(dir, f.name)
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "fstat", Path: at, Err: err}
	}
	if fileOf(f.name, &st) != *f {
		return nil, diag.Meanwhile(at, "changed")
	}
	text := make([]byte, f.size)
	for rest := text; len(rest) > 0; {
		var n int
		err := safepath.IgnoringEINTR(func() (err error) {
			n, err = unix.Read(fd, rest)
			return err
		})
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: at, Err: err}
		}
		rest = rest[n:]
	}
	return text, nil
}

// hash returns the hash of all files.
func (t *tree) hash() (string, error) {
	names := make([]string, len(t.files))
	for i := range t.files {
		names[i] = t.files[i].name
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		return os.OpenFile(path.Join(t.dir, name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	})
}

// HashKey returns a hash ("h1:" and base64) in hexadecimal, for the name of a directory.
func HashKey(hash string) (string, error) {
	text, ok := strings.CutPrefix(hash, "h1:")
	sum, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(sum) != sha256.Size {
		return "", diag.Not(strconv.Quote(hash), "a hash of files")
	}
	return hex.EncodeToString(sum), nil
}
