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
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Provenance is what is recorded of how an entry came to be.
type Provenance int

// The provenances.
const (
	// NotMade means that no run is known to have created the entry.
	NotMade Provenance = iota
	// ChangedSince means that a run has created the entry, and something else has changed it since.
	ChangedSince
	// Made means that the entry is as runs have made it.
	Made
)

// Removals has the rules of what resources with ensure absent may take along when they remove a
// directory. The zero Removals keeps all entries of directories, and limits no sizes.
type Removals struct {
	// Made returns the provenance of the entry at a path, for the resource that removes it. Nil means
	// that none was made.
	Made func(remover ID, path string, found safepath.Info) Provenance
	// WithData lets all resources remove what no run has created. The property with_data lets one.
	WithData bool
	// MaxFile and MaxTotal are the sizes in bytes of the largest file and of all files together that
	// one resource may remove, because no more is backed up; 0 means no limit.
	MaxFile, MaxTotal int64
}

// A RemovalCheck is the verdict of the rules on a decision.
type RemovalCheck struct {
	// KeepReason is the reason why nothing is removed, or "".
	KeepReason string
	// Partial is the decision to perform instead, which keeps what runs have not made; nil if all
	// is removed.
	Partial *Decision
	// Remark names what no run has created, and is removed too or kept; "" if there is nothing.
	Remark string
	// Err is the reason why the resource fails instead of being removed without a backup, or nil.
	Err error
}

// Check applies the rules to the effects of a decision about r. Other decisions than those to
// remove something pass.
func (x *Removals) Check(ctx context.Context, v *host.View, r *Resource, d Decision) (c RemovalCheck) {
	if !wantsAbsent(r) {
		return c
	}
	s := x.search(ctx, v, r.ID, d.Effects)
	var effects []overlay.PathEffect // that stay if data is kept
	removes := false
	for _, e := range d.Effects {
		if !e.Removes() {
			effects = append(effects, e)
			continue
		}
		found, err := s.add(e)
		if c.Err = err; err != nil {
			return c
		}
		effects, removes = append(effects, found...), removes || len(found) > 0
	}
	switch {
	case s.mount != "":
		c.KeepReason = mountedReason(s.mount)
		return c
	case s.whole != "" && !x.withData(r):
		c.KeepReason = s.whole + withDataHint
		return c
	case s.hasForeign() && !x.withData(r) && !removes:
		c.KeepReason = s.reason()
		return c
	case s.hasForeign() && !x.withData(r):
		c.Remark = "kept data: " + s.list() + "; " + withData
		c.Partial = &d
		d.Effects = effects
		if len(d.Actions) == 1 {
			d.Actions = []Action{d.Actions[0]}
			d.Actions[0].Phrase = "removed what runs created in the directory"
		}
	case s.whole != "":
		c.Remark = "including data: " + s.whole
	case s.hasForeign():
		c.Remark = "including data: " + s.list()
	}
	if r.Common.Backup == nil || *r.Common.Backup {
		c.Err = s.tooLarge(x.withData(r))
	}
	return c
}

// Protect returns a host for the actions of a decision about r. It keeps what [Removals.Check]
// keeps. A tree that is not among the effects is removed only if runs have made all of it.
func (x *Removals) Protect(ctx context.Context, h *host.Host, r *Resource, d Decision) *host.Host {
	if !wantsAbsent(r) || x.withData(r) {
		return h
	}
	return host.Keeping(h, func(dir string) ([]string, error) {
		s := x.search(ctx, &h.View, r.ID, d.Effects)
		for _, e := range d.Effects {
			if e.Removes() && (e.Path == dir || strings.HasPrefix(dir, e.Path+"/")) {
				_, err := s.add(e)
				return append(s.unknown.paths, s.changed.paths...), err
			}
		}
		_, err := s.add(overlay.PathEffect{Path: dir})
		if err == nil && s.hasForeign() {
			err = errors.New(s.reason())
		}
		return nil, err
	})
}

// wantsAbsent reports whether the wanted state of a resource is that there is nothing.
func wantsAbsent(r *Resource) bool {
	want, ok := r.Spec.(EnsureReporter)
	return ok && IsAbsent(want.WantedEnsure())
}

func (x *Removals) withData(r *Resource) bool { return x.WithData || r.Common.WithData }

const (
	withData     = "remove it too with --with-data or with_data = true"
	withDataHint = " (" + withData + ")"
)

func mountedReason(at string) string {
	return fmt.Sprintf("a file system is mounted at %s (unmount it first)", at)
}

