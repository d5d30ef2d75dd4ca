// Package resource has the contracts between the engine, the types of resources and the providers. A type defines the
// desired states and the actions that lead to them; a provider reads states and performs actions; the engine decides
// when.
//
// Begin with [Spec], the contract of a type, [Define], which makes a [Type] of it, and [TypeDef.Provide], which makes
// a [Binding] of a provider.
package resource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/schema"
)

// ErrDesiredStateFailed means that a resource differs from its desired state although its provider
// has reported success.
var ErrDesiredStateFailed = errors.New("failed to reach desired state")

// ErrUnchanged is returned by Perform if the action found nothing to change. Then the resource is
// stable. Perform may return it only for a decision that is Uncertain.
var ErrUnchanged = errors.New("nothing was changed")

// A Delta is a difference in one property. Have and Want are the texts of reports.
type Delta struct {
	// Property is the name of the property.
	Property string `json:"property"`
	// Have is what was found.
	Have string `json:"have"`
	// Want is what is wanted.
	Want string `json:"want"`
}

// String formats d as property: have → want.
func (d Delta) String() string { return d.Property + ": " + d.Have + " → " + d.Want }

// Refresh is the property name of the delta that represents a change of another resource.
const Refresh = "refresh"

// An Action is one verb that a provider is to perform. Its phrase is written
// once, without a capital and without a subject ("created the file"): a plan
// prints "Would have created the file", a run "Created the file".
type Action struct {
	Verb   string
	Phrase string
	// Intent is the text that follows "would" in a plan that does not know whether the action will
	// be performed: "wait until port 80 answers". "" means the verb.
	Intent string
}

// Done returns the phrase of a run.
func (a Action) Done() string { return strings.ToUpper(a.Phrase[:1]) + a.Phrase[1:] }

// would begins the phrase of a plan.
const would = "Would have "

// Would returns the phrase of a plan.
func (a Action) Would() string { return would + a.Phrase }

// ActionOf returns the action whose phrase of a run or of a plan is on record.
func ActionOf(message string) Action {
	phrase := strings.TrimPrefix(message, would)
	return Action{Phrase: strings.ToLower(phrase[:1]) + phrase[1:]}
}

// TextChange is the content of a text file before and after, for a unified diff.
type TextChange struct {
	Path       string
	Have, Want string
	HaveExists bool
	WantExists bool
}

// A Decision lists the differences of a resource and the actions that remove them. The
// empty Decision means that it is in its desired state.
type Decision struct {
	// Diff lists the properties that differ.
	Diff []Delta
	// Actions are the verbs to perform, in order.
	Actions []Action
	// Err is the reason why no action leads to the desired state, such as a directory in
	// the place of a file. Nothing is performed then.
	Err error
	// Effects are the effects of the actions on the file system. A plan looks at later resources
	// as if the effects were there.
	Effects []overlay.PathEffect
	// Complete is set if Effects are all that the actions do to the machine. Otherwise the actions
	// may have any effect, and a plan cannot know whether a later error will stay.
	Complete bool
	// FilesComplete is set if Effects are all that the actions do to files. Other effects, such as
	// a setting of the kernel, show only in the output of commands.
	FilesComplete bool
	// OnlyServices is set if the actions have no other effects than Effects and those of services that
	// they start or stop. A plan takes it that these do nothing to other services.
	OnlyServices bool
	// Uncertain is the reason why only the actions can know whether they change anything, "" if
	// they do change something. A plan calls such a resource unknown, and Perform may return
	// [ErrUnchanged].
	Uncertain string
	// DroppedRefresh is the reason why a refresh does nothing, such as a machine that is not running; "" if it acts.
	DroppedRefresh string
	// Programs are programs that the actions call, with nothing but their names and roots. Where one is
	// missing, the actions are going to fail.
	Programs []host.Cmd
	// Text reads the content before and after the actions, for a diff. It is called only
	// for reports that show one; nil if there is none.
	Text func(ctx context.Context, v *host.View) (TextChange, error)
}

// Stable reports whether nothing is to be done.
func (d Decision) Stable() bool { return len(d.Actions) == 0 && d.Err == nil }

