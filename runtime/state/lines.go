package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
)

// A lines is a file of JSON objects, one a line, to which lines are added. An incomplete last
// line, left by a stop of the machine, does not count.
type lines struct {
	s    *Store
	name string
	f    *os.File
	size int64
	// isNew is set if the name of the file is not durable yet.
	isNew bool
	// buffer has lines that the next flush or add writes.
	buffer    []byte
	retrySize int // size of buffer when the last write failed
}

// enqueue adds objects to the buffer. On an error it adds none.
func (l *lines) enqueue(objects ...any) error {
	before := len(l.buffer)
	for _, x := range objects {
		var err error
		if l.buffer, err = appendLine(l.buffer, x); err != nil {
			l.buffer = l.buffer[:before]
			return err
		}
	}
	return nil
}

// appendLine appends an object to b as a line. On an error it returns b.
func appendLine(b []byte, x any) ([]byte, error) {
	switch x := x.(type) {
	case report.Event:
		return append(x.AppendJSON(b), '\n'), nil
	case changeLine:
		line, err := x.appendJSON(b)
		if err != nil {
			return b, err
		}
		return append(line, '\n'), nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return b, err
	}
	return append(b, text.Bytes()...), nil
}

// many is the size from which flushMany writes the buffer.
const many = 64 << 10

// flushMany writes the buffer if it is large. If that fails, the buffer stays, and the next
// attempt waits until it is twice as large.
func (l *lines) flushMany() error {
	if len(l.buffer) < many+2*l.retrySize {
		return nil
	}
	err := l.flush()
	if l.retrySize = 0; err != nil {
		l.retrySize = len(l.buffer)
	}
	return err
}

// flush writes the buffer.
func (l *lines) flush() error {
	if len(l.buffer) == 0 {
		return nil
	}
	return l.add(false)
}

// add writes objects to the file. If durable is set, they survive a loss of power. On an error it
// writes none.
func (l *lines) add(durable bool, objects ...any) error {
	before := len(l.buffer)
	if err := l.enqueue(objects...); err != nil {
		return err
	}
	if err := l.write(durable, l.buffer); err != nil {
		l.buffer = l.buffer[:before]
		return err
	}
	l.buffer = l.buffer[:0]
	return nil
}

// write adds text to the file.
func (l *lines) write(durable bool, text []byte) error {
	if err := l.open(); err != nil {
		return err
	}
	out := text
	if l.name != sensitiveFile { // that file has names and paths only
		out = l.s.redacted(out)
	}
	path := l.s.dir.Path(l.name)
	err := l.s.dir.Do("append", path, func() error {
		_, err := l.f.WriteAt(out, l.size)
		return err
	})
	before := l.size
	if err == nil {
		l.size += int64(len(out))
		if durable {
			err = l.sync()
		}
	}
	if err != nil {
		l.size = before
		return errors.Join(err, l.s.dir.Do("truncate", path, func() error { return l.f.Truncate(before) }))
	}
	return nil
}

// redacted returns lines without secrets.
func (s *Store) redacted(lines []byte) []byte {
	if !s.secrets.Any() {
		return lines
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		out = append(out, s.secrets.JSON(line, protocol())...)
	}
	return out
}

// protocol names the fields of lines that are not masked, because later runs need them.
var protocol = sync.OnceValue(func() *secret.Protocol {
	return secret.NewProtocol(append(slices.Clone(report.FixedFields), "path", "object", "kind", "resource", "by", "to", "run", "root", "site", "target", "properties", "since", "mtime", "mode", "base64"),
		Record{}, report.Event{}, pendingLine{}, sensitiveLine{}, rawName{})
})

// sync makes all written lines durable.
func (l *lines) sync() error {
	if l.f == nil {
		return nil
	}
	path := l.s.dir.Path(l.name)
	if err := l.s.dir.Do("sync", path, l.f.Sync); err != nil {
		return err
	}
	if !l.isNew {
		return nil
	}
	err := l.s.dir.SyncDir(filepath.Dir(l.name))
	l.isNew = err != nil
	return err
}

// open opens the file, and cuts an incomplete last line off.
func (l *lines) open() (err error) {
	if l.f != nil {
		return nil
	}
	path := l.s.dir.Path(l.name)
	err = l.s.dir.Do("open", path, func() (err error) {
		l.f, err = l.s.dir.Open(l.name, os.O_RDWR|os.O_CREATE)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // where the file ends is not known
			_ = l.close()
		}
	}()
	if l.size, err = l.f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	l.isNew = l.size == 0
	l.size, err = wholeLines(l.f, l.size)
	return err
}

// wholeLines returns the length of f up to and including its last newline.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 4096)
	for size > 0 {
		at := max(0, size-int64(len(buf)))
		part := buf[:size-at]
		if _, err := f.ReadAt(part, at); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		size = at
	}
	return 0, nil
}

// empty empties the file.
func (l *lines) empty() error {
	if err := l.open(); err != nil {
		return err
	}
	l.size = 0
	return l.s.dir.Do("truncate", l.s.dir.Path(l.name), func() error { return l.f.Truncate(0) })
}

func (l *lines) close() error {
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return f.Close()
}

// readLines calls each for every line of a file of the store. It returns the number of lines that
// could not be read. An incomplete last line does not count. A missing file has no lines.
func (s *Store) readLines(name string, each func(line []byte) error) (damaged int, err error) {
	f, err := s.dir.Open(name, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return damaged, nil
		}
		if err != nil {
			return damaged, err
		}
		if each(line) != nil {
			damaged++
		}
	}
}
