package module

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// A tree is the files of one directory of a module.
type tree struct {
	dir   string
	files []string // their paths below it, with slashes, in no order
	// stats is a digest of what the kernel says of each file: size, times, inode, mode. While
	// it is the same, so is what the files hold: nobody but root can set the time at which an
	// inode was changed.
	stats [sha256.Size]byte
	// changed is when an inode was changed last.
	changed time.Time
}

// HashDir returns the hash of all files of a module: Hash1 of golang.org/x/mod/sumdb/dirhash,
// with paths relative to the directory.
func HashDir(dir string) (string, error) {
	t, err := readTree(dir)
	if err != nil {
		return "", err
	}
	return t.hash()
}

// readTree lists a directory. What is neither a file nor a directory is an error, and so is
// more than a module may have.
func readTree(dir string) (*tree, error) {
	fd, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	t := &tree{dir: dir}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00", dir)
	var bytes int64
	if err := t.read(fd, "", sum, &bytes, 0); err != nil {
		return nil, err
	}
	sum.Sum(t.stats[:0])
	return t, nil
}

func openDir(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// maxTreeDepth is how deep directories of a module may be inside one another.
const maxTreeDepth = 32

// read adds what is in a directory, and closes that.
func (t *tree) read(fd int, below string, sum io.Writer, bytes *int64, depth int) error {
	d := os.NewFile(uintptr(fd), path.Join(t.dir, below))
	defer d.Close()
	entries, err := d.Readdirnames(MaxFiles + 1)
	if err != nil && err != io.EOF {
		return err
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%s: more than %d directories are inside one another", t.dir, maxTreeDepth)
	}
	// The order of a directory is the same as long as nothing in it changes.
	for _, entry := range entries {
		name := path.Join(below, entry)
		var st unix.Stat_t
		if err := unix.Fstatat(fd, entry, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &fs.PathError{Op: "lstat", Path: path.Join(t.dir, name), Err: err}
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			inner, err := openDir(fd, entry)
			if err != nil {
				return &fs.PathError{Op: "open", Path: path.Join(t.dir, name), Err: err}
			}
			if err := t.read(inner, name, sum, bytes, depth+1); err != nil {
				return err
			}
		case unix.S_IFREG:
			t.files = append(t.files, name)
			*bytes += st.Size
			if at := time.Unix(st.Ctim.Unix()); at.After(t.changed) {
				t.changed = at
			}
			fmt.Fprintf(sum, "%s\x00%d %d %d %d %d\n", name, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino, st.Mode)
		default:
			return fmt.Errorf("%s: want files and directories, found something else, such as a link", path.Join(t.dir, name))
		}
		if len(t.files) > MaxFiles || *bytes > MaxBytes {
			return fmt.Errorf("%s holds more than a module may: %d files, %s", t.dir, MaxFiles, bytesize.Format(MaxBytes))
		}
	}
	return nil
}

// hash returns that of all files.
func (t *tree) hash() (string, error) {
	return dirhash.Hash1(t.files, func(name string) (io.ReadCloser, error) {
		return os.OpenFile(path.Join(t.dir, name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	})
}

// HashKey returns a hash as the name of a directory: the SHA-256 in hexadecimal.
func HashKey(hash string) (string, error) {
	text, ok := strings.CutPrefix(hash, "h1:")
	sum, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%q is no hash of files", hash)
	}
	return hex.EncodeToString(sum), nil
}