// Add adds a difference.
func (d *Decision) Add(property, have, want string) {
	if d.Diff == nil {
		d.Diff = make([]Delta, 0, 5) // few decisions have more
	}
	d.Diff = append(d.Diff, Delta{property, have, want})
}

// AddAction adds an action.
func (d *Decision) AddAction(verb, phrase string) {
	d.Actions = append(d.Actions, Action{Verb: verb, Phrase: phrase})
}

// Has reports whether the property is among the differences.
func (d Decision) Has(property string) bool {
	return slices.ContainsFunc(d.Diff, func(x Delta) bool { return x.Property == property })
}

// String lists the differences on one line.
func (d Decision) String() string {
	parts := make([]string, len(d.Diff))
	for i, x := range d.Diff {
		parts[i] = x.String()
	}
	return strings.Join(parts, ", ")
}

// A Spec is the properties of a resource, D: a struct with ccm tags. S is the
// state that its providers report, P the interface that they implement (D is for desired).
type Spec[S, P any] interface {
	// Validate finds mistakes that the schema does not, such as contradictions.
	Validate() error
	// Decide compares have with the spec. It depends on nothing else.
	Decide(have S) Decision
	// Perform has p perform one action of a decision. A refresh is an action
	// like any other.
	Perform(ctx context.Context, h *host.Host, p P, a Action) error
}

// A Provider looks at resources of a type. The interface of each type adds the
// verbs.
type Provider[D, S any] interface {
	// Status reports the present state. It changes nothing and does not guess: a state that cannot
	// be determined is an error.
	Status(ctx context.Context, v *host.View, want D) (S, error)
}

// An UnknownError is what Status returns in a plan if the state cannot be known before a pending
// resource was converged.
type UnknownError struct{ Reason string }

// Error names the reason.
func (e *UnknownError) Error() string { return "unknown, because " + e.Reason }

// Common is the properties that every type has.
type Common struct {
	// Alias is a second name by which other resources can refer to this one.
	Alias string `ccm:"alias"`
	// Provider selects a provider, instead of the most suitable one.
	Provider string `ccm:"provider"`
	// Require lists resources that must succeed before this one is checked.
	Require []Reference `ccm:"require"`
	// Before lists resources that are checked only after this one has succeeded.
	Before []Reference `ccm:"before"`
	// Notify is like before, and refreshes the listed resources when this one changes. Those that
	// cannot be refreshed are only ordered.
	Notify []Reference `ccm:"notify"`
	// Subscribe is like require, and refreshes this resource when one of them changes. A resource that
	// cannot be refreshed is only ordered.
	Subscribe []Reference `ccm:"subscribe"`
	// Tags are words by which --tags and --skip-tags select the resource. Tags of defaults are added.
	Tags []Tag `ccm:"tags,added"`
	// HealthChecks are commands or goss rules that are checked after the resource has converged.
	// Commands exit like Nagios plugins: 0 is ok, 1 a warning, which is reported, 2 critical, anything
	// else unknown. A critical or unknown check fails the resource.
	HealthChecks []HealthCheck `ccm:"health_checks"`
	// RegisterWhenStable are services that are published to the registry in each run in which the
	// resource has converged and its health checks are ok. A registry that does not answer fails
	// nothing.
	RegisterWhenStable []Registration `ccm:"register_when_stable"`
	// Timeout limits the total time of the commands and downloads of the resource, such as "5m". If it
	// is exceeded, the resource fails. 0 means no limit.
	Timeout host.Duration `ccm:"timeout"`
	// Tries is how often to try the check of the resource, and each of its actions, before the
	// resource fails.
	Tries *int `ccm:"tries"`
	// TrySleep is the time between two tries, such as "10s". The default is 1s.
	TrySleep *host.Duration `ccm:"try_sleep"`
	// IgnoreFailure lets the run succeed if the resource fails, and continues with resources that
	// require it. The failure is reported.
	IgnoreFailure bool `ccm:"ignore_failure"`
	// WithData makes ensure absent and ccm prune also remove data that no run has created in a
	// directory, home or clone. By default the data and its directories stay. --with-data sets this
	// for all resources.
	WithData bool `ccm:"with_data"`
	// Backup keeps overwritten or removed content in the state directory, so that ccm undo can
	// restore it. The default is true.
	Backup *bool `ccm:"backup"`
}

