// Package contract checks that a provider keeps the contract on which the engine relies: Status
// changes nothing, and after the actions of a decision nothing is left to do. The test suite of
// every provider that ships with ccm runs these checks, and ccm test offers them to the authors
// of types.
//
// Begin with [Trial.Check], which tries one spec, or [Suite.Trials], which makes a trial of every
// spec from every start.
package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Trial is one spec, a start, and the expected result.
type Trial struct {
	// Name is start/want.
	Name    string
	Binding resource.Binding
	// Want is a valid spec of the type of the binding.
	Want any
	// Start fills the directory root with the machine before the trial. The returned runner
	// answers commands; nil runs real ones.
	Start func(root string) (host.Runner, error)
	// Fails is a part of the expected error, "" if the trial must succeed.
	Fails string
	// Phrases are the expected phrases of the plan, without "Would have". Nil expects nothing in
	// particular, an empty list expects no actions.
	Phrases []string
	// WithData is set if a property of Want has all data removed, such as force.
	WithData bool
	// Imagined is set if the provider imagines a part of the machine, such as the owners of files.
	// Then changes are not all visible below the root, and the provider makes directories that a
	// real machine has.
	Imagined bool

	commands *countingRunner // see Watch
}

// Run makes the machine in the empty directory root and checks the trial there. Then it makes it
// again beside root, with other data in and beside each directory that the actions remove, and
// checks that they remove none of that data.
func (x Trial) Run(ctx context.Context, root string, clock host.Clock) error {
	run, err := x.Start(root)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	err = x.Check(ctx, host.New(host.Options{Root: root, Runner: x.Watch(run), Clock: clock}))
	return cmp.Or(err, x.checkForeign(ctx, root, clock))
}

// Check looks at the machine below the root of h and converges it to Want. The error describes how the
// provider breaks its contract:
//
//   - Status changes nothing.
//   - Status gives the same answer when it is asked again, in a plan without pending resources, and
//     for many resources at once.
//   - Status runs no command if it may be called ahead, and looks at nothing else if it is confined
//     to a path.
//   - Predictions, inspections and lists of names change nothing. If a plan predicts a failure, the
//     actions fail.
//   - Recall with the present desired state gives the answer of Status.
//   - The actions change nothing outside of the bounds of the spec.
//   - The provider runs only the commands in its description.
//   - A plan finds nothing left to do after the effects of a complete decision.
//   - Differences are of declared properties. With a difference comes an action, whose phrase reads
//     well after "Would have".
//   - A decision with an error changes nothing.
//   - What is removed, the effects of the decision name. The engine keeps the other
//     entries of a directory, of which the trial takes none for created by a run. If it removes nothing
//     then, this counts as a failure.
//   - After the actions nothing is left to do, and their effects are as the decision reports, unless a
//     command ran whose effects nobody knows ([Guesser]).
func (x Trial) Check(ctx context.Context, h *host.Host) error {
	if h.Root() == "/" {
		return errors.New("a trial needs a root of its own")
	}
	before, err := snapshot(ctx, &h.View)
	if err != nil {
		return err
	}
	d, err := x.decide(ctx, h, before)
	if broken, ok := errors.AsType[*breach](err); ok {
		return broken
	}
	if err == nil {
		err = d.Err
	}
	if err == nil {
		if err := x.checkDecision(d); err != nil {
			return err
		}
	}
	var partial bool
	if err == nil {
		partial, err = x.kept(ctx, &h.View, d)
	}
	planned := x.planned(ctx, h)
	if err == nil && d.Err == nil && planned.Err != nil {
		return fmt.Errorf("a plan fails: %w", planned.Err)
	}
	var inPlan error // the error of checkPlan
	if err == nil {
		inPlan = x.checkPlan(ctx, h, d)
	}
	var predicted error
	if err == nil && len(d.Actions) > 0 {
		predicted = x.predicted(ctx, h)
	}
	guesses := x.commands.guesses()
	for i := 0; err == nil && i < len(d.Actions); i++ {
		err = x.Binding.Perform(ctx, x.protected(ctx, h, d), x.Want, d.Actions[i])
	}
	after, broken := snapshot(ctx, &h.View)
	if broken = errors.Join(broken, x.checkBounds(before, after), x.checkDeclared(), x.checkRemoved(d, before, after)); broken != nil {
		return broken
	}
	if _, kept := errors.AsType[*keptError](err); kept || d.Err != nil {
		if changed := changes(ctx, before, &h.View); changed != "" {
			return fmt.Errorf("something was changed although it cannot be had: %s", changed)
		}
	}
	if err == nil && !resource.TraitsOf(x.Want).VerifiesItself && !partial {
		if x.commands.guesses() == guesses {
			if err = x.settled(ctx, h, d); err == nil {
				err = x.left(ctx, h, planned, before)
			}
		}
		err = cmp.Or(err, inPlan)
	}
	if err == nil && predicted != nil && x.commands.guesses() == guesses {
		return &breach{fmt.Sprintf("a plan predicts that %s fails, but it does not: %v", phrases(d), predicted)}
	}
	switch {
	case x.Fails != "" && err == nil:
		return diag.Expected("an error with %q", x.Fails).Got("none")
	case x.Fails != "" && !strings.Contains(err.Error(), x.Fails):
		return diag.Expected("an error with %q", x.Fails).Got("%w", err)
	case x.Fails != "":
		return nil
	}
	return err
}

