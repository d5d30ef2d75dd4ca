package forecast

import (
	"path"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// assumeMayAct adds the possible effects of an unknown resource to the view for later resources.
// D is its decision, nil if there is none.
func (f *Forecaster) assumeMayAct(ev *event.Event, d *resource.Decision) {
	r := ev.Resource
	if !f.planning || r.IsOnlyPlanned() {
		return
	}
	f.view.Overlay().ProposeRoom(nil)
	f.view.Overlay().ClaimRoom(false) // it may free any
	if d != nil && d.Err == nil && (d.Complete || len(d.Actions) == 0 && isConfined(r)) {
		f.view.Overlay().Assume(ev.Index, true, d.Effects...)
		if len(d.Actions) > 0 {
			return
		}
	}
	if paths := confinesOf(r); len(paths) > 0 {
		there := d == nil && f.willExist(r)
		name, _, _ := resource.BoundsOf(r.Spec)
		for _, p := range paths {
			if p == name && isRemoval(r) { // it makes no directories above the path
				f.view.Overlay().Assume(ev.Index, true, overlay.PathEffect{Path: p})
				continue
			}
			f.view.Overlay().Assume(ev.Index, !there, overlay.PathEffect{Path: p, Unsure: !there, Vague: there})
		}
		return
	}
	if d != nil && len(d.Effects) > 0 {
		f.view.Overlay().Assume(ev.Index, true, d.Effects...)
	}
	if x, ok := r.Type.DecideFresh(f.view, r.Spec); ok && x.Err == nil && x.Complete { // all that it can do is known
		f.assumePossible(ev.Index, x.Effects)
		return
	}
	if d == nil {
		d = &resource.Decision{}
	}
	if own, ok := r.Spec.(*resource.Properties); ok && len(d.Actions) == 0 {
		if effects, only := own.EffectsWithoutState(); only {
			f.assumePossible(ev.Index, effects)
			d.FilesComplete = true
		}
	}
	p, predicted := f.predictions[ev.Index]
	f.suspects.addIncompleteEffect(ev.Index, *d, p, predicted)
	f.assumeUnknown(ev.Index, resource.Decision{})
}

// assumePossible adds effects to the view that resource i may have but is not expected to have.
func (f *Forecaster) assumePossible(i int, effects []overlay.PathEffect) {
	if !f.planning || f.catalog.Resources[i].IsOnlyPlanned() {
		return
	}
	for _, p := range effects {
		if p.Account != nil {
			a := *p.Account
			a.Unsure = true
			f.view.Overlay().Assume(i, true, overlay.PathEffect{Account: &a})
			continue
		}
		f.view.Overlay().Assume(i, true, overlay.PathEffect{Path: p.Path, OfSystem: p.OfSystem, Unsure: true})
	}
}

// willExist reports whether a resource with lazy values will exist.
func (f *Forecaster) willExist(r *resource.Resource) bool {
	want, ok := r.Spec.(resource.EnsureReporter)
	name, _, _ := resource.BoundsOf(r.Spec)
	if !ok || name == "" || len(r.LazyProperties) == 0 || slices.Contains(r.LazyProperties, "ensure") || resource.IsAbsent(want.WantedEnsure()) {
		return false
	}
	is, err := f.view.IsDirectory(path.Dir(name))
	return err == nil && is
}

// assumeUnknown marks the paths that resource i manages as unknown in the view, except the paths
// in the effects of its decision.
func (f *Forecaster) assumeUnknown(i int, d resource.Decision) {
	paths, _ := managedBy(f.catalog.Resources[i])
	for _, p := range paths {
		if !slices.ContainsFunc(d.Effects, func(x overlay.PathEffect) bool { return x.Path == p }) {
			f.view.Overlay().Assume(i, false, overlay.PathEffect{Path: p, Unsure: true})
		}
	}
}

func isConfined(r *resource.Resource) bool { return len(confinesOf(r)) > 0 }

// confinesOf returns the paths that bound the effects of a resource: all its effects are at or
// below them. It returns none if the resource may have other effects.
func confinesOf(r *resource.Resource) []string {
	c, ok := r.Spec.(resource.EffectBound)
	if !ok {
		return nil
	}
	paths, _ := c.ConfinedTo()
	return paths
}

// assume adds the effects of the event's resource, which is pending, to the view.
func (f *Forecaster) assume(ev *event.Event, d resource.Decision) {
	if ev.Resource.IsOnlyPlanned() {
		return
	}
	f.view.Overlay().Assume(ev.Index, f.conditional[ev.Index], d.Effects...)
	installs := resource.TraitsOf(ev.Resource.Spec).BringsFiles
	f.view.Overlay().ClaimRoom(d.Complete || d.FilesComplete || installs && !isRemoval(ev.Resource))
	if !d.Complete {
		p, predicted := f.predictions[ev.Index]
		f.suspects.addIncompleteEffect(ev.Index, d, p, predicted)
		f.assumeUnknown(ev.Index, d)
		f.assumeBrought(ev.Index)
	}
}

// assumeBrought adds the files to the view that the package of resource i is known to bring, and that a later resource
// removes.
func (f *Forecaster) assumeBrought(i int) {
	x := f.suspects.effects.byIndex[i]
	if !f.planning || x == nil || x.files == nil || f.conditional[i] {
		return
	}
	for _, r := range f.catalog.Resources[i+1:] {
		name, _, _ := resource.BoundsOf(r.Spec)
		if name == "" || !isRemoval(r) {
			continue
		}
		name = f.view.Overlay().PathOf(name)
		if x.matches(overlay.Look{Kind: overlay.PathLook, Name: name}) && x.files.IsKnown() && x.files.Brings(x.names, name) {
			f.view.Overlay().Assume(i, false, overlay.PathEffect{Path: name, Kind: safepath.Regular, Vague: true})
		}
	}
}
