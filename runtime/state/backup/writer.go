package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A Writer stores the contents of one run.
type Writer struct {
	s *Store
	// total is the space that all contents take on disk in bytes, if known is set. It is measured if
	// the size file may be wrong.
	total    int64
	known    bool
	measured bool
	// small is the number of files with small contents.
	small int
	// batched is set if some stored content is not durable yet.
	batched bool
	// made has the directories that are there.
	made map[string]bool
	// run is the present run. makeRoom removes none of its contents.
	run string
	// buffer is the buffer of copy.
	buffer []byte
	// used has the contents of the run, whether its record names them yet or not.
	used map[digest]bool
	// needed has contents that makeRoom must not remove.
	needed map[string]bool
	// oldest has the contents to remove next if there is no room, once listed is set.
	oldest []string
	listed bool
}

// Writer returns the writer of a run. The lock of the state directory must be held.
func (s *Store) Writer(run string) *Writer {
	return &Writer{s: s, run: run, used: make(map[digest]bool), made: make(map[string]bool)}
}

// Keep makes sure that no content of the list is removed to make room during the run. IDs that are "" do
// not count.
func (w *Writer) Keep(ids []string) {
	w.needed = make(map[string]bool)
	for _, id := range ids {
		w.needed[id] = true
	}
}

// A LimitError reports why a content is not stored.
type LimitError struct{ reason string }

// Error returns the reason.
func (e *LimitError) Error() string { return e.reason }

// errNoRoom says that a content would exceed Store.Bytes.
var errNoRoom = &LimitError{"backups of this run already use the maximum backup size"}

// Put stores the content of the file at a path of the machine and returns its ID. With batch, the
// content is durable only after the next Sync. Otherwise it is durable before it has its name.
//
// With encrypt, the content is encrypted. A content with a known secret is always encrypted; the
// second result reports. For a content that is too large the error is a [LimitError].
func (w *Writer) Put(v *host.View, path string, batch, encrypt bool) (id string, encrypted bool, err error) {
	f, err := v.Open(path)
	if err != nil {
		return "", encrypt, err
	}
	defer f.Close()
	sum := sha256.New()
	var to io.Writer = sum
	scan := w.s.Secrets.Scanner()
	if !encrypt && scan != nil {
		to = io.MultiWriter(sum, scan)
	}
	n, err := w.copy(to, io.LimitReader(f, w.s.Object+1))
	if err != nil {
		return "", encrypt, err
	}
	encrypt = encrypt || scan.Found()
	if n > w.s.Object {
		return "", encrypt, &LimitError{"larger than " + bytesize.Format(w.s.Object)}
	}
	id = hex.EncodeToString(sum.Sum(nil))
	suffix := clearSuffix
	if encrypt {
		if err := w.s.NeedKey(); err != nil {
			return "", encrypt, err
		}
		if err := w.s.needIdentity(); err != nil {
			return "", encrypt, err
		}
		id, suffix = w.s.secretID(id), encryptedSuffix
	}
	if !w.used[digestOf(id)] && !w.holds(id) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", encrypt, err
		}
		if err := w.write(id, suffix, f, batch); err != nil {
			return "", encrypt, err
		}
	}
	w.used[digestOf(id)] = true
	return id, encrypt, nil
}

// copy is io.Copy with a buffer that is reused.
func (w *Writer) copy(to io.Writer, r io.Reader) (int64, error) {
	if w.buffer == nil {
		w.buffer = make([]byte, 32<<10)
	}
	return io.CopyBuffer(to, struct{ io.Reader }{r}, w.buffer)
}

// holds reports whether a content has a file of its own already that is intact. It does not read packs:
// each run that changes a file would have to read the index of all of them.
func (w *Writer) holds(id string) bool {
	src, err := w.s.openFile(id)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	var r io.ReadCloser
	if err == nil {
		r, err = w.s.decode(id, src)
	}
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r)
	if errors.Join(err, r.Close()) == nil {
		return true
	}
	w.s.Dir.SetAside(w.s.file(id), "a backup is damaged", w.s.Now())
	return false
}

