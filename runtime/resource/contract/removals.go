package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A keptError is the reason why the engine performs none of the actions: they would remove data
// that no run has created.
type keptError struct{ reason string }

// Error returns the reason.
func (e *keptError) Error() string { return e.reason }

// kept returns a keptError, or the error of the engine's rules for removals, or nil. Partial says
// that the actions have to keep something.
func (x Trial) kept(ctx context.Context, v *host.View, d resource.Decision) (partial bool, err error) {
	c := new(resource.Removals).Check(ctx, v, x.resource(), d)
	if c.KeepReason != "" {
		return false, &keptError{c.KeepReason}
	}
	return c.Partial != nil, c.Err
}

// resource returns the trial's resource, as the engine has it.
func (x Trial) resource() *resource.Resource {
	return &resource.Resource{Type: x.Binding.Type, Spec: x.Want, Common: resource.EmptyCommon}
}

// protected returns the host for the actions of a decision, as the engine has it.
func (x Trial) protected(ctx context.Context, h *host.Host, d resource.Decision) *host.Host {
	return new(resource.Removals).Protect(ctx, h, x.resource(), d)
}

// removes reports whether the wanted state is that there is nothing.
func (x Trial) removes() bool {
	want, ok := x.Want.(resource.EnsureReporter)
	return ok && resource.IsAbsent(want.WantedEnsure())
}

// checkRemoved returns an error if the actions have removed what the engine could not know of: a
// directory that is not among the effects, or what is below one.
func (x Trial) checkRemoved(d resource.Decision, before, after map[string]string) error {
	if !x.removes() || len(d.Actions) == 0 {
		return nil
	}
	var clean, keeps []string
	named := make(map[string]bool)
	for _, e := range d.Effects {
		if e.Removes() {
			named[e.Path] = true
			if e.Keeps != nil {
				clean = append(clean, e.Path)
			}
			for _, rel := range e.Keeps {
				keeps = append(keeps, filepath.Join(e.Path, rel))
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		_, stays := after[p]
		parent, inDirectory := before[filepath.Dir(p)]
		_, parentStays := after[filepath.Dir(p)]
		if !stays && !named[p] && (!isBelow(p, clean) || isBelow(p, keeps) || slices.Contains(keeps, p)) && inDirectory && !parentStays && parent != "" {
			return &breach{fmt.Sprintf("%s removed %s, which its effects do not name", phrases(d), p)}
		}
	}
	return nil
}

// foreignName is the name of the files that checkForeign adds.
const foreignName = "not-of-ccm"

// checkForeign returns an error if the actions remove files that were added to the machine.
func (x Trial) checkForeign(ctx context.Context, root string, clock host.Clock) error {
	if !x.removes() || x.WithData {
		return nil
	}
	again, err := os.MkdirTemp(filepath.Dir(root), "foreign")
	if err != nil {
		return err
	}
	defer os.RemoveAll(again)
	run, err := x.Start(again)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	h := host.New(host.Options{Root: again, Runner: x.Watch(run), Clock: clock})
	decide := func() (d resource.Decision, ok bool) {
		have, err := x.Binding.Status(ctx, &h.View, x.Want)
		if err == nil {
			d = x.Binding.Type.Decide(x.Want, have, false)
		}
		return d, err == nil && d.Err == nil
	}
	d, _ := decide()
	var added []string
	for _, e := range d.Effects {
		if info, err := os.Lstat(filepath.Join(again, e.Path)); !e.Removes() || err != nil || !info.IsDir() {
			continue
		}
		for _, dir := range []string{e.Path, filepath.Dir(e.Path)} {
			file := filepath.Join(again, dir, foreignName)
			added = append(added, file)
			if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
				return err
			}
		}
	}
	d, ok := decide()
	if len(added) == 0 || !ok {
		return nil
	}
	if _, err := x.kept(ctx, &h.View, d); err != nil {
		return nil
	}
	for _, a := range d.Actions {
		if err := x.Binding.Perform(ctx, x.protected(ctx, h, d), x.Want, a); err != nil {
			break // what is there stays, as it should
		}
	}
	for _, file := range added {
		if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
			return &breach{fmt.Sprintf("%s removed %s, which no run has created", phrases(d), file[len(again):])}
		}
	}
	return nil
}
