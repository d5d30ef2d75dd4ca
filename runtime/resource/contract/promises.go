package contract

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// The abilities of a spec (package resource, abilities.go) are promises on which the engine
// relies. The checks here compare each promise with what the provider did.

// checkBounds returns an error if a path was changed that is outside of the bounds that the spec
// promises.
func (x Trial) checkBounds(before, after map[string]string) error {
	if x.Imagined {
		return nil
	}
	var list []string
	for _, p := range union(before, after) {
		if before[p] != after[p] && !(leftover().MatchString(p) && after[p] == "") {
			list = append(list, p)
		}
	}
	outside := func(what string, ok func(p string) bool) error {
		if i := slices.IndexFunc(list, func(p string) bool { return !ok(p) }); i >= 0 {
			return &breach{fmt.Sprintf("%s was changed, outside of %s", list[i], what)}
		}
		return nil
	}
	if name, _, acts := resource.BoundsOf(x.Want); acts {
		if err := outside("the bounds "+name, func(p string) bool { return isBelow(p, []string{name}) }); err != nil {
			return err
		}
	}
	if e, ok := x.Want.(resource.FileEditor); ok && e.EditedFile() != "" {
		if err := outside("the edited file "+e.EditedFile(), func(p string) bool { return p == e.EditedFile() }); err != nil {
			return err
		}
	}
	c, ok := x.Want.(resource.EffectBound)
	if !ok {
		return nil
	}
	paths, tree := c.ConfinedTo()
	if len(paths) == 0 {
		return nil
	}
	return outside(strings.Join(paths, ", "), func(p string) bool {
		isParent := slices.ContainsFunc(paths, func(of string) bool { return isBelow(of, []string{p}) })
		isGone := slices.ContainsFunc(paths, func(of string) bool { return isBelow(p, []string{of}) && after[of] == "" })
		return slices.Contains(paths, p) || tree && isBelow(p, paths) || isGone || // removed together with its directory
			isParent && before[p] == "" && strings.HasPrefix(after[p], safepath.Directory.String()) // a directory was made above the path
	})
}

// checkLooks compares the answers of Status: for one, for many, ahead of its turn, and in a plan.
func (x Trial) checkLooks(ctx context.Context, h *host.Host, have any) error {
	inPlan, err := x.Binding.Status(ctx, h.Planning(ctx), x.Want)
	if err != nil {
		return &breach{"Status fails in a plan in which nothing is pending: " + err.Error()}
	}
	// A state may hold the view through which it was seen.
	now, then := x.Binding.Type.Decide(x.Want, have, false), x.Binding.Type.Decide(x.Want, inPlan, false)
	if !slices.Equal(now.Diff, then.Diff) || !slices.Equal(now.Actions, then.Actions) {
		return &breach{fmt.Sprintf("Status reports something else in a plan in which nothing is pending: %s (%s) and %s (%s)", now, phrases(now), then, phrases(then))}
	}
	if !x.Binding.HasBulkStatus() {
		return nil
	}
	states, errs := x.Binding.StatusAll(ctx, &h.View, []any{x.Want, x.Want})
	if len(states) != 2 || len(errs) != 2 {
		return &breach{fmt.Sprintf("StatusAll has %d answers and %d errors for 2 questions", len(states), len(errs))}
	}
	for i := range states {
		if errs[i] != nil || !reflect.DeepEqual(have, states[i]) {
			return &breach{fmt.Sprintf("StatusAll and Status differ: %+v (%v) and %+v", states[i], errs[i], have)}
		}
	}
	return nil
}

// checkLookBounds returns an error if Status looks elsewhere although the spec promises that it
// depends on one path. Users and groups are not paths.
func (x Trial) checkLookBounds(ctx context.Context, h *host.Host) error {
	name, looks, _ := resource.BoundsOf(x.Want)
	if !looks {
		return nil
	}
	seen := new(overlay.Looks)
	if _, err := x.Binding.Status(ctx, h.Planning(ctx).Recording(seen), x.Want); err != nil {
		return nil // checkLooks reports it
	}
	dir, err := h.Canonical(path.Dir(name))
	if err != nil {
		return nil // all looks end on the way
	}
	real := path.Join(dir, path.Base(name))
	for _, l := range seen.List() {
		ofPath := l.Kind == overlay.PathLook || l.Kind == overlay.DirectoryLook || l.Kind == overlay.TreeLook && l.Name == real
		ofAccount := l.Kind == overlay.UserLook || l.Kind == overlay.GroupLook
		if !ofAccount && !(ofPath && (isBelow(real, []string{l.Name}) || isBelow(name, []string{l.Name}))) {
			return &breach{fmt.Sprintf("Status, which is to depend on %s only, looked at %s", name, l.Name)}
		}
	}
	return nil
}

