package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/host"
)

const objectsDir = "objects"

// objects is the content store: files named after the SHA-256 of what they hold,
// compressed. What holds secrets is sealed, and has its name of a keyed digest
// of that. Equal contents are stored once.
type objects struct {
	s *Store
	// total is how many bytes all of it takes, once it is known. It is measured
	// if that is not just what the file says.
	total    int64
	known    bool
	measured bool
	// batched is set if something was stored that is not durable yet.
	batched bool
	// run is the run that stores, of which nothing is removed to make room.
	run string
	// buffer is for copying.
	buffer []byte
	// used is the objects of the run, whether its record names them yet or not. They stay.
	used map[string]bool
}

// errNoRoom says that a content does not fit into Limits.Bytes.
var errNoRoom = errors.New("the backups of this run take all the room there is for backups")

// A tooLargeError says that a content is larger than Limits.Object.
type tooLargeError struct{ limit int64 }

// Error names the limit.
func (e *tooLargeError) Error() string {
	return "it is larger than " + bytesize.Format(e.limit)
}

// The suffixes of contents.
const (
	clearSuffix  = ".gz"
	sealedSuffix = ".sealed"
)

func objectFile(id, suffix string) string { return filepath.Join(objectsDir, id[:2], id+suffix) }

// objectName returns the file of a content.
func (s *Store) objectName(id string) string {
	if sealed := objectFile(id, sealedSuffix); s.dir.Has(sealed) {
		return sealed
	}
	return objectFile(id, clearSuffix)
}

// sealedID returns the name of a content that is sealed, given its SHA-256.
func (s *Store) sealedID(sum string) string { return s.secrets.Digest("content", sum) }

// named reports whether id is the name of the content with that SHA-256.
func (s *Store) named(id, sum string) bool { return id == sum || id == s.sealedID(sum) }

// isObjectID reports whether id is the SHA-256 of something in hexadecimal.
func isObjectID(id string) bool {
	return len(id) == 2*sha256.Size && strings.Trim(id, "0123456789abcdef") == ""
}

// put stores the content of the file at a path of the machine and returns its
// name. If batch is set, it is durable only after the next sync. It is durable
// before it has its name otherwise.
//
// With seal set it is sealed. It is sealed anyway if there is a secret in it, which the
// second result says.
func (o *objects) put(v *host.View, path string, batch, seal bool) (id string, sealed bool, err error) {
	f, err := v.Open(path)
	if err != nil {
		return "", seal, err
	}
	defer f.Close()
	sum := sha256.New()
	var to io.Writer = sum
	scan := o.s.secrets.Scanner()
	if !seal && scan != nil {
		to = io.MultiWriter(sum, scan)
	}
	n, err := o.copy(to, io.LimitReader(f, o.s.limits.Object+1))
	if err != nil {
		return "", seal, err
	}
	seal = seal || scan.Found()
	if n > o.s.limits.Object {
		return "", seal, &tooLargeError{o.s.limits.Object}
	}
	id = hex.EncodeToString(sum.Sum(nil))
	suffix := clearSuffix
	if seal {
		if err := o.s.needKey(); err != nil {
			return "", seal, err
		}
		id, suffix = o.s.sealedID(id), sealedSuffix
	}
	if !o.used[id] && !o.holds(id) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", seal, err
		}
		if err := o.write(id, suffix, f, batch); err != nil {
			return "", seal, err
		}
	}
	if o.used == nil {
		o.used = make(map[string]bool)
	}
	o.used[id] = true
	return id, seal, nil
}

// copy is io.Copy, which makes a buffer each time.
func (o *objects) copy(w io.Writer, r io.Reader) (int64, error) {
	if o.buffer == nil {
		o.buffer = make([]byte, 32<<10)
	}
	return io.CopyBuffer(w, struct{ io.Reader }{r}, o.buffer)
}

// holds reports whether a content is stored already, and is what it should be.
func (o *objects) holds(id string) bool {
	r, err := o.s.openObject(id)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r)
	if errors.Join(err, r.Close()) == nil {
		return true
	}
	o.s.dir.SetAside(o.s.objectName(id), "a backup is damaged", o.s.clock.Now())
	return false
}

// write stores what r holds under its name.
func (o *objects) write(id, suffix string, r io.Reader, batch bool) error {
	if err := errors.Join(o.s.dir.MakeDir(objectsDir), o.s.dir.MakeDir(filepath.Join(objectsDir, id[:2]))); err != nil {
		return err
	}
	if err := o.begin(); err != nil {
		return err
	}
	sum := sha256.New()
	var size int64
	err := o.s.dir.Replace(objectFile(id, suffix), !batch, func(w io.Writer) error {
		counted := &counter{w: w}
		err := o.s.compress(counted, suffix == sealedSuffix, func(z io.Writer) error {
			_, err := o.copy(io.MultiWriter(z, sum), r)
			return err
		})
		size = counted.n
		if got := hex.EncodeToString(sum.Sum(nil)); err == nil && !o.s.named(id, got) {
			return errors.New("it changed while it was read")
		}
		if err == nil {
			err = o.makeRoom(size)
		}
		return err
	})
	if err != nil {
		return err
	}
	o.total += size
	o.batched = o.batched || batch
	return nil
}

// sync makes what was stored in a batch durable.
func (o *objects) sync() error {
	if !o.batched {
		return nil
	}
	o.batched = false
	path := o.s.dir.Path(objectsDir)
	return o.s.dir.Do("sync", path, func() error {
		d, err := o.s.dir.OpenDir(objectsDir)
		if err != nil {
			return err
		}
		return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
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

// sizeFile holds the size of all objects in bytes, while no run changes it.
const sizeFile = objectsDir + "/size"

// begin reads or measures the total, and removes sizeFile until end.
func (o *objects) begin() error {
	if o.known {
		return nil
	}
	text, err := o.s.dir.ReadFile(sizeFile)
	if err == nil {
		o.total, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	if err != nil || o.total < 0 {
		if err := o.measure(); err != nil {
			return err
		}
	}
	o.known = true
	err = o.s.dir.Remove(sizeFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// end writes the total to sizeFile.
func (o *objects) end() error {
	if !o.known {
		return nil
	}
	o.known, o.measured = false, false
	return o.s.dir.Replace(sizeFile, false, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, o.total)
		return err
	})
}

// measure adds up the sizes of all contents.
func (o *objects) measure() error {
	o.total, o.measured = 0, true
	return o.s.eachObject(func(_, _ string, size int64) error { o.total += size; return nil })
}

// eachObject calls f for every file of the store. A file that is no object has the id "".
func (s *Store) eachObject(f func(id, name string, size int64) error) error {
	dirs, err := s.dir.List(objectsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, d := range dirs {
		if !d.IsDir() || err != nil {
			continue
		}
		dir := filepath.Join(objectsDir, d.Name())
		files, e := s.dir.List(dir)
		if err = e; err != nil {
			break
		}
		for _, file := range files {
			name := filepath.Join(dir, file.Name())
			fi, e := s.dir.Stat(name)
			if e != nil {
				return e
			}
			id, ok := strings.CutSuffix(file.Name(), clearSuffix)
			if !ok {
				id, ok = strings.CutSuffix(file.Name(), sealedSuffix)
			}
			if !ok || !isObjectID(id) {
				id = ""
			}
			if err := f(id, name, fi.Size); err != nil {
				return err
			}
		}
	}
	return err
}
