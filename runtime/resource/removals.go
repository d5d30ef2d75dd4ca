package resource

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/host"
)

// Removals has the rules of what resources with ensure absent may take along when they remove a
// directory. The zero Removals keeps all directories with entries, and limits no sizes.
type Removals struct {
	// Made reports whether a run has created the entry at a path. Nil means that none was.
	Made func(path string, found host.Info) bool
	// WithData lets all resources remove what no run has created. The property with_data lets one.
	WithData bool
	// MaxFile and MaxTotal are the sizes in bytes of the largest file and of all files together that
	// one resource may remove, because no more is backed up; 0 means no limit.
	MaxFile, MaxTotal int64
}

// A RemovalCheck is what the rules say about a decision.
type RemovalCheck struct {
	// KeepReason is the reason why nothing is removed, or "".
	KeepReason string
	// Remark names what no run has created and is removed too, or is "".
	Remark string
	// Err is the reason why the resource fails instead of being removed without a backup, or nil.
	Err error
}

// Check applies the rules to the effects of a decision about r. Other decisions than those to
// remove something pass.
func (x *Removals) Check(ctx context.Context, v *host.View, r *Resource, d Decision) (c RemovalCheck) {
	if want, ok := r.Spec.(EnsureReporter); !ok || !IsAbsent(want.WantedEnsure()) {
		return c
	}
	gone := make(map[string]bool)
	for _, e := range d.Effects {
		if e.Removes() {
			gone[e.Path] = true
		}
	}
	s := search{Removals: x, ctx: ctx, view: v, gone: gone}
	for _, e := range d.Effects {
		if !e.Removes() {
			continue
		}
		if c.Err = s.add(e.Path, !e.Clean); c.Err != nil {
			return c
		}
	}
	switch {
	case s.mount != "":
		c.KeepReason = fmt.Sprintf("a file system is mounted at %s (unmount it first)", s.mount)
	case len(s.foreign) > 0 && !x.withData(r):
		c.KeepReason = s.reason()
	default:
		if len(s.foreign) > 0 {
			c.Remark = "including data that no run has created: " + s.list()
		}
		if r.Common.Backup == nil || *r.Common.Backup {
			c.Err = s.tooLarge()
		}
	}
	return c
}

func (x *Removals) withData(r *Resource) bool { return x.WithData || r.Common.WithData }

// A search finds what removals would take along.
type search struct {
	*Removals
	ctx     context.Context
	view    *host.View
	gone    map[string]bool // paths that are removed by themselves
	mount   string          // the first mount point at or below a removed path, or ""
	foreign []string        // the uppermost entries that no run has created
	size    int64           // of files in foreign and below
	total   int64           // of all files
	largest host.TreeEntry  // the largest file, with its path as Rel
}

// add adds what is at a path that is removed and, if it is a directory, below it.
func (s *search) add(at string, mayBeForeign bool) error {
	info, err := s.view.Lstat(at)
	if err != nil || info.Kind == host.Missing {
		return nil // the removal reports it
	}
	s.addFile(at, info)
	if info.Kind != host.Directory {
		return nil
	}
	mounts, err := s.view.MountsBelow(path.Dir(at))
	if err != nil {
		return err
	}
	if m := mounts.At(path.Base(at)); m != "" && s.mount == "" {
		s.mount = path.Join(path.Dir(at), m)
	}
	entries, err := s.view.Tree(s.ctx, at, host.MaxNames)
	if many, ok := errors.AsType[*host.TooManyNamesError](err); ok || s.ctx.Err() != nil {
		return fmt.Errorf("%s: %w", at, errors.Join(many, s.ctx.Err()))
	}
	// Other errors concern single directories, which the removal reports.
	s.addEntries(at, entries, func(e host.TreeEntry) bool { return mayBeForeign })
	return nil
}

