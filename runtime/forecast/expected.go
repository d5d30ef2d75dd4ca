package forecast

import (
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// recordExpected makes the event of an unknown resource pending and uncertain if a run will change the
// resource whatever the earlier ones bring, unless they bring exactly what it wants. For later resources
// it stays unknown.
func (f *Forecaster) recordExpected(ev *event.Event) {
	if !f.planning || f.past || ev.Outcome != event.Unknown || !f.isExpected(ev) {
		return
	}
	if f.expected == nil {
		f.expected = make(map[int]bool)
	}
	f.expected[ev.Index], ev.Outcome, ev.Uncertain = true, event.Pending, true
}

// isExpected reports whether a run will change an unknown resource, unless an earlier one brings
// exactly what it wants.
func (f *Forecaster) isExpected(ev *event.Event) bool {
	r, x := ev.Resource, ev.Forecast
	if x == nil || x.Outcome != event.Pending || x.Uncertain || len(ev.Because) == 0 || resource.TraitsOf(r.Spec).IsUncertain && !ev.Refreshed {
		return false
	}
	if isRemoval(r) {
		return f.isAmongEntries(r, f.suspects.of(ev.Index, f.looks), false)
	}
	if e, ok := r.Spec.(resource.FileEditor); ok && e.EditedFile() != "" { // the line may be in what others bring
		return false
	}
	if slices.ContainsFunc(x.Actions, func(a resource.Action) bool { return a.Intent != "" }) {
		return false
	}
	if f.isBroughtByNone(ev) || isCreation(x.Diff) && f.isAmongEntries(r, f.suspects.of(ev.Index, f.looks), true) {
		return true
	}
	switch {
	case len(r.LazyProperties) > 0:
		return isCreation(x.Diff)
	case x.Refresh:
		return slices.ContainsFunc(f.catalog.Deps[ev.Index], func(d catalog.Dep) bool {
			return d.Refresh && f.expected[d.Index] && r.ConcernedBy(f.catalog.Resources[d.Index])
		})
	case isService(r):
		return x.Once || ev.BecauseSurely && f.isInstalled(ev)
	case x.Once && ev.Refreshed: // only something that it needs is missing
		return true
	case x.Once && !x.MayExist && isCreation(x.Diff), isCreation(x.Diff) && !ev.BecauseSurely && f.isInstalled(ev) && len(f.assumedKindUnknown(ev)) == 0 && f.isBroughtByNobody(r):
		return true
	}
	whole, ok := r.Spec.(resource.WholeSetter)
	return ok && whole.SetsWhole(isCreation(x.Diff))
}

// isBroughtByNobody reports whether a resource manages paths of which no earlier resource with unknown effects is known to
// bring one: what may be there by then is a directory above them.
func (f *Forecaster) isBroughtByNobody(r *resource.Resource) bool {
	paths, _ := managedBy(r)
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		name := f.view.Overlay().PathOf(p)
		for range f.suspects.effects.matching(overlay.Look{Kind: overlay.PathLook, Name: name}, false) {
			return true
		}
		return false
	})
}

// isBroughtByNone reports whether the lists of files show that no package brings what the resource of an event makes, and
// all its other suspects have known effects elsewhere.
func (f *Forecaster) isBroughtByNone(ev *event.Event) bool {
	made, _ := managedBy(ev.Resource)
	if runs := resource.TraitsOf(ev.Resource.Spec).Command != nil; runs && f.looks != nil { // what it creates
		for _, l := range f.looks.List() {
			if !l.Found && l.Kind == overlay.PathLook {
				made = append(made, l.Name)
			}
		}
	} else if !isCreation(ev.Forecast.Diff) {
		return false
	}
	for _, p := range made {
		p = f.view.Overlay().PathOf(p)
		if slices.ContainsFunc(f.suspects.suspectsOf[ev.Index], func(k int) bool { return f.suspects.mayBring(k, p) }) {
			return false
		}
	}
	return len(made) > 0
}

// isAmongEntries reports whether all suspects of an unknown resource are of its type, which names paths, and change only
// files that are known and what commands report, as mounts do: each makes or removes an entry of its own. Suspects of
// these suspects do not count. Unless the resource makes its entry, neither it nor a suspect may name the other.
func (f *Forecaster) isAmongEntries(r *resource.Resource, suspects []suspect, creates bool) bool {
	paths, _ := managedBy(r)
	text, _ := declarationText(f.view, r)
	var entries []int
	for _, s := range suspects {
		x := f.suspects.effects.byIndex[s.index]
		switch {
		case x != nil && x.onlyCommands && x.r.Type == r.Type:
			if other, _ := declarationText(f.view, x.r); !creates && (strings.Contains(other, r.ID.Name) || strings.Contains(text, x.r.ID.Name)) {
				return false
			}
			entries = append(entries, s.index)
		case s.rank < mayBe || !slices.ContainsFunc(entries, func(k int) bool { return slices.Contains(f.suspects.suspectsOf[k], s.index) }):
			return false
		}
	}
	return len(paths) > 0 && len(entries) > 0
}

// mayBring reports whether resource k may bring something to a path, as far as its effects and the lists of files tell.
func (s *suspectFinder) mayBring(k int, name string) bool {
	if x := s.effects.byIndex[k]; x != nil {
		return !x.bringsNot(name)
	}
	paths, tree := managedBy(s.catalog.Resources[k])
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		p = s.view.Overlay().PathOf(p)
		return p == name || tree && strings.HasPrefix(name, p+"/")
	})
}

// isInstalled reports whether the surest reason of an unknown resource installs files, as packages do.
func (f *Forecaster) isInstalled(ev *event.Event) bool {
	first := f.suspects.suspectsOf[ev.Index]
	return len(first) > 0 && f.suspects.effects.byIndex[first[0]] != nil && f.suspects.effects.byIndex[first[0]].installsFiles
}

// isCreation reports whether differences say that something is missing that is to be there.
func isCreation(diff []resource.Delta) bool {
	return slices.ContainsFunc(diff, func(d resource.Delta) bool {
		return d.Property == "ensure" && d.Have == "absent" && !resource.IsAbsent(d.Want)
	})
}
