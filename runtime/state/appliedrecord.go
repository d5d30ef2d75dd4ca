package state

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// An AppliedHeader is the first line of the record of the last applied catalog of a site on a
// root. Lines with fingerprints follow it. The resources themselves are in another file
// ([Store.Catalog]).
type AppliedHeader struct {
	Protocol string    `json:"protocol"`
	Site     string    `json:"site"`
	Root     string    `json:"root"`
	Run      string    `json:"run_id"`
	Time     time.Time `json:"time"`
	// Fingerprint is that of the whole catalog.
	Fingerprint string `json:"fingerprint"`
	// File is the File of the run's [RunInfo]. It is "" if it equals Site: no arguments or options
	// select what is declared.
	File string `json:"file,omitempty"`

	name string // of the files, without suffix
}

const (
	appliedDir        = "applied"
	appliedProtocol   = "io.choria.ccm.v1.applied"
	lastAppliedSuffix = ".wishes"
	catalogSuffix     = ".catalog.gz"
)

// appliedName returns the name of the files for a site on a root. An image has the names that it has when it is booted.
func (s *Store) appliedName(site, root string) string {
	if s.dir.RecordedRoot(root) != root {
		root = "/"
	}
	return filepath.Join(appliedDir, sha256sum.Short(site+"\x00"+root, 8))
}

// An appliedRecord reads the record of the last applied catalog of a site on a root, and writes the
// next one.
type appliedRecord struct {
	s          *Store
	site, root string
	file       string // see RunInfo; "" for readers of the record
	// readOnly is set if nothing may be written.
	readOnly bool

	head    AppliedHeader
	hasHead bool
	loaded  bool
	last    lastAppliedList
	sibling *lastAppliedList // see siblings; nil until needed
	isFirst bool             // nothing is recorded yet
	// lazy has the resources with lazy values, with their values.
	lazy    map[resource.ID]*resource.Resource
	pending *pendingSnapshot // nil if there is none
	// created has true for resources whose thing the run created, false for absent ones.
	created map[resource.ID]bool
	// parents has the parent directories that the run made.
	parents []MadeParent
}

// managed reports whether a run may change the resource.
func managed(r *resource.Resource) bool {
	return r.Skip == "" && r.Restraint() == resource.Unrestrained
}

// cause implements RecordWriter.Cause.
func (a *appliedRecord) cause(r *resource.Resource, found resource.DesiredDigest, text func() string) event.Cause {
	a.load()
	last := &a.last
	if a.isFirst {
		last = a.siblings()
	}
	old, known := last.find(r.ID.String())
	if !known {
		return event.New
	}
	spec, _ := a.fingerprint(r)
	if old.spec != spec && len(r.Sensitive) > 0 {
		// The record may be older than the knowledge that these are secrets: then it is not keyed.
		spec, _ = fingerprint(r)
	}
	if old.spec != spec || !a.sameDesired(r, old.digest, found, text) {
		return event.Intended
	}
	return event.Corrective
}

// siblings returns the last applied catalog of the same file with other arguments and options. In
// the first run with new ones it tells the causes of changes.
func (a *appliedRecord) siblings() *lastAppliedList {
	if a.sibling == nil {
		a.sibling = new(lastAppliedList)
		applied, _ := a.s.Applied() // other readers of the list report the error
		for _, x := range applied {
			if a.file != "" && x.Root == a.root && (x.Site == a.file || x.File == a.file) {
				other := &appliedRecord{s: a.s, site: x.Site, root: a.root, readOnly: true}
				other.load()
				a.sibling = &other.last
				break
			}
		}
	}
	return a.sibling
}

// readHead reads the first line of the file. A damaged line counts as missing.
func (a *appliedRecord) readHead() {
	if a.hasHead {
		return
	}
	a.hasHead = true
	if head, err := a.s.readHeader(a.name() + lastAppliedSuffix); err == nil {
		a.head = head
	}
}

// readHeader reads the first line of a file, and no more: the files of 100 sites with 1,000 resources have 14 MB, which
// made the first run with a new argument take 36 ms longer.
func (s *Store) readHeader(file string) (x AppliedHeader, err error) {
	f, err := s.dir.Open(file, os.O_RDONLY)
	if err != nil {
		return x, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return x, err
	}
	if json.Unmarshal(line, &x) != nil || x.Protocol != appliedProtocol {
		return AppliedHeader{}, errDamagedHeader
	}
	x.Root = s.dir.RootOf(x.Root)
	return x, nil
}

var errDamagedHeader = diag.Damaged("the first line", nil)

func (a *appliedRecord) name() string { return a.s.appliedName(a.site, a.root) }

// load reads the file. A copy of a damaged file is set aside, and its readable lines are used.
func (a *appliedRecord) load() {
	if a.loaded {
		return
	}
	a.loaded = true
	a.readHead()
	name := a.name() + lastAppliedSuffix
	text, err := a.s.dir.ReadFile(name)
	if a.isFirst = errors.Is(err, os.ErrNotExist); a.isFirst {
		return
	}
	_, lines, _ := bytes.Cut(text, []byte("\n"))
	list, damaged := readLastApplied(string(lines))
	a.last = list
	if damaged = damaged || err != nil || a.head.Protocol == ""; damaged {
		a.head.Fingerprint = ""
	}
	if damaged && !a.readOnly {
		a.s.dir.SetAside(name, "damaged: causes of changes may be wrong in this run", a.s.clock.Now())
	}
}

