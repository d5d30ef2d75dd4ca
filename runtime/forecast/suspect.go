package forecast

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A plan knows all effects of most pending resources: the view shows them. Of the other ones it
// knows only possible effects. A resource whose status depends on a possible effect is unknown
// because of it.
//
// The plan assumes that an unknown effect spares the paths and units that another resource of the
// site manages. There are two exceptions. A declaration that mentions a missing path may provide
// that path. A declaration that mentions something in a directory may provide that.

// mostSuspects is the largest number of suspects kept for a resource: the surest ones.
const mostSuspects = 100

// A rank says why a resource is a suspect: the lower, the surer it is.
type rank uint8

const (
	declared rank = iota // the order says that one comes after the other
	fits                 // its path or name is the one that was looked at
	mayBe                // nothing speaks against it
)

// A suspect is a pending or unknown resource that may change the result of a look.
type suspect struct {
	index int
	rank  rank
}

// A suspectFinder finds the resources that may change the looks of a later resource.
type suspectFinder struct {
	*planState
	// effects are the pending and unknown resources with effects that a plan does not know.
	effects incompleteEffects
	// ancestry is the ancestry asked for last.
	ancestry ancestry
	// managers are the resources that manage a path; nil until needed.
	managers map[string][]manager
	// suspectsOf has the suspects of each unknown resource.
	suspectsOf map[int][]int
	// failing is set if the resource whose turn it is would fail.
	failing bool
	// asked are the words of the commands that the resource whose turn it is has run to look.
	asked []string
	// excluded are resources that count as not there; nil except in hiddenSuspects.
	excluded map[any]bool
}

// of returns the resources that may change the looks of resource i, the surest first.
func (s *suspectFinder) of(i int, looks *overlay.Looks) []suspect {
	if looks == nil {
		return nil
	}
	ranks := make(map[int]rank)
	blame := func(k int, why rank) {
		if old, ok := ranks[k]; s.excluded[k] {
			return
		} else if !ok || why < old {
			ranks[k] = why
		}
	}
	doubts := looks.Doubts()
	for _, by := range doubts {
		if k, ok := by.(int); ok && k != i {
			blame(k, fits)
		}
	}
	if len(doubts) >= overlay.MostCreators { // some may be left out: not those that the site names
		for _, k := range s.ancestorsOf(i).unsettled {
			if s.effects.byIndex[k] != nil {
				blame(k, declared)
			}
		}
	}
	list := looks.List()
	s.asked = s.asked[:0]
	for _, look := range list {
		if _, words, _ := strings.Cut(look.Name, " "); look.Kind == overlay.CommandLook {
			s.asked = append(s.asked, strings.Fields(words)...)
		}
	}
	if resource.TraitsOf(s.catalog.Resources[i].Spec).IsUncertain {
		list = looks.ListReads()
	}
	if s.dependsOnAnything(i, list) {
		for _, k := range s.ancestorsOf(i).unsettled {
			blame(k, declared)
		}
	}
	if len(list) == 0 && s.failing { // it failed without a recorded look
		for _, k := range s.ancestorsOf(i).unsettled {
			if s.effects.byIndex[k] != nil {
				blame(k, declared)
			}
		}
		for _, x := range s.effects.list {
			if len(ranks) >= mostSuspects {
				break
			}
			blame(x.index, mayBe)
		}
	}
	for _, look := range list {
		for _, by := range s.accountsIn(i, look) {
			if k, ok := by.(int); ok && k != i {
				blame(k, fits)
			}
		}
		for k, why := range s.influences(i, look) {
			if len(ranks) >= mostSuspects && why == mayBe || len(ranks) >= 2*mostSuspects {
				break
			}
			blame(k, why)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(ranks)) {
		if len(ranks) >= mostSuspects {
			break
		}
		for _, deeper := range s.suspectsOf[k] { // suspects that the possible effects of k hide
			blame(deeper, mayBe)
		}
	}
	all := make([]suspect, 0, len(ranks))
	for k, why := range ranks {
		if s.comesAfter(i, k) {
			why = declared
		}
		all = append(all, suspect{k, why})
	}
	slices.SortFunc(all, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(s.outcomes[a.index], s.outcomes[b.index]), cmp.Compare(a.index, b.index))
	})
	return all[:min(len(all), mostSuspects)]
}

// accountsIn returns who changes the users and groups in a file that resource i looks at. Types in
// Lua ask for pending users and groups by name instead, unless they edit the file.
func (s *suspectFinder) accountsIn(i int, look overlay.Look) []any {
	if look.Kind != overlay.PathLook && look.Kind != overlay.TreeLook || !overlay.HoldsAccounts(look.Name, look.Kind == overlay.TreeLook) {
		return nil
	}
	if own, ok := s.catalog.Resources[i].Spec.(*resource.Properties); ok && own.EditedFile() == "" {
		return nil
	}
	return host.AccountAuthors(s.view)
}