// A breach is a mistake of the provider. An expected failure (Fails) does not cover it.
type breach struct{ text string }

// Error is what the provider did.
func (e *breach) Error() string { return e.text }

// decide looks twice and returns the decision.
func (x Trial) decide(ctx context.Context, h *host.Host, before map[string]string) (resource.Decision, error) {
	have, err := x.Binding.Status(ctx, &h.View, x.Want)
	if changed := changes(ctx, before, &h.View); changed != "" {
		return resource.Decision{}, &breach{"Status changed the machine: " + changed}
	}
	if err != nil {
		return resource.Decision{}, err
	}
	again, err := x.Binding.Status(ctx, &h.View, x.Want)
	switch {
	case err != nil:
		return resource.Decision{}, &breach{"Status fails the second time: " + err.Error()}
	case !reflect.DeepEqual(have, again):
		return resource.Decision{}, &breach{fmt.Sprintf("Status gave two answers: %+v and %+v", have, again)}
	}
	if err := errors.Join(x.checkCommands(), x.checkLooks(ctx, h, have), x.checkLookBounds(ctx, h), x.checkRecall(ctx, h, have), x.checkQuestions(ctx, h, before)); err != nil {
		return resource.Decision{}, &breach{err.Error()}
	}
	return x.Binding.Type.Decide(x.Want, have, false), nil
}

// settled returns an error if something is left to do after the actions of d.
func (x Trial) settled(ctx context.Context, h *host.Host, d resource.Decision) error {
	now, err := x.Binding.Status(ctx, &h.View, x.Want)
	if err != nil {
		return err
	}
	left := x.Binding.Type.Decide(x.Want, now, false)
	switch {
	case left.Err != nil:
		return fmt.Errorf("not up to date after %s: %w", phrases(d), left.Err)
	case !left.Stable() || len(left.Diff) > 0:
		return fmt.Errorf("not up to date after %s: %s (actions left: %s)", phrases(d), left, phrases(left))
	}
	return nil
}

// Phrase matches the beginning of an action's phrase: a participle.
var Phrase = lazyregexp.New(`^[a-z]+(ed|t|de|en|wn|ad|ld|un|ne)\b`)

