package host

import (
	"context"

	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/host/sparse"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/words"
)

// Stat data of sources, from package sources.
type (
	StatData = sources.StatData
	Source   = sources.Source
)

// Sources are the files of the user that a script names, and the contents behind URLs. In a plan
// they are as earlier resources will leave them.
type Sources struct{ v *View }

// Sources returns the sources of the script.
func (v *View) Sources() Sources { return Sources{v} }

// sourceLimit is the largest source, in bytes, that is fetched from a URL. It stays in memory for
// the rest of the run.
const sourceLimit = 64 << 20

// sourcePatience is the time limit of such a download.
const sourcePatience = 30 * time.Minute

// encryptedMark begins the name of a source that has to be decrypted. Such a name is neither a
// URL nor an absolute path.
const encryptedMark = "encrypted:"

// Encrypted returns the name under which the file source is opened and decrypted, with a key of
// the user of this process.
func Encrypted(source string) string { return encryptedMark + source }

// decrypted opens a source and decrypts it in memory.
func (s Sources) decrypted(name string) (*Source, error) {
	f, fi, err := s.openFile(name)
	if err != nil {
		return nil, err
	}
	if s.v.decrypt == nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, diag.SubjectCannot("encrypted sources", "be decrypted here"))
	}
	text, err := safepath.ReadOpened(f, fi, name, sourceLimit)
	if err == nil {
		text, err = s.v.decrypt(name, text)
	}
	if err != nil {
		return nil, err
	}
	return sources.InMemory(text, StatData{}), nil
}

// Open opens a source: a file, with links followed, or the content of an http or https URL. Reads
// fail once the context ends.
func (s Sources) Open(ctx context.Context, name string) (*Source, error) {
	if fetch.IsURL(name) {
		text, err := s.fetch(ctx, name)
		return sources.InMemory(text, StatData{Reliable: true}), err
	}
	if file, ok := strings.CutPrefix(name, encryptedMark); ok {
		return s.decrypted(file)
	}
	f, fi, err := s.openFile(name)
	if err != nil {
		return nil, err
	}
	if safepath.IsPseudo(f, fi) {
		text, err := safepath.ReadPseudo(f, name, sourceLimit)
		return sources.InMemory(text, sources.StatDataOf(fi, s.v.Now())), err
	}
	return &Source{ReadCloser: safepath.Within(ctx, f), StatData: sources.StatDataOf(fi, s.v.Now()), Sparse: sparse.IsSparse(fi)}, nil
}

// OpenFile opens a file of the user for reading, with links followed. The root does not apply to
// it.
func (s Sources) OpenFile(name string) (*os.File, error) {
	f, _, err := s.openFile(name)
	return f, err
}

// ForCommand calls use with a path by which a command finds a file of the user. Below a root that commands
// enter it is that of a copy, in a scratch directory.
func (s Sources) ForCommand(name string, use func(path string) error) error {
	if s.v.CommandRoot() == "/" {
		return use(name)
	}
	f, err := s.OpenFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.v.WithScratch(func(scratch *Scratch) error {
		base := filepath.Base(name)
		if err := scratch.copyFile(base, f); err != nil {
			return err
		}
		return use(scratch.Path(base))
	})
}

// openFile opens a regular file of the user, as a plan sees it.
func (s Sources) openFile(name string) (*os.File, os.FileInfo, error) {
	at, ok := s.v.overlay.SourceOf(name)
	if !ok {
		return s.v.sources.OpenRegular(name)
	}
	f, err := s.v.overlay.OpenSource(name, at)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	return f, fi, err
}

// fetch returns the content of a URL.
func (s Sources) fetch(ctx context.Context, name string) ([]byte, error) {
	at, err := url.Parse(name)
	if err != nil || at.Host == "" {
		return nil, diag.Expected("a valid URL")
	}
	return s.v.texts.Get(ctx, name, func() ([]byte, error) {
		within, cancel := context.WithTimeoutCause(ctx, sourcePatience, fmt.Errorf("%w after %s", ErrTimeout, words.Duration(sourcePatience)))
		defer cancel()
		return s.v.Fetch(within, fetch.Request{URL: at}, sourceLimit)
	})
}

// Matches reports whether the file at the path has exactly the content of the source. Files of
// different sizes are not read.
func (s Sources) Matches(ctx context.Context, name, source string) (bool, error) {
	src, err := s.Open(ctx, source)
	if err != nil {
		return false, err
	}
	defer src.Close()
	return s.MatchesOpen(name, src)
}

// MatchesOpen is Matches for an open source of which nothing was read.
func (s Sources) MatchesOpen(name string, src *Source) (bool, error) {
	f, err := s.v.Open(name)
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
	return sameContent(f, src)
}