// write stores the content that r reads under its ID.
func (w *Writer) write(id, suffix string, r io.Reader, batch bool) error {
	if dir := filepath.Join(contentsDir, id[:2]); !w.made[dir] {
		if err := errors.Join(w.s.Dir.MakeDir(contentsDir), w.s.Dir.MakeDir(dir)); err != nil {
			return err
		}
		w.made[dir] = true
	}
	if err := w.begin(); err != nil {
		return err
	}
	batch = batch && safepath.SyncsFileSystems
	sum := sha256.New()
	var size int64
	err := w.s.Dir.Replace(contentFile(id, suffix), !batch, func(file io.Writer) error {
		counted := &counter{w: file}
		err := w.encode(counted, suffix == encryptedSuffix, func(z io.Writer) error {
			_, err := w.copy(io.MultiWriter(z, sum), r)
			return err
		})
		size = sizeOnDisk(counted.n)
		if got := hex.EncodeToString(sum.Sum(nil)); err == nil && !w.s.IsNamed(id, got) {
			return diag.Meanwhile("", "changed")
		}
		if err == nil {
			err = w.makeRoom(size)
		}
		return err
	})
	if err != nil {
		return err
	}
	w.add(size, 1)
	w.batched = w.batched || batch
	return nil
}

// encode compresses the written content and, with encrypt, encrypts the result.
func (w *Writer) encode(to io.Writer, encrypt bool, write func(io.Writer) error) error {
	if !encrypt {
		return statedir.Compress(to, write)
	}
	enc, err := w.s.encrypt(to)
	if err != nil {
		return err
	}
	if err := statedir.Compress(enc, write); err != nil {
		return err
	}
	return enc.Close()
}

// Sync makes the contents stored in a batch durable.
func (w *Writer) Sync() error {
	if !w.batched {
		return nil
	}
	w.batched = false
	path := w.s.Dir.Path(contentsDir)
	return w.s.Dir.Do("sync", path, func() error {
		d, err := w.s.Dir.OpenDir(contentsDir)
		if err != nil {
			return err
		}
		return errors.Join(safepath.SyncFileSystem(int(d.Fd())), d.Close())
	})
}

type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// sizeFile has the space that all contents take, and the number of small files. It is missing while a run
// changes them. What earlier versions wrote has another format, and does not count.
const (
	sizeFile   = contentsDir + "/size"
	sizeFormat = "%d bytes on disk, small files: %d\n"
)

// begin reads or measures the total, and removes sizeFile until End.
func (w *Writer) begin() error {
	if w.known {
		return nil
	}
	text, err := w.s.Dir.ReadFile(sizeFile)
	if err == nil {
		_, err = fmt.Sscanf(string(text), sizeFormat, &w.total, &w.small)
	}
	if err != nil || w.total < 0 || w.small < 0 {
		if err := w.measure(); err != nil {
			return err
		}
	}
	w.known = true
	err = w.s.Dir.Remove(sizeFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// End packs small contents and writes the total to sizeFile, if begin was called.
func (w *Writer) End() error {
	if !w.known {
		return nil
	}
	if err := w.pack(); err != nil {
		w.s.Dir.Warn(diag.Cannot("pack", "backups", err).Error())
	}
	w.known, w.measured = false, false
	return w.s.Dir.Replace(sizeFile, false, func(file io.Writer) error {
		_, err := fmt.Fprintf(file, sizeFormat, w.total, w.small)
		return err
	})
}

// measure adds up what all contents take on disk. Temporary files do not count.
func (w *Writer) measure() error {
	w.total, w.small, w.measured = 0, 0, true
	list, _, err := w.s.readPacks()
	for _, p := range list {
		w.total += sizeOnDisk(p.size)
	}
	return errors.Join(err, w.s.each(func(id, _ string, size int64) error {
		if id != "" {
			w.add(sizeOnDisk(size), 1)
		}
		return nil
	}))
}

// add counts a number of files of that size on disk; those that were removed have a negative number.
func (w *Writer) add(size int64, files int) {
	w.total += size * int64(files)
	if size <= block {
		w.small += files
	}
}