// A search finds what removals would take along.
type search struct {
	*Removals
	ctx     context.Context
	view    *host.View
	remover ID
	gone    map[string]bool // paths that are removed by themselves
	mount   string          // the first mount point at or below a removed path, or ""
	whole   string          // the reason of the type why a whole directory is kept, or ""
	// unknown and changed are what is foreign, by provenance.
	unknown, changed foreign
	runs, others     sizes // of what runs have made, and of what is foreign
}

// Foreign are entries that are not as a run has created them.
type foreign struct {
	paths []string // the uppermost
	size  int64    // of files
}

// Sizes are the sizes of files.
type sizes struct {
	total   int64
	largest safepath.TreeEntry // the largest file, with its path as Rel
}

func (x *Removals) search(ctx context.Context, v *host.View, remover ID, effects []overlay.PathEffect) *search {
	s := &search{Removals: x, ctx: ctx, view: v, remover: remover, gone: make(map[string]bool)}
	for _, e := range effects {
		if e.Removes() {
			s.gone[e.Path] = true
		}
	}
	return s
}

func (s *search) hasForeign() bool { return len(s.unknown.paths)+len(s.changed.paths) > 0 }

// add adds what is at a path that is removed and, if it is a directory, below it. It returns the
// effects of removing what is not foreign.
func (s *search) add(e overlay.PathEffect) ([]overlay.PathEffect, error) {
	info, err := s.view.Lstat(e.Path)
	if err != nil || info.Kind == safepath.Missing {
		return nil, nil // the removal reports it
	}
	s.runs.add(e.Path, info)
	if info.Kind != safepath.Directory {
		return []overlay.PathEffect{e}, nil
	}
	mounts, err := s.view.MountsBelow(path.Dir(e.Path))
	if err != nil {
		return nil, err
	}
	if m := mounts.At(path.Base(e.Path)); m != "" && s.mount == "" {
		s.mount = path.Join(path.Dir(e.Path), m)
	}
	if e.KeepReason != "" {
		s.whole = e.KeepReason
	}
	entries, err := s.view.Tree(s.ctx, e.Path, safepath.MaxNames)
	if many, ok := errors.AsType[*safepath.TooManyNamesError](err); ok || s.ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", e.Path, errors.Join(many, s.ctx.Err()))
	}
	// Other errors concern single directories, which the removal reports.
	return s.addEntries(e, entries), nil
}

// addEntries adds the entries below the directory of an effect, in order, and returns the effects
// of removing what is not foreign.
func (s *search) addEntries(effect overlay.PathEffect, entries []safepath.TreeEntry) []overlay.PathEffect {
	keeps := make(map[string]bool)
	for _, rel := range effect.Keeps {
		keeps[path.Clean(rel)] = true
	}
	stays := make(map[string]*foreign) // by relative path: what is foreign, with what is below; nil for directories above
	for _, e := range entries {
		at := path.Join(effect.Path, e.Rel)
		in := stays[path.Dir(e.Rel)]
		if in == nil {
			if in = s.foreign(effect, keeps, at, e); in == nil {
				s.runs.add(at, e.Info)
				continue
			}
			in.paths = append(in.paths, at)
			for dir := path.Dir(e.Rel); dir != "."; dir = path.Dir(dir) {
				if _, known := stays[dir]; known {
					break
				}
				stays[dir] = nil
			}
		}
		stays[e.Rel] = in
		s.others.add(at, e.Info)
		if e.Kind == safepath.Regular {
			in.size += e.Size
		}
	}
	if len(stays) == 0 {
		return []overlay.PathEffect{effect}
	}
	var list []overlay.PathEffect
	goes := make(map[string]bool)
	for _, e := range entries {
		if _, ok := stays[e.Rel]; ok {
			continue
		}
		goes[e.Rel] = true
		if !goes[path.Dir(e.Rel)] {
			list = append(list, overlay.PathEffect{Path: path.Join(effect.Path, e.Rel), Keeps: []string{}})
		}
	}
	return list
}

// foreign returns where a foreign entry that is not below another one is added, nil for an entry
// that may go.
func (s *search) foreign(effect overlay.PathEffect, keeps map[string]bool, at string, e safepath.TreeEntry) *foreign {
	from := NotMade
	if s.Made != nil && (effect.Keeps == nil || keeps[e.Rel]) {
		from = s.Made(s.remover, at, e.Info)
	}
	switch {
	case s.gone[at], effect.Keeps != nil && !keeps[e.Rel], effect.Keeps == nil && from == Made:
		return nil
	case from == ChangedSince:
		return &s.changed
	}
	return &s.unknown
}

