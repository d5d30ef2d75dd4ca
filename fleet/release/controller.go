package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// expiry is the time during which nodes may begin with releases and rollouts.
const expiry = 90 * 24 * time.Hour

// A Controller moves rollouts. Several may work at the same time: a document based on an old one is
// refused.
type Controller struct {
	Store *Store
	Key   signers.Key
	By    string
	Clock func() time.Time
	// Environments returns the environments of the nodes that operators have approved, by name.
	// Claims of nodes about their environment do not count.
	Environments func(context.Context) (map[string]string, error)
	// Keep is called with each stored document. May be nil.
	Keep func(kind string, version int64, text []byte) error
}

// header returns the header of a new document.
func (c *Controller) header() signed.Header {
	now := c.Clock().UTC().Truncate(time.Second)
	return signed.Header{Environment: c.Store.Environment, CreateTime: now, Expires: now.Add(expiry)}
}

// Look assesses the present rollout.
func (c *Controller) Look(ctx context.Context) (*Control, *Assessment, error) {
	control, err := c.Store.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if control.Release == nil && len(control.Problems) > 0 {
		return control, nil, errors.New(strings.Join(control.Problems, "; "))
	}
	if control.Release == nil {
		return control, nil, diag.None("release in the environment %s (make one with: ccm fleet release %s SITE)", c.Store.Environment, c.Store.Environment)
	}
	if control.Rollout == nil || control.Rollout.Release != control.Release.Version {
		// The release was stored but not its rollout: no node begins.
		control.Rollout = &signed.Rollout{Release: control.Release.Version, State: signed.Paused, Reason: "the rollout has not started (start it with: ccm fleet rollout next)", Version: versionOf(control.Rollout)}
	}
	issued, err := c.Environments(ctx)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := roster.Read(ctx, c.Store.NC, roster.Options{Environments: issued, Environment: c.Store.Environment, Facts: factsOf(control.Release), Approved: true})
	if err != nil {
		return nil, nil, err
	}
	a := Assess(control.Release, control.Rollout, nodes, c.Clock())
	a.SignedBy, a.Problems = control.ReleaseEntry.Author.Signers, control.Problems
	return control, a, nil
}

func versionOf(r *signed.Rollout) int64 {
	if r == nil {
		return 0
	}
	return r.Version
}

// factsOf returns the facts that the stages of a release use.
func factsOf(r *signed.Release) (facts where.Facts) {
	for _, c := range parseStages(r.Stages) {
		if c != nil {
			facts = facts.With(c.Facts())
		}
	}
	return facts
}

// Step makes the next step of the rollout, and returns its assessment. If somebody else has made
// the step meanwhile, that is not an error.
func (c *Controller) Step(ctx context.Context) (*Assessment, error) {
	control, a, err := c.Look(ctx)
	if err != nil {
		return nil, err
	}
	next := a.Next(control.Rollout, c.Clock().UTC().Truncate(time.Second))
	if next == nil {
		return a, nil
	}
	if err := c.put(ctx, next, control.RolloutEntry.Sequence); err != nil && !errors.Is(err, ErrConflict) {
		return nil, err
	}
	_, a, err = c.Look(ctx)
	return a, err
}

// put signs and stores a rollout.
func (c *Controller) put(ctx context.Context, next *signed.Rollout, last uint64) error {
	next.Header = c.header()
	next.By = c.By
	next.Version = max(next.Version, c.Store.Book.Highest(next)+1)
	text, err := signed.Sign(ctx, next, c.Key)
	if err != nil {
		return err
	}
	if err := c.Store.Book.Recognizes(text, new(signed.Rollout)); err != nil {
		return err
	}
	if err := c.Store.PutRollout(ctx, text, last); err != nil {
		return err
	}
	return c.keep("rollout", next.Version, text)
}

func (c *Controller) keep(kind string, version int64, text []byte) error {
	if c.Keep == nil {
		return nil
	}
	return c.Keep(kind, version, text)
}

// An Operation is an operator's change of a rollout.
type Operation string

// The operations.
const (
	Pause  Operation = "pause"  // no further node begins
	Resume Operation = "resume" // the rollout goes on, also after a stop
	Next   Operation = "next"   // the next stage begins now
	Abort  Operation = "abort"  // the rollout ends where it is
)

// Do changes the present rollout by an operation.
func (c *Controller) Do(ctx context.Context, op Operation, why string) (*Assessment, error) {
	control, _, err := c.Look(ctx)
	if err != nil {
		return nil, err
	}
	now := c.Clock().UTC().Truncate(time.Second)
	next := *control.Rollout
	next.Version++
	next.Reason = why
	stages := len(control.Release.Stages)
	if next.State == signed.Aborted || next.State == signed.Done {
		return nil, fmt.Errorf("%w (make another release)", diag.Already(fmt.Sprintf("the rollout of release %d", control.Release.Version), "%s", next.State))
	}
	switch op {
	case Pause:
		next.State = signed.Paused
	case Resume:
		if next.State == signed.Rolling {
			return nil, diag.Already(fmt.Sprintf("the rollout of release %d", control.Release.Version), "in progress")
		}
		next.State = signed.Rolling
		if next.Since.IsZero() {
			next.Since = now
		}
		next.SettleTime = time.Time{}
	case Next:
		next.State = signed.Rolling
		if next.Since.IsZero() { // the rollout did not begin
			next.Since = now
			break
		}
		if next.Stage >= stages-1 {
			return nil, diag.Already(fmt.Sprintf("the rollout of release %d", control.Release.Version), "at its last stage")
		}
		next.Stage, next.Since, next.SettleTime = next.Stage+1, now, time.Time{}
	case Abort:
		next.State = signed.Aborted
	}
	if err := c.put(ctx, &next, control.RolloutEntry.Sequence); err != nil {
		return nil, err
	}
	_, a, err := c.Look(ctx)
	return a, err
}