// IsPlain reports whether the resource is looked at and acted on once, without a time limit and
// without health checks. Such a resource may be handled together with others.
func (c *Common) IsPlain() bool {
	return len(c.HealthChecks) == 0 && c.Timeout == 0 && c.Tries == nil && !c.IgnoreFailure
}

// Retries returns how often to try, at least once, and how long to wait before the next try.
func (c *Common) Retries() (tries int, sleep time.Duration) {
	tries, sleep = 1, time.Second
	if c.Tries != nil {
		tries = *c.Tries
	}
	if c.TrySleep != nil {
		sleep = time.Duration(*c.TrySleep)
	}
	return tries, sleep
}

// check returns the mistakes in the common properties.
func (c *Common) check() error {
	err := errors.Join(checkHealthChecks(c.HealthChecks), checkRegistrations(c.RegisterWhenStable))
	switch {
	case c.Tries != nil && *c.Tries < 1:
		err = errors.Join(err, PropertyErrorf("tries", "%w", diag.MustBe("at least 1").Got("%d", *c.Tries)))
	case c.Tries == nil && c.TrySleep != nil:
		err = errors.Join(err, PropertyErrorf("try_sleep", "requires tries"))
	}
	return err
}

// EmptyCommon is the Common of resources without common properties. It must not be changed.
var EmptyCommon = new(Common)

// A Resource is one entry of a catalog. Once it is in there only Sensitive changes: the content of its file may be
// found to hold a secret when it is read.
type Resource struct {
	ID   ID
	Type *Type
	Spec any // *D of its Type
	// Common is shared by all resources without common properties; see [EmptyCommon].
	Common *Common
	// Pos is the place of the declaration, Dir the directory of its relative paths.
	Pos diag.Pos
	Dir string
	// Positions finds the places of single properties; may be nil.
	Positions schema.Locator
	// Calls is the chain of calls that led to a declaration inside a module,
	// innermost first.
	Calls []diag.Note
	// Skip is the reason why the resource is not managed, "" if it is managed.
	Skip string
	// Scope is the script or manifest that declares it; nil means the one that is
	// run, unrestrained.
	Scope *Scope
	// LazyProperties names the properties whose values are known only when the resource's turn in
	// a run has come. Spec is without them and was not validated.
	LazyProperties []string
	// SecretProperties names the properties that the user marked as secret, whatever they hold.
	SecretProperties []string
	// Sensitive names the properties that hold secrets; see [Resource.MarkSensitive].
	Sensitive []string
	// Resolve returns the spec with the lazy values when the turn has come; nil without lazy
	// values.
	Resolve func(ctx context.Context) (spec any, err error)
}

// ExplainMissing adds a hint to the error that a file is missing which lies beside a module:
// relative paths begin at the script, not at the module that declares the resource.
func (r *Resource) ExplainMissing(err error) error {
	missing, ok := errors.AsType[*fs.PathError](err)
	if !ok || len(r.Calls) == 0 || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rel, ok := strings.CutPrefix(missing.Path, r.Dir+"/")
	if !ok {
		return err
	}
	return fmt.Errorf("%w (%s is relative to %s; site.dir is the directory of the script, module.dir that of the module)", err, rel, r.Dir)
}

// Locate returns the place of a property of r.
func (r *Resource) Locate(path ...any) diag.Pos {
	if r.Positions == nil {
		return r.Pos
	}
	return r.Positions.Locate(path, false)
}

// Errorf returns a mistake in r, at the place of the property at path.
func (r *Resource) Errorf(path schema.Path, format string, args ...any) *diag.Error {
	return &diag.Error{Pos: r.Locate(path...), Subject: r.ID.String(), Err: fmt.Errorf(format, args...), Notes: r.Calls}
}

// About describes which resource an error is about.
func (r *Resource) About(err error) error { return &diag.Error{Subject: r.ID.String(), Err: err} }