// addEntries adds the entries below a directory, in order. Those of them are foreign for which
// candidate is true and that no run has created.
func (s *search) addEntries(dir string, entries []host.TreeEntry, candidate func(host.TreeEntry) bool) {
	foreign := make(map[string]bool) // by relative path, with what is below
	for _, e := range entries {
		at := path.Join(dir, e.Rel)
		s.addFile(at, e.Info)
		below := foreign[path.Dir(e.Rel)]
		if !below && (!candidate(e) || s.gone[at] || s.Made != nil && s.Made(at, e.Info)) {
			continue
		}
		if foreign[e.Rel] = true; e.Kind == host.Regular {
			s.size += e.Size
		}
		if !below {
			s.foreign = append(s.foreign, at)
		}
	}
}

func (s *search) addFile(at string, info host.Info) {
	if info.Kind != host.Regular {
		return
	}
	if s.total += info.Size; info.Size > s.largest.Size {
		s.largest = host.TreeEntry{Rel: at, Info: info}
	}
}

// tooLarge returns an error if what is removed is larger than what is backed up.
func (s *search) tooLarge() error {
	const hint = "backup = false removes it without a backup, a larger --backup-size keeps more"
	switch {
	case s.MaxFile > 0 && s.largest.Size > s.MaxFile:
		return fmt.Errorf("%s could not be restored: it has %s, and a backup of one file may have %s (%s)",
			s.largest.Rel, bytesize.Format(s.largest.Size), bytesize.Format(s.MaxFile), hint)
	case s.MaxTotal > 0 && s.total > s.MaxTotal:
		return fmt.Errorf("what would be removed could not be restored: it has %s, and all backups may have %s (%s)",
			bytesize.Format(s.total), bytesize.Format(s.MaxTotal), hint)
	}
	return nil
}

// reason says why the foreign entries are kept.
func (s *search) reason() string {
	return "no run has created " + s.list() + " (--with-data or with_data = true removes it too)"
}

// list names the foreign entries, the first three of many, and their size.
func (s *search) list() string {
	const most = 3
	slices.Sort(s.foreign)
	var names []string
	for _, at := range s.foreign[:min(most, len(s.foreign))] {
		if quoted := strconv.Quote(at); quoted != `"`+at+`"` {
			at = quoted
		}
		names = append(names, at)
	}
	text := strings.Join(names, ", ")
	if more := len(s.foreign) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ", " + bytesize.Format(s.size)
}

type removalsKey struct{}

// removalsOf are the rules for one resource.
type removalsOf struct {
	*Removals
	withData bool
}

// With returns a context for Status and Perform of r, in which [KeptData] follows the rules.
func (x *Removals) With(ctx context.Context, r *Resource) context.Context {
	return context.WithValue(ctx, removalsKey{}, removalsOf{x, x.withData(r)})
}

// KeptData returns the reason why the resource of a context must not remove the directory dir,
// which has to exist, or "". Clean says that runs have created all that is in it. Entries that are
// like those of the source directory like count as created; "" means none.
func KeptData(ctx context.Context, v *host.View, dir, like string, created []string) (kept string, clean bool, err error) {
	x, ok := ctx.Value(removalsKey{}).(removalsOf)
	if !ok {
		x.Removals = new(Removals)
	}
	s := search{Removals: x.Removals, ctx: ctx, view: v}
	if err := s.add(dir, false); err != nil {
		return "", false, err
	}
	if s.mount != "" {
		return fmt.Sprintf("a file system is mounted at %s (unmount it first)", s.mount), false, nil
	}
	entries, err := v.Tree(ctx, dir, host.MaxNames)
	if err != nil {
		return "", false, err
	}
	same := make(map[string]bool)
	for _, rel := range created {
		same[rel] = true
	}
	if like != "" {
		all := func(host.TreeEntry) (bool, error) { return true, nil }
		// Without the source directory nothing is like it.
		_ = v.Sources().CompareTree(ctx, like, dir, all, func(p host.TreePair) error {
			same[p.Rel] = same[p.Rel] || p.Source.Kind == p.Target.Kind && !p.Differs
			return nil
		})
	}
	s.addEntries(dir, entries, func(e host.TreeEntry) bool { return !same[e.Rel] })
	if len(s.foreign) > 0 && !x.withData {
		kept = s.reason()
	}
	return kept, len(s.foreign) == 0, nil
}
