package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// An Applied says which catalog was applied last for a site on a root: a
// fingerprint of what was wanted of each resource that is in order, and, in a
// file of its own, the resources themselves ([Store.Catalog]).
type Applied struct {
	Protocol string    `json:"protocol"`
	Site     string    `json:"site"`
	Root     string    `json:"root"`
	Run      string    `json:"run_id"`
	Time     time.Time `json:"time"`
	// Fingerprint stands for all of it.
	Fingerprint string `json:"fingerprint"`

	name string // of the files, without suffix
}

const (
	appliedDir      = "applied"
	appliedProtocol = "io.choria.ccm.v1.applied"
	wishesSuffix    = ".wishes"
	catalogSuffix   = ".catalog.gz"
)

// appliedName returns the name of the files for a site on a root.
func appliedName(site, root string) string {
	sum := sha256.Sum256([]byte(site + "\x00" + root))
	return filepath.Join(appliedDir, hex.EncodeToString(sum[:8]))
}

// applied compares what a run wants with what was wanted before.
type applied struct {
	s          *Store
	site, root string
	// look is set if nothing may be written.
	look bool

	head   Applied
	headed bool
	loaded bool
	list   []wish
	byID   map[string]wish
	// lazy is the resources of which not all was known when they were declared, as
	// they were when their turn had come.
	lazy map[resource.ID]*resource.Resource
}

// managed reports whether a run may change the resource.
func managed(r *resource.Resource) bool {
	return r.Skip == "" && r.Restraint() == resource.Unrestrained
}

// cause implements Run.Cause.
func (a *applied) cause(r *resource.Resource, wish resource.Told, text func() string) converge.Cause {
	a.load()
	old, known := a.byID[r.ID.String()]
	spec, _ := a.fingerprint(r)
	// What is there may be from before its secrets were known to be some.
	plain, _ := fingerprint(r)
	switch {
	case !known:
		return converge.New
	case old.spec != spec && old.spec != plain || !a.sameWish(r, old.found, wish, text):
		return converge.Intended
	}
	return converge.Corrective
}

// readHead reads the first line of the file. What cannot be read is as good as
// not there.
func (a *applied) readHead() {
	if a.headed {
		return
	}
	a.headed = true
	f, err := os.Open(a.s.path(a.name() + wishesSuffix))
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, _ := io.ReadFull(f, buf)
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	if json.Unmarshal(line, &a.head) != nil || a.head.Protocol != appliedProtocol {
		a.head = Applied{}
	}
}

func (a *applied) name() string { return appliedName(a.site, a.root) }