func (x Trial) checkDecision(d resource.Decision) error {
	for _, delta := range d.Diff {
		switch {
		case x.Binding.Type.Schema().Field(delta.Property) == nil:
			return fmt.Errorf("%s is reported to differ, but is not a property", delta.Property)
		case delta.Have == delta.Want:
			return fmt.Errorf("%s is reported to differ, but is %q and %q", delta.Property, delta.Have, delta.Want)
		}
	}
	for _, a := range d.Actions {
		if a.Verb == "" || !Phrase().MatchString(a.Phrase) {
			return diag.Expected("an action whose phrase reads well after Would have").Got("%q", a.Phrase)
		}
	}
	if len(d.Diff) > 0 && len(d.Actions) == 0 {
		return fmt.Errorf("a difference without an action: %s", d)
	}
	if x.Phrases == nil {
		return nil
	}
	want, got := slices.Sorted(slices.Values(x.Phrases)), phraseList(d)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return diag.Expected("it to be %q", want).Got("%q", got)
	}
	return nil
}

func phraseList(d resource.Decision) []string {
	list := make([]string, len(d.Actions))
	for i, a := range d.Actions {
		list[i] = a.Phrase
	}
	return list
}

func phrases(d resource.Decision) string {
	if len(d.Actions) == 0 {
		return "nothing"
	}
	return strings.Join(phraseList(d), " and ")
}

// snapshot returns kind, permissions, owner and content of everything below the
// root, by path.
func snapshot(ctx context.Context, v *host.View) (map[string]string, error) {
	entries, err := v.Tree(ctx, "/", safepath.MaxNames)
	snap := make(map[string]string, len(entries))
	for _, e := range entries {
		path := "/" + e.Rel
		text := fmt.Sprintf("%s %04o %d:%d", e.Kind, e.Mode, e.UID, e.GID)
		switch e.Kind {
		case safepath.Regular:
			sum, sumErr := v.Sum(ctx, path)
			err, text = errors.Join(err, sumErr), text+" "+sum
		case safepath.Symlink:
			target, linkErr := v.Readlink(path)
			err, text = errors.Join(err, linkErr), text+" to "+target
		}
		snap[path] = text
	}
	return snap, err
}

// changes describes the changes of the machine since before, "" if there are none.
func changes(ctx context.Context, before map[string]string, v *host.View) string {
	now, err := snapshot(ctx, v)
	if err != nil {
		return err.Error()
	}
	var list []string
	for path, text := range now {
		switch was, ok := before[path]; {
		case !ok:
			list = append(list, path+" is new")
		case was != text:
			list = append(list, path+" was "+was+" and is "+text)
		}
	}
	for path := range before {
		if _, ok := now[path]; !ok {
			list = append(list, path+" is gone")
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// A Suite is the trials of one provider.
type Suite struct {
	Binding resource.Binding
	// Starts are the machines before the trials, by name.
	Starts map[string]func(root string) (host.Runner, error)
	// Wants are the specs, by name.
	Wants map[string]any
	// WithData has the wants with a property that has all data removed, by name.
	WithData map[string]bool
	// Fails and Phrases are the expectations of trials, by trial name.
	Fails   map[string]string
	Phrases map[string][]string
}

// Trials returns a trial of every spec from every start, in order of their names.
func (s Suite) Trials() ([]Trial, error) {
	var all []Trial
	known := make(map[string]bool)
	for _, start := range slices.Sorted(maps.Keys(s.Starts)) {
		for _, want := range slices.Sorted(maps.Keys(s.Wants)) {
			x := Trial{Name: start + "/" + want, Binding: s.Binding, Want: s.Wants[want], Start: s.Starts[start], WithData: s.WithData[want]}
			x.Fails, x.Phrases = s.Fails[x.Name], s.Phrases[x.Name]
			known[x.Name] = true
			all = append(all, x)
		}
	}
	for _, names := range [][]string{slices.Sorted(maps.Keys(s.Fails)), slices.Sorted(maps.Keys(s.Phrases))} {
		for _, name := range names {
			if !known[name] {
				return nil, fmt.Errorf("no start and want are called %s", name)
			}
		}
	}
	return all, nil
}