// bringers returns the packages to be installed that may make the user or group of resource i: they share its name.
func (s *suspectFinder) bringers(i int, effects []overlay.PathEffect) (list []suspect) {
	name := s.catalog.Resources[i].ID.Name
	if !slices.ContainsFunc(effects, func(p overlay.PathEffect) bool {
		return p.Account != nil && !p.Account.Absent && p.Account.Name == name
	}) {
		return nil
	}
	for _, x := range s.effects.list {
		if x.installsFiles && !x.removes && !s.excluded[x.index] && len(list) < mostSuspects && slices.ContainsFunc(x.names, func(pkg string) bool { return sharesName(pkg, name) }) {
			list = append(list, suspect{x.index, fits})
		}
	}
	return list
}

// dependsOnAnything reports whether the looks of resource i may depend on any earlier resource.
func (s *suspectFinder) dependsOnAnything(i int, list []overlay.Look) bool {
	if !resource.TraitsOf(s.catalog.Resources[i].Spec).IsUncertain {
		return false
	}
	return len(list) == 0 || slices.ContainsFunc(list, func(l overlay.Look) bool { return l.Kind == overlay.CommandLook })
}

// mayProvide reports whether a resource may provide the thing that resource i did not find.
func (s *suspectFinder) mayProvide(i int, look overlay.Look) bool {
	for range s.influences(i, look) {
		return true
	}
	return false
}

// influences yields the resources with incomplete effects that may change a look of resource i,
// and why. Resources that have nothing in common with the look come last. If a resource comes
// twice, the lower rank counts.
func (s *suspectFinder) influences(i int, look overlay.Look) iter.Seq2[int, rank] {
	return func(yield func(int, rank) bool) {
		if len(s.effects.list) == 0 || look.Kind.MattersMissing() && (look.Found || !s.failing) {
			return
		}
		mayDiffer := s.mayDiffer(i, look, true)
		maker, removal := s.unitMaker(i), look.Kind <= overlay.TreeLook && isRemoval(s.catalog.Resources[i])
		differs := func(x *incompleteEffect) bool { return x.index >= maker && !(removal && x.bringsNot(look.Name)) }
		for _, k := range s.ancestorsOf(i).unsettled {
			x := s.effects.byIndex[k]
			if x == nil || x.onlyCommands && !s.mayReport(i, look, x) || s.spares(x, i, look) || !differs(x) {
				continue
			}
			// Another resource of the type manages another thing, and commands report only on what they name.
			reported := x.onlyCommands && x.r.Type != s.catalog.Resources[i].Type
			if (mayDiffer || reported || s.effects.matches(x, look) && s.matchCounts(x, look)) && !yield(k, declared) {
				return
			}
		}
		for x := range s.matching(look) {
			if x.index != i && s.matchCounts(x, look) && differs(x) && !yield(x.index, fits) {
				return
			}
		}
		if !s.mayDiffer(i, look, false) {
			return
		}
		for _, x := range s.effects.unrelatedTo(s.catalog.Resources[i], look) {
			if x.index != i && !s.spares(x, i, look) && differs(x) && !yield(x.index, mayBe) {
				return
			}
		}
	}
}

// spares reports whether x, a package to be installed, has nothing to do with a look of resource i. It brings nothing
// where packages bring nothing, unless the path has its name. It neither starts nor enables a service of another name
// that is there. Of other packages it installs those that were predicted.
func (s *suspectFinder) spares(x *incompleteEffect, i int, look overlay.Look) bool {
	if !x.installsFiles || x.removes {
		return false
	}
	r := s.catalog.Resources[i]
	switch {
	case isService(r):
		return !s.failing && !x.hasName(r.ID.Name) && !slices.ContainsFunc(s.asked, x.hasName)
	case look.Kind <= overlay.TreeLook:
		return isLocal(look.Name) && !s.effects.matches(x, look)
	}
	return r.Type == x.r.Type && x.predicted && look.Kind != overlay.RepositoryLook
}

// unitMaker returns the resource that is going to make the unit or script of resource i, a service, that is not there now:
// no earlier one can start or enable the service. It returns -1 for none.
func (s *suspectFinder) unitMaker(i int) int {
	r := s.catalog.Resources[i]
	if !isService(r) {
		return -1
	}
	unit, maker := r.ID.Name, -1
	if path.Ext(unit) != ".service" {
		unit += ".service"
	}
	for _, file := range []string{"/etc/systemd/system/" + unit, "/run/systemd/system/" + unit, "/usr/lib/systemd/system/" + unit, "/etc/init.d/" + r.ID.Name} {
		if isMissing(s.view, file) {
			continue
		}
		if !s.isManaged(file) || maker >= 0 || len(s.managers[file]) == 0 {
			return -1
		}
		if maker = s.managers[file][0].index; maker >= i || s.outcomes[maker] != event.Pending || !isMissing(s.view.Without(map[any]bool{maker: true}), file) {
			return -1
		}
	}
	return maker
}

// isMissing reports whether nothing is at a path, nor will be.
func isMissing(v *host.View, name string) bool {
	info, err := v.Recording(nil).Lstat(name)
	return err == nil && info.Kind == safepath.Missing
}

// isLocal reports whether a path is in a part of the file system that is the administrator's (FHS 3.0).
func isLocal(name string) bool {
	return slices.ContainsFunc([]string{"/usr/local", "/srv", "/home", "/root", "/media", "/mnt"}, func(dir string) bool {
		return name == dir || strings.HasPrefix(name, dir+"/")
	})
}