// checkQuestions returns an error if a question to the provider changes the machine: a
// prediction, an inspection, a list of names. A prediction for many has to have one answer for
// each. Names have to be in order and begin with the prefix.
func (x Trial) checkQuestions(ctx context.Context, h *host.Host, before map[string]string) error {
	v := &h.View
	_, _ = x.Binding.Predict(ctx, v, x.Want) // its error is checked by predicted
	if changed := changes(ctx, before, v); changed != "" {
		return &breach{"Predict changed the machine: " + changed}
	}
	if x.Binding.HasBulkPrediction() {
		list := x.Binding.PredictAll(ctx, v, []any{x.Want, x.Want})
		if len(list) != 2 {
			return &breach{fmt.Sprintf("PredictAll has %d answers for 2 questions", len(list))}
		}
		if fmt.Sprint(list[0].Err) != fmt.Sprint(list[1].Err) {
			return &breach{fmt.Sprintf("PredictAll has two answers to one question: %v and %v", list[0].Err, list[1].Err)}
		}
		if changed := changes(ctx, before, v); changed != "" {
			return &breach{"PredictAll changed the machine: " + changed}
		}
	}
	_, _ = x.Binding.Inspect(ctx, v, x.Want) // its error is not one of a run
	if changed := changes(ctx, before, v); changed != "" {
		return &breach{"Inspect changed the machine: " + changed}
	}
	return x.checkNames(ctx, v, before)
}

// predicted returns the error by which a plan says that the actions are going to fail. An error
// because of the user who runs the trial does not count: an imagined machine permits everything.
func (x Trial) predicted(ctx context.Context, h *host.Host) error {
	_, err := x.Binding.Predict(ctx, &h.View, x.Want)
	if list := x.Binding.PredictAll(ctx, &h.View, []any{x.Want}); err == nil && len(list) == 1 {
		err = list[0].Err
	}
	if _, ok := errors.AsType[*resource.WrongUserError](err); ok || errors.Is(err, overlay.ErrNeedsRoot) {
		return nil
	}
	return err
}

func (x Trial) checkNames(ctx context.Context, v *host.View, before map[string]string) error {
	all, err := x.Binding.Names(ctx, v, "")
	if err != nil || len(all) == 0 {
		return nil
	}
	prefix := all[0][:1]
	some, err := x.Binding.Names(ctx, v, prefix)
	switch other := slices.IndexFunc(some, func(name string) bool { return !strings.HasPrefix(name, prefix) }); {
	case !slices.IsSorted(all):
		return &breach{fmt.Sprintf("Names are not in order: %q", all)}
	case err != nil || len(some) == 0:
		return &breach{fmt.Sprintf("Names has %s, and nothing that begins with %s (%v)", all[0], prefix, err)}
	case other >= 0:
		return &breach{fmt.Sprintf("Names that are to begin with %s have %s", prefix, some[other])}
	}
	if changed := changes(ctx, before, v); changed != "" {
		return &breach{"Names changed the machine: " + changed}
	}
	return nil
}

// checkRecall asks for the state compared with the desired state of an earlier run, which is the
// present one. The answer has to be that of Status, or unknown.
func (x Trial) checkRecall(ctx context.Context, h *host.Host, have any) error {
	digest := resource.DesiredDigestOf(have)
	then, ok, err := x.Binding.Recall(ctx, &h.View, x.Want, digest)
	if _, unknown := errors.AsType[*resource.UnknownError](err); !ok || unknown {
		return nil
	}
	if err != nil {
		return &breach{"Recall fails where Status does not: " + err.Error()}
	}
	was, is := x.Binding.Type.Decide(x.Want, then, false), x.Binding.Type.Decide(x.Want, have, false)
	if was.Stable() != is.Stable() {
		return &breach{fmt.Sprintf("Recall and Status differ: %s (%s) and %s (%s)", was, phrases(was), is, phrases(is))}
	}
	return nil
}