// end records the applied catalog, unless the record is the same already. Resolved has the
// resources with lazy values.
func (a *appliedRecord) end(c *catalog.Catalog, run string, results []resourceResult, resolved map[resource.ID]*resource.Resource) error {
	if err := a.endParents(); err != nil {
		return err
	}
	a.readHead()
	sums := a.fingerprintsOf(c)
	if len(resolved) == 0 && a.unchanged(c, sums, results) {
		return nil
	}
	a.load()
	a.lazy = resolved
	list := a.next(c, sums, results)
	sum := sumOf(list)
	recorded := a.hasCatalog() && a.head.Fingerprint == sum
	if recorded && slices.EqualFunc(list, a.last.list, func(x snapshotEntry, y lastApplied) bool { return x.lastApplied == y }) {
		return nil
	}
	if err := a.s.dir.MakeDir(appliedDir); err != nil {
		return err
	}
	if a.file != "" && a.file != a.site && !a.s.dir.Has(a.name()+lastAppliedSuffix) {
		if err := a.s.forgetSelected(); err != nil {
			return err
		}
	}
	if err := a.addUndeclared(c); err != nil {
		return err
	}
	// The catalog's file has lazy values but no digests.
	sameCatalog := recorded && len(resolved) == 0 &&
		slices.EqualFunc(list, a.last.list, func(x snapshotEntry, y lastApplied) bool { return x.id == y.id && x.whole == y.whole })
	if !sameCatalog {
		if err := a.writeCatalog(list); err != nil {
			return err
		}
	}
	return a.s.dir.Replace(a.name()+lastAppliedSuffix, a.durable(), func(w io.Writer) error { return a.write(w, run, sum, list) })
}

// durable reports whether the record has to survive a loss of power. The record of the command
// line is written too often for that; if it is lost, one cause is wrong.
func (a *appliedRecord) durable() bool { return a.site != "" }

// unchanged reports whether the record is certainly that of the catalog. Sums are the
// fingerprints of the catalog.
func (a *appliedRecord) unchanged(c *catalog.Catalog, sums []fingerprints, results []resourceResult) bool {
	if a.head.Fingerprint == "" || len(c.Excluded) > 0 {
		return false
	}
	a.last.next = 0
	for i, res := range results {
		switch {
		case res == resourceResult{}:
		case res.outcome != event.Changed || res.digest != (resource.DesiredDigest{}) && a.digestBefore(c.Resources[i].ID) != res.digest:
			return false
		}
	}
	for _, r := range c.Resources {
		if !managed(r) {
			return false
		}
	}
	var sum uint64
	for _, x := range sums {
		sum = schema.CombineHash(sum, x.whole)
	}
	return a.head.Fingerprint == formatSum(sum) && a.hasCatalog()
}

// digestBefore returns the recorded digest of a resource.
func (a *appliedRecord) digestBefore(id resource.ID) resource.DesiredDigest {
	a.load()
	w, _ := a.last.find(id.String())
	return w.digest
}

// maxSelected is the number of records kept for one file with different arguments and options:
// the latest. A script may be called with another argument each time.
const maxSelected = 100

// forgetSelected makes room for one more such record.
func (s *Store) forgetSelected() error {
	applied, err := s.Applied()
	if err != nil {
		return err
	}
	kept := 1
	for _, x := range applied {
		if x.File == "" {
			continue
		}
		if kept++; kept <= maxSelected {
			continue
		}
		for _, suffix := range []string{lastAppliedSuffix, catalogSuffix, undeclaredSuffix, noticeSuffix, parentsSuffix, madeSuffix} {
			if s.dir.Has(x.name + suffix) {
				err = errors.Join(err, s.dir.Remove(x.name+suffix))
			}
		}
	}
	return err
}

func sumOf(list []snapshotEntry) string {
	var sum uint64
	for _, w := range list {
		sum = schema.CombineHash(sum, w.whole)
	}
	return formatSum(sum)
}

func formatSum(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (a *appliedRecord) hasCatalog() bool {
	return a.s.dir.Has(a.name() + catalogSuffix)
}

// Applied returns the last applied catalog of each site, the latest first.
func (s *Store) Applied() ([]AppliedHeader, error) {
	files, err := s.dir.List(appliedDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var list []AppliedHeader
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), lastAppliedSuffix)
		if !ok || strings.HasPrefix(base, ".") {
			continue
		}
		x, err := s.readHeader(filepath.Join(appliedDir, f.Name()))
		if errors.Is(err, errDamagedHeader) {
			s.dir.Warn(filepath.Join(s.dir.Path(appliedDir), f.Name()) + " is damaged")
			continue
		}
		if err != nil {
			return nil, err
		}
		x.name = filepath.Join(appliedDir, base)
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b AppliedHeader) int { return cmp.Or(cmp.Compare(b.Run, a.Run), b.Time.Compare(a.Time)) })
	return list, err
}