// load reads the file. A damaged one is set aside and what is good of it used.
func (a *applied) load() {
	if a.loaded {
		return
	}
	a.loaded = true
	a.readHead()
	name := a.name() + wishesSuffix
	text, err := os.ReadFile(a.s.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	damaged := err != nil || a.head.Protocol == ""
	most := bytes.Count(text, []byte("\n"))
	a.byID, a.list = make(map[string]wish, most), make([]wish, 0, most)
	first := true
	for line := range strings.Lines(string(text)) {
		if first {
			first = false
			continue
		}
		w, err := parseWish(strings.TrimSuffix(line, "\n"))
		if err != nil {
			damaged = true
			continue
		}
		a.list = append(a.list, w)
		a.byID[w.id] = w
	}
	if damaged {
		a.head.Fingerprint = ""
	}
	if damaged && !a.look {
		a.s.setAside(name, "it is damaged: causes of changes may be told wrong in this run")
	}
}

// end records what was applied, unless that is recorded already. Resolved is the
// resources of which not all was known when they were declared.
func (a *applied) end(c *catalog.Catalog, run string, results map[resource.ID]result, resolved map[resource.ID]*resource.Resource) error {
	a.readHead()
	if len(resolved) == 0 && a.unchanged(c, results) {
		return nil
	}
	a.load()
	a.lazy = resolved
	list, now := a.next(c, results)
	if sum := sumOf(list); slices.Equal(list, a.list) && a.head.Fingerprint == sum && a.hasCatalog() {
		return nil
	}
	if err := a.s.makeDir(appliedDir); err != nil {
		return err
	}
	if err := a.writeCatalog(list, now); err != nil {
		return err
	}
	return a.s.replace(a.name()+wishesSuffix, a.durable(), func(w io.Writer) error { return a.write(w, run, list) })
}

// durable reports whether what was applied has to survive a loss of power. What
// the command line wants is written too often for that: without it, a cause is
// told wrong once.
func (a *applied) durable() bool { return a.site != "" }

// unchanged reports whether what was applied is plainly what is recorded.
func (a *applied) unchanged(c *catalog.Catalog, results map[resource.ID]result) bool {
	if a.head.Fingerprint == "" || len(c.Rest) > 0 {
		return false
	}
	for _, res := range results {
		if res.outcome != converge.Changed || res.found != (resource.Told{}) {
			return false
		}
	}
	for _, r := range c.Resources {
		if !managed(r) {
			return false
		}
	}
	var sum uint64
	for _, all := range a.fingerprints(c.Resources) {
		sum = schema.Mixed(sum, all)
	}
	return a.head.Fingerprint == fmt.Sprintf("%016x", sum) && a.hasCatalog()
}

func sumOf(list []wish) string {
	var sum uint64
	for _, w := range list {
		sum = schema.Mixed(sum, w.all)
	}
	return fmt.Sprintf("%016x", sum)
}

func (a *applied) hasCatalog() bool {
	_, err := os.Stat(a.s.path(a.name() + catalogSuffix))
	return err == nil
}

// next returns what is to be recorded, and the resources whose present
// declaration is part of it. Of what is not in order now, what was wanted before
// stays.
func (a *applied) next(c *catalog.Catalog, results map[resource.ID]result) (list []wish, now map[string]*resource.Resource) {
	now = make(map[string]*resource.Resource, len(c.Resources))
	keep := func(id string) {
		if old, ok := a.byID[id]; ok {
			list = append(list, old)
		}
	}
	for _, r := range c.Resources {
		id := r.ID.String()
		res, ok := results[r.ID]
		switch {
		case r.Skip != "":
		case !managed(r) || ok && res.outcome != converge.Changed && res.outcome != converge.Stable:
			keep(id)
		default:
			w := wish{id: id, found: res.found}
			w.spec, w.all = a.fingerprint(r)
			x := a.lazy[r.ID]
			w.found = w.completed(a.byID[id], x != nil)
			now[id] = r
			if x != nil {
				if res.found == (resource.Told{}) {
					w.found = withFingerprint(w.found, x.Type.Schema().Fingerprint(x.Spec))
				}
				now[id] = x
			}
			list = append(list, w)
		}
	}
	for _, l := range c.Rest {
		keep(l.ID.String())
	}
	if a.site == "" {
		list = a.withOthers(list)
	}
	return list, now
}

// withOthers returns all that is recorded, with list in it: what was declared on
// the command line was not declared together.
func (a *applied) withOthers(list []wish) []wish {
	now := make(map[string]wish, len(list))
	for _, w := range list {
		now[w.id] = w
	}
	var all []wish
	for _, w := range a.list {
		if x, ok := now[w.id]; ok {
			delete(now, w.id)
			w = x
		}
		all = append(all, w)
	}
	for _, w := range list {
		if _, ok := now[w.id]; ok {
			delete(now, w.id)
			all = append(all, w)
		}
	}
	return all
}

func (a *applied) write(w io.Writer, run string, list []wish) error {
	head, err := json.Marshal(Applied{
		Protocol: appliedProtocol, Site: a.site, Root: a.root, Run: run, Time: a.s.clock.Now().UTC(), Fingerprint: sumOf(list),
	})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.Write(append(head, '\n'))
	for _, x := range list {
		fmt.Fprintln(&text, x)
	}
	_, err = w.Write(text.Bytes())
	return err
}

// Applied returns what was applied, the latest first.
func (s *Store) Applied() ([]Applied, error) {
	files, err := os.ReadDir(s.path(appliedDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var list []Applied
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), wishesSuffix)
		if !ok || strings.HasPrefix(base, ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.path(appliedDir), f.Name()))
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		x := Applied{}
		if json.Unmarshal(line, &x) != nil || x.Protocol != appliedProtocol {
			s.warn(filepath.Join(s.path(appliedDir), f.Name()) + " is damaged")
			continue
		}
		x.name = filepath.Join(appliedDir, base)
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b Applied) int { return b.Time.Compare(a.Time) })
	return list, err
}