// CheckSuits returns an error if the choice of the provider depends on specs although their type
// promises that it does not (resource.Traits).
func CheckSuits(b resource.Binding, f *facts.Facts, wants []any) error {
	for i, want := range wants {
		if !resource.TraitsOf(want).ProviderIgnoresSpec || i == 0 {
			continue
		}
		first, err := b.Suits(f, wants[0])
		now, err2 := b.Suits(f, want)
		if first != now || (err == nil) != (err2 == nil) {
			return fmt.Errorf("the choice of provider %s depends on the properties: priority %d (error: %s) and %d (error: %s)", b.Name, first, fmt.Sprint(err), now, fmt.Sprint(err2))
		}
	}
	return nil
}

// checkPlan returns an error if a plan finds something left to do after the effects of a complete
// decision.
func (x Trial) checkPlan(ctx context.Context, h *host.Host, d resource.Decision) error {
	if x.Imagined || !d.Complete || len(d.Actions) == 0 || slices.ContainsFunc(d.Effects, isVague) || resource.TraitsOf(x.Want).VerifiesItself || resource.TraitsOf(x.Want).ActsAlways {
		return nil
	}
	v := h.Planning(ctx)
	v.Overlay().Assume(nil, false, d.Effects...)
	have, err := x.Binding.Status(ctx, v, x.Want)
	if err != nil {
		return &breach{fmt.Sprintf("a plan cannot look at what %s leaves: %v", phrases(d), err)}
	}
	if left := x.Binding.Type.Decide(x.Want, have, false); !left.Stable() {
		return &breach{fmt.Sprintf("in a plan, %s leaves something to do: %s", phrases(d), left)}
	}
	return nil
}

// isVague reports whether a plan does not know everything that will stand at a path.
func isVague(p overlay.PathEffect) bool {
	return p.Account != nil || p.Vague || p.Unsure || p.Open || p.Kind == safepath.Regular && p.Content == nil && !p.Kept
}

// Watch returns a runner that notes two breaches: commands during a Status that promises to run
// none, and commands that the provider's description does not name. It has to be called before
// the host is made.
func (x *Trial) Watch(r host.Runner) host.Runner {
	if r == nil {
		r = command.Exec{}
	}
	x.commands = &countingRunner{Runner: r, description: x.Binding.Describe()}
	return x.commands
}

// A Guesser is a runner of an imagined machine that lets commands succeed whose effects it does
// not know. After such a command nobody knows the state of that machine.
type Guesser interface {
	// Guesses returns how many such commands ran.
	Guesses() int
}

// A countingRunner counts the commands it is asked to run.
type countingRunner struct {
	host.Runner
	description resource.Description
	last        string
	undeclared  string // a program that the description does not name
	n           int
}

// Run implements host.Runner.
func (w *countingRunner) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	w.n++
	w.last = c.String()
	if name := path.Base(c.Argv[0]); !w.description.Calls(name) {
		w.undeclared = name
	}
	return w.Runner.Run(ctx, c)
}

// guesses returns how many commands with unknown effects succeeded.
func (w *countingRunner) guesses() int {
	if w == nil {
		return 0
	}
	g, ok := w.Runner.(Guesser)
	if !ok {
		return 0
	}
	return g.Guesses()
}

func (x Trial) checkCommands() error {
	if x.commands != nil && x.commands.n > 0 && resource.TraitsOf(x.Want).MayPrefetch {
		return &breach{"Status, which may be called ahead, ran a command: " + x.commands.last}
	}
	return nil
}

// checkDeclared returns an error if a command was run that the description does not name.
func (x Trial) checkDeclared() error {
	if x.commands == nil || x.commands.undeclared == "" {
		return nil
	}
	return &breach{fmt.Sprintf("it calls %s, which is not among its declared commands", x.commands.undeclared)}
}

func union(a, b map[string]string) []string {
	var list []string
	for p := range a {
		list = append(list, p)
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// isBelow reports whether p is one of the paths, or below one.
func isBelow(p string, paths []string) bool {
	return slices.ContainsFunc(paths, func(of string) bool {
		return p == of || of == "/" || strings.HasPrefix(p, strings.TrimSuffix(of, "/")+"/")
	})
}