// BeginRollout stores a release and begins its rollout. Keys in more sign it besides the controller's, if
// two have to sign. BeginRollout sets the version, and the release to which a rollback goes.
func (c *Controller) BeginRollout(ctx context.Context, r *signed.Release, more ...signers.Key) error {
	control, err := c.Store.Read(ctx)
	if err != nil {
		return err
	}
	switch before := control.Release; {
	case before == nil:
	default:
		proven, err := c.proven(ctx, control)
		if err != nil {
			return err
		}
		r.Previous, r.PreviousBundle = before.Version, before.Bundle
		if before.Bundle == r.Bundle || !proven { // nothing to go back to
			r.Previous, r.PreviousBundle = before.Previous, before.PreviousBundle
		}
	}
	return c.begin(ctx, control, r, more)
}

// BeginRollback is like BeginRollout for a release that Back has returned.
func (c *Controller) BeginRollback(ctx context.Context, r *signed.Release, more ...signers.Key) error {
	control, err := c.Store.Read(ctx)
	if err != nil {
		return err
	}
	return c.begin(ctx, control, r, more)
}

func (c *Controller) begin(ctx context.Context, control *Control, r *signed.Release, more []signers.Key) error {
	r.Header = c.header()
	r.Version = c.Store.Book.Highest(r) + 1
	if before := control.Release; before != nil {
		r.Version = max(r.Version, before.Version+1)
	}
	for slices.Contains(control.refused, r.Version) {
		r.Version++
	}
	text, err := signed.Sign(ctx, r, c.Key)
	if err != nil {
		return err
	}
	for _, key := range more {
		if text, err = signed.AddSignature(ctx, text, new(signed.Release), key); err != nil {
			return err
		}
	}
	if err := c.Store.Book.Recognizes(text, new(signed.Release)); err != nil {
		return err
	}
	if err := c.keep("release", r.Version, text); err != nil {
		return err
	}
	if err := c.Store.PutRelease(ctx, text, control.ReleaseEntry.Sequence); err != nil {
		return err
	}
	return c.put(ctx, &signed.Rollout{
		Version: versionOf(control.Rollout) + 1, Release: r.Version, State: signed.Rolling, Since: r.CreateTime,
	}, control.RolloutEntry.Sequence)
}

// proven reports whether nodes run the present release without failing. A rollback does not go to another one. Of a
// rollout that did not end, because nobody watched it for instance, the nodes are asked.
func (c *Controller) proven(ctx context.Context, control *Control) (bool, error) {
	if ro := control.Rollout; ro != nil && ro.Release == control.Release.Version {
		switch ro.State {
		case signed.Done:
			return true, nil
		case signed.Stopped, signed.Aborted:
			return false, nil
		}
	}
	issued, err := c.Environments(ctx)
	if err != nil {
		return false, err
	}
	nodes, err := roster.Read(ctx, c.Store.NC, roster.Options{Environments: issued, Environment: c.Store.Environment, Approved: true})
	if err != nil {
		return false, err
	}
	return hasRun(control.Release, nodes), nil
}

// hasRun reports whether nodes have run the bundle of a release, in it or in another one, and no more of them failed than
// the release allows.
func hasRun(r *signed.Release, nodes []*roster.Node) bool {
	heard, ran, failed := 0, 0, 0
	for _, n := range nodes {
		if n.HeardOf() {
			heard++
		}
		switch s := n.State; {
		case blocked(r, s) != nil:
			failed++
		case s == nil || s.Bundle != r.Bundle || s.RunID == "":
		case s.Outcome == "failed" || s.Outcome == "interrupted":
			failed++
		default:
			ran++
		}
	}
	return ran > 0 && failed <= r.MaxFailed.Of(heard)
}

// Back returns a release that goes back from the present one to the bundle of the release before it
// that nodes have run without failing. Nodes with the present release are first. Going back
// once more goes on from there, to an older one.
func (c *Controller) Back(ctx context.Context) (*signed.Release, error) {
	control, err := c.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	now := control.Release
	switch {
	case now == nil && len(control.Problems) > 0:
		return nil, errors.New(strings.Join(control.Problems, "; "))
	case now == nil || now.PreviousBundle == "":
		return nil, diag.None("earlier release in the environment %s to roll back to (release an older bundle by its file)",
			c.Store.Environment)
	case now.PreviousBundle == now.Bundle:
		return nil, fmt.Errorf("release %d has the same bundle as release %d (release an older bundle by its file)", now.Version, now.Previous)
	}
	if has, err := c.Store.HasBundle(ctx, signed.HexDigest(now.PreviousBundle)); err != nil || !has {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", c.Store.Environment, diag.Gone(fmt.Sprintf("the bundle of release %d", now.Previous))))
	}
	r := &signed.Release{
		Bundle: now.PreviousBundle, Stages: []string{fmt.Sprintf("state.release == %d", now.Version), "100%"},
		MaxFailed: now.MaxFailed, MaxSilent: now.MaxSilent, Reason: fmt.Sprintf("rollback from release %d to %d", now.Version, now.Previous),
	}
	older, err := c.Store.Release(ctx, now.Previous)
	if err != nil {
		return nil, err
	}
	if older != nil {
		r.Previous, r.PreviousBundle = older.Previous, older.PreviousBundle
	}
	return r, nil
}