// mayReport reports whether a command that resource i runs may report an effect that only commands
// report: a guard may, and so may a program that the type of x calls itself.
func (s *suspectFinder) mayReport(i int, look overlay.Look, x *incompleteEffect) bool {
	if look.Kind != overlay.CommandLook {
		return false
	}
	spec := s.catalog.Resources[i].Spec
	if _, own := spec.(*resource.Properties); !own || resource.TraitsOf(spec).IsUncertain {
		return resource.TraitsOf(spec).IsUncertain
	}
	program, _, _ := strings.Cut(look.Name, " ")
	of, ok := x.r.Spec.(*resource.Properties)
	return !ok || of.ReportedBy(path.Base(program))
}

// mayDiffer reports whether a resource that has nothing in common with a look of resource i may
// still change it. After says that i comes after that resource.
func (s *suspectFinder) mayDiffer(i int, look overlay.Look, after bool) bool {
	spec := s.catalog.Resources[i].Spec
	if _, own := spec.(*resource.Properties); own && !s.failing {
		if look.Kind <= overlay.TreeLook {
			return false // it looks at its own paths
		}
		after = after && (look.Kind != overlay.CommandLook || !namesSomething(look.Name))
	}
	switch look.Kind {
	case overlay.CommandLook:
		return after || resource.TraitsOf(spec).IsUncertain
	case overlay.PathLook, overlay.TreeLook:
		return !s.isManaged(look.Name) && (after || !look.Found || !isOfSite(s.catalog.Resources[i], look.Name))
	case overlay.RepositoryLook:
		return !look.Found
	}
	return true
}

// matching yields the incomplete effects that have the path or name of a look and may count.
func (s *suspectFinder) matching(look overlay.Look) iter.Seq[*incompleteEffect] {
	isPath := look.Kind == overlay.PathLook || look.Kind == overlay.TreeLook
	if !isPath || !s.isManaged(look.Name) {
		return s.effects.matching(look, false)
	}
	return func(yield func(*incompleteEffect) bool) {
		for x := range s.effects.matching(look, true) {
			if !yield(x) {
				return
			}
		}
		if !mayBeProvided(look) {
			return
		}
		for _, x := range s.effects.mentions[look.Name] {
			if !yield(x) {
				return
			}
		}
	}
}

// mayBeProvided reports whether a resource that mentions the path of a look may provide it, or
// something in it, though another resource manages the path.
func mayBeProvided(look overlay.Look) bool { return !look.Found || look.Kind == overlay.TreeLook }

// matchCounts reports whether a resource that has the path or name of a look may change the look.
func (s *suspectFinder) matchCounts(x *incompleteEffect, look overlay.Look) bool {
	switch look.Kind {
	case overlay.PathLook, overlay.TreeLook:
		return !s.isManaged(look.Name) || !look.Found && x.installsFiles || look.Found && x.removes || mayBeProvided(look) && s.effects.mentionsPath(x, look.Name)
	case overlay.RepositoryLook:
		return !look.Found && (!x.installsFiles || x.mayAddRepository()) // a package does not provide a repository of a similar name
	}
	return true
}

// A manager is a resource that manages a path.
type manager struct {
	index int
	tree  bool // it also manages everything below the path
}

// isManaged reports whether a resource of the site manages a path, or a directory above it with
// its whole tree.
func (s *suspectFinder) isManaged(name string) bool {
	if s.managers == nil {
		s.managers = make(map[string][]manager)
		for i, r := range s.catalog.Resources {
			paths, tree := managedBy(r)
			for _, p := range paths {
				s.managers[p] = append(s.managers[p], manager{i, tree})
				if real := s.view.Overlay().PathOf(p); real != p {
					s.managers[real] = append(s.managers[real], manager{i, tree})
				}
			}
		}
	}
	counts := func(m manager) bool { return !s.excluded[m.index] }
	if slices.ContainsFunc(s.managers[name], counts) {
		return true
	}
	for at := path.Dir(name); at != "/" && at != "."; at = path.Dir(at) {
		if slices.ContainsFunc(s.managers[at], func(m manager) bool { return m.tree && counts(m) }) {
			return true
		}
	}
	return false
}

// managedBy returns the paths that a resource manages. Tree says that it also manages everything
// below them.
func managedBy(r *resource.Resource) (list []string, tree bool) {
	if filepath.IsAbs(r.ID.Name) && r.Spec != nil && resource.TraitsOf(r.Spec).Command == nil {
		list = append(list, path.Clean(r.ID.Name))
	}
	if c, ok := r.Spec.(resource.EffectBound); ok {
		var paths []string
		paths, tree = c.ConfinedTo()
		list = append(list, paths...)
	}
	return list, tree
}

// isOfSite reports whether a file is in the directory, or below it, of the script or manifest
// that declares a resource.
func isOfSite(r *resource.Resource, name string) bool {
	file := r.Pos.File
	if file == "" {
		return false
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	return err == nil && dir != "/" && strings.HasPrefix(name, dir+"/")
}
