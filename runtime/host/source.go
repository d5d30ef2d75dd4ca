package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
)

// A Source is the content of a file that the user names as one. Sources belong
// to the script, not to the machine below the root.
type Source struct {
	io.ReadCloser
	Glance
}

// sourceLimit is the largest source, in bytes, that is fetched from a URL. It is
// kept in memory for the rest of the run.
const sourceLimit = 64 << 20

// fetched remembers the sources that came from URLs: each is fetched once a run.
type fetched struct {
	mu    sync.Mutex
	texts map[string][]byte
}

// IsURL reports whether a source is an http or https URL and not a path.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// OpenSource opens a source: a file, links followed, or what is behind an http
// or https URL.
func (v *View) OpenSource(name string) (*Source, error) {
	if IsURL(name) {
		text, err := v.fetch(name)
		return &Source{io.NopCloser(bytes.NewReader(text)), Glance{Size: int64(len(text)), Settled: true}}, err
	}
	f, err := v.OpenUserFile(name)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Source{f, glanceAt(fi, v.Now())}, nil
}

// OpenUserFile opens a file of the user for reading, links followed. It lies
// outside the root.
func (v *View) OpenUserFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	return f, nil
}

// fetch returns what is behind a URL.
func (v *View) fetch(name string) ([]byte, error) {
	m := v.fetched
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok := m.texts[name]; ok {
		return text, nil
	}
	at, err := url.Parse(name)
	if err != nil || at.Host == "" {
		return nil, errors.New("want a valid URL")
	}
	text, err := v.Fetch(context.Background(), Download{URL: at}, sourceLimit)
	if err != nil {
		return nil, err
	}
	if m.texts == nil {
		m.texts = make(map[string][]byte)
	}
	m.texts[name] = text
	return text, nil
}

// HoldsSource reports whether the file at the path holds exactly what the source
// holds. Files of different sizes are not read.
func (v *View) HoldsSource(name, source string) (bool, error) {
	src, err := v.OpenSource(source)
	if err != nil {
		return false, err
	}
	defer src.Close()
	return v.Holds(name, src)
}

// Holds is HoldsSource for a source that is open and was not read yet.
func (v *View) Holds(name string, src *Source) (bool, error) {
	f, err := v.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	if a.Size() != src.Size {
		return false, nil
	}
	left, right := buffers.Get().(*[]byte), buffers.Get().(*[]byte)
	defer buffers.Put(left)
	defer buffers.Put(right)
	for {
		n, errA := io.ReadFull(f, *left)
		m, errB := io.ReadFull(src, *right)
		if !bytes.Equal((*left)[:n], (*right)[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			return endOf(errA) && endOf(errB), errors.Join(unlessEnd(errA), unlessEnd(errB))
		}
	}
}

func endOf(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

func unlessEnd(err error) error {
	if endOf(err) {
		return nil
	}
	return err
}