func (z *sizes) add(at string, info safepath.Info) {
	if info.Kind != safepath.Regular {
		return
	}
	if z.total += info.Size; info.Size > z.largest.Size {
		z.largest = safepath.TreeEntry{Rel: at, Info: info}
	}
}

// tooLarge returns an error if what is removed is larger than what is backed up.
func (s *search) tooLarge(withData bool) error {
	const hint = "remove it without a backup with backup = false, or raise --backup-size"
	z := s.runs
	if withData {
		z.add(s.others.largest.Rel, s.others.largest.Info)
		z.total = s.runs.total + s.others.total
	}
	switch {
	case s.MaxFile > 0 && z.largest.Size > s.MaxFile:
		return diag.Exceeds(fmt.Sprintf("%s of %s", bytesize.Format(z.largest.Size), z.largest.Rel),
			"%s for the backup of a file (%s)", bytesize.Format(s.MaxFile), hint)
	case s.MaxTotal > 0 && z.total > s.MaxTotal:
		return diag.Exceeds(bytesize.Format(z.total)+" of removed files",
			"%s for all backups (%s)", bytesize.Format(s.MaxTotal), hint)
	}
	return nil
}

// reason says why the foreign entries are kept.
func (s *search) reason() string { return s.list() + withDataHint }

// list says what is foreign, and why.
func (s *search) list() string {
	var parts []string
	if len(s.unknown.paths) > 0 {
		parts = append(parts, "no record of a run that created "+s.unknown.String())
	}
	if len(s.changed.paths) > 0 {
		parts = append(parts, "changed after a run created it: "+s.changed.String())
	}
	return strings.Join(parts, "; ")
}

// String names the entries, the first three of many, and their size.
func (f foreign) String() string {
	const most = 3
	slices.Sort(f.paths)
	var names []string
	for _, at := range f.paths[:min(most, len(f.paths))] {
		if quoted := strconv.Quote(at); quoted != `"`+at+`"` {
			at = quoted
		}
		names = append(names, at)
	}
	text := strings.Join(names, ", ")
	if more := len(f.paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ", " + bytesize.Format(f.size)
}

type removalsKey struct{}

// removalsOf are the rules for one resource.
type removalsOf struct {
	*Removals
	remover  ID
	withData bool
}

// With returns a context for Status and Perform of r, in which [KeptData] follows the rules.
func (x *Removals) With(ctx context.Context, r *Resource) context.Context {
	return context.WithValue(ctx, removalsKey{}, removalsOf{x, r.ID, x.withData(r)})
}

// KeptData returns the reason why the resource of a context must not remove the directory dir,
// which has to exist, or "". Foreign has the uppermost entries that no run has created, by their
// paths relative to dir; it is not nil. Entries that are like those of the source directory like
// count as created; "" means none.
func KeptData(ctx context.Context, v *host.View, dir, like string, created []string) (reason string, foreign []string, err error) {
	x, ok := ctx.Value(removalsKey{}).(removalsOf)
	if !ok {
		x.Removals = new(Removals)
	}
	entries, err := v.Tree(ctx, dir, safepath.MaxNames)
	if err != nil {
		return "", nil, err
	}
	same := make(map[string]bool)
	for _, rel := range created {
		same[rel] = true
	}
	if like != "" {
		all := func(safepath.TreeEntry) (bool, error) { return true, nil }
		// Without the source directory nothing is like it.
		_ = v.Sources().CompareTree(ctx, like, dir, all, func(p host.TreePair) error {
			same[p.Rel] = same[p.Rel] || p.Source.Kind == p.Target.Kind && !p.Differs
			return nil
		})
	}
	effect := overlay.PathEffect{Path: dir, Keeps: []string{}}
	for _, e := range entries {
		made := same[e.Rel] || x.Made != nil && x.Made(x.remover, path.Join(dir, e.Rel), e.Info) == Made
		if !made {
			effect.Keeps = append(effect.Keeps, e.Rel)
		}
	}
	s := x.search(ctx, v, x.remover, nil)
	if _, err := s.add(effect); err != nil {
		return "", nil, err
	}
	foreign = []string{}
	for _, at := range append(s.unknown.paths, s.changed.paths...) {
		foreign = append(foreign, strings.TrimPrefix(strings.TrimPrefix(at, dir), "/"))
	}
	slices.Sort(foreign)
	switch {
	case s.mount != "":
		reason = mountedReason(s.mount)
	case s.hasForeign() && !x.withData:
		reason = s.reason()
	}
	return reason, foreign, nil
}
