package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// extractedFile has the archives that were extracted behind a path that shows it, the earliest first.
const extractedFile = "extracted.ndjson"

// maxExtracted is the number of archives that are remembered: the latest.
const maxExtracted = 10_000

// An extractedArchive is one line of the file.
type extractedArchive struct {
	Root     string `json:"root"`
	Path     Name   `json:"path"`
	Creates  Name   `json:"creates"`
	URL      string `json:"url,omitempty"`
	Checksum string `json:"checksum,omitempty"`
}

// Extractions remembers which archives were extracted on the machine below a root. It implements
// host.Extractions.
type Extractions struct {
	s    *Store
	root string
	mu   sync.Mutex
}

var _ host.Extractions = (*Extractions)(nil)

// Extractions returns the record of the archives below a root.
func (s *Store) Extractions(root string) *Extractions { return &Extractions{s: s, root: root} }

// Extracted implements host.Extractions.
func (x *Extractions) Extracted(archive, creates string) (e host.Extraction, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	list, _ := x.s.extracted() // of a damaged file, the readable lines are used
	at := slices.IndexFunc(list, func(a extractedArchive) bool { return x.is(a, archive) && string(a.Creates) == creates })
	if at < 0 {
		return e, false
	}
	return host.Extraction{URL: list[at].URL, Checksum: list[at].Checksum}, true
}

// Redact implements host.Extractions.
func (x *Extractions) Redact(url string) string { return x.s.secrets.Redact(url) }

func (x *Extractions) is(a extractedArchive, archive string) bool {
	return a.Root == x.root && string(a.Path) == archive
}

// Remember implements host.Extractions. Secrets in the URL are not kept. The lock of the state directory must be held.
func (x *Extractions) Remember(archive, creates string, e host.Extraction) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := slices.DeleteFunc(x.s.extractedForChange(), func(a extractedArchive) bool { return x.is(a, archive) })
	list = append(list, extractedArchive{Root: x.root, Path: Name(archive), Creates: Name(creates), URL: x.s.secrets.Redact(e.URL), Checksum: e.Checksum})
	return x.s.writeExtracted(list[max(0, len(list)-maxExtracted):])
}

// Forget implements host.Extractions. The lock of the state directory must be held.
func (x *Extractions) Forget(archive string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.s.forgetExtracted(func(a extractedArchive) bool { return x.is(a, archive) })
}

// forgetRestored forgets the archives of which a restore or undo has changed something: which
// archive is extracted now is not known.
func (r *RecordWriter) forgetRestored() error {
	if r.info.Kind != "restore" && r.info.Kind != "undo" {
		return nil
	}
	return r.s.forgetExtracted(func(a extractedArchive) bool {
		if a.Root != r.info.Root {
			return false
		}
		for at := range r.changes {
			if at == string(a.Path) || at == string(a.Creates) || strings.HasPrefix(at, string(a.Creates)+"/") {
				return true
			}
		}
		return false
	})
}

// forgetExtracted removes the lines for which gone is true.
func (s *Store) forgetExtracted(gone func(extractedArchive) bool) error {
	if !s.dir.Has(extractedFile) {
		return nil
	}
	list := s.extractedForChange()
	kept := slices.DeleteFunc(slices.Clone(list), gone)
	if len(kept) == len(list) {
		return nil
	}
	return s.writeExtracted(kept)
}

// extracted returns the lines of the file. A missing file has none.
func (s *Store) extracted() (list []extractedArchive, err error) {
	text, err := s.dir.ReadFile(extractedFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(text) {
		var a extractedArchive
		if failed := json.Unmarshal(line, &a); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		a.Root = s.dir.RootOf(a.Root)
		list = append(list, a)
	}
	return list, err
}

// extractedForChange returns the lines, and sets a damaged file aside.
func (s *Store) extractedForChange() []extractedArchive {
	list, err := s.extracted()
	if err != nil {
		s.dir.SetAside(extractedFile, "it is damaged: not all archives that were extracted are known", s.clock.Now())
	}
	return list
}

// writeExtracted replaces the file.
func (s *Store) writeExtracted(list []extractedArchive) error {
	var text []byte
	for _, a := range list {
		var err error
		a.Root = s.dir.RecordedRoot(a.Root)
		if text, err = appendLine(text, a); err != nil {
			return err
		}
	}
	return s.dir.Replace(extractedFile, true, statedir.Writing(text))
}
