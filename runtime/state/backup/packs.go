package backup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// packsDir has the packs. Each is named after the run that made it, so that later ones have greater
// names.
const (
	packsDir   = contentsDir + "/packs"
	packSuffix = ".pack"
)

func packFile(run string) string { return filepath.Join(packsDir, run+packSuffix) }

// A pack is what is known of a file with many contents.
type pack struct {
	file    string
	size    int64
	modTime time.Time
	entries []packEntry
	// damaged is set if entries may be missing or wrong, and err if the pack could not be read.
	damaged bool
	err     error
}

// A place is where a content is.
type place struct {
	*pack
	packEntry
}

// packs are the packs of a store. They are read when a content has no file of its own, and again
// when their directory has changed.
type packs struct {
	mu      sync.Mutex
	modTime time.Time // of the directory when it was read; zero if it was not
	list    []*pack   // oldest first
	// at has the newest place of each content.
	at map[digest]place
}

// forgetPacks has the packs read again.
func (s *Store) forgetPacks() {
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	s.packs.modTime = time.Time{}
}

// knownPlace returns the place of a content in the packs as they were read.
func (s *Store) knownPlace(id string) (x place, ok bool) {
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	if !s.packs.modTime.IsZero() {
		x, ok = s.packs.at[digestOf(id)]
	}
	return x, ok
}

// readPacks returns the packs, oldest first, and the newest place of each content. The results must not
// be changed.
func (s *Store) readPacks() ([]*pack, map[digest]place, error) {
	p := &s.packs
	p.mu.Lock()
	defer p.mu.Unlock()
	dir, err := s.Dir.Stat(packsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil || dir.ModTime.Equal(p.modTime) {
		return p.list, p.at, err
	}
	files, err := s.Dir.List(packsDir)
	if err != nil {
		return nil, nil, err
	}
	p.list, p.at = nil, make(map[digest]place)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), packSuffix) || strings.HasPrefix(f.Name(), ".") || !f.Type().IsRegular() {
			continue
		}
		x := s.readPack(filepath.Join(packsDir, f.Name()))
		if errors.Is(x.err, os.ErrNotExist) {
			continue
		}
		p.list = append(p.list, x)
		for _, e := range x.entries {
			// A damaged pack hides no content of another one, and in one pack the first entry counts.
			if was, ok := p.at[e.id]; !ok || was.pack != x && !x.damaged {
				p.at[e.id] = place{x, e}
			}
		}
	}
	p.modTime = dir.ModTime
	return p.list, p.at, nil
}

// readPack reads the index of a pack.
func (s *Store) readPack(name string) *pack {
	x := &pack{file: name}
	f, err := s.Dir.Open(name, os.O_RDONLY)
	if err != nil {
		x.err = err
		return x
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		x.err = err
		return x
	}
	x.size, x.modTime = fi.Size(), fi.ModTime()
	x.entries, x.damaged, x.err = readIndex(f, x.size)
	return x
}

// openPacked opens a content that is in a pack, or returns [os.ErrNotExist].
func (s *Store) openPacked(id string) (source, error) {
	for range 3 { // another process may write packs again meanwhile
		x, ok := s.knownPlace(id)
		if !ok {
			list, at, err := s.readPacks()
			if err != nil {
				return source{}, err
			}
			if x, ok = at[digestOf(id)]; !ok {
				return source{}, s.missingIn(list)
			}
		}
		f, err := s.Dir.Open(x.file, os.O_RDONLY)
		if err == nil {
			if fi, err := f.Stat(); err == nil && fi.ModTime().Equal(x.modTime) && fi.Size() == x.size {
				return source{x.in(f), f, suffixes[x.suffix]}, nil
			}
			f.Close()
		} else if !errors.Is(err, os.ErrNotExist) {
			return source{}, err
		}
		s.forgetPacks()
	}
	return source{}, os.ErrNotExist
}

// missingIn returns the error for a content that is in none of the packs.
func (s *Store) missingIn(list []*pack) error {
	for _, p := range list {
		if p.damaged || p.err != nil {
			return diag.Damaged(s.Dir.Path(p.file), p.err)
		}
	}
	return os.ErrNotExist
}

// in returns the bytes of an entry in the file of its pack.
func (e packEntry) in(f io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(f, int64(e.offset), int64(e.length))
}
