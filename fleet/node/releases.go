package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
)

// releases carries out the releases of the environment at their time.
type releases struct {
	member    *member
	bundles   Bundles
	holds     func(condition string) (bool, error)
	wake      chan struct{} // documents or conditions have changed
	agentWake chan struct{} // tells the agent to poll
	updates   chan struct{} // there is another release
}

// A readiness says whether a node begins with a release.
type readiness struct {
	begins bool
	stage  int    // from 0, if it begins
	reason string // why it does not begin
	err    error  // why it cannot
}

// ready decides whether a node with another release begins with this one.
func ready(r *signed.Release, ro *signed.Rollout, node string, holds func(string) (bool, error), now time.Time) readiness {
	switch {
	case r == nil:
		return readiness{reason: "no release"}
	case ro == nil || ro.Release != r.Version:
		return readiness{reason: "the rollout has not started"}
	}
	if err := r.Begins(now); err != nil {
		return readiness{reason: err.Error(), err: err}
	}
	stage := r.StageOf(node, holds)
	switch {
	case ro.State == signed.Done || ro.State == signed.Rolling && stage <= ro.Stage:
		return readiness{begins: true, stage: stage}
	case ro.State != signed.Rolling:
		return readiness{reason: "the rollout is " + string(ro.State)}
	}
	return readiness{reason: fmt.Sprintf("stage %d has not started", stage+1)}
}

// offset returns the delay of a node within a stage, which is fixed for a release.
func offset(r *signed.Release, node string) time.Duration {
	if r.Spread <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte("spread\x00" + r.ID() + "\x00" + node))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(r.Spread))
}

// run begins with releases at their time.
func (c *releases) run(ctx context.Context) {
	retry := time.NewTimer(time.Hour)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-retry.C:
		}
		wait := c.carryOut(ctx)
		if wait <= 0 {
			wait = time.Hour
		}
		retry.Reset(wait)
	}
}

// carryOut begins with the present release if it is time, and returns the time until the next
// attempt; 0 to wait for a change.
func (c *releases) carryOut(ctx context.Context) time.Duration {
	r, ro, _ := c.member.memory.documents()
	taken, _ := c.member.memory.taken()
	if r == nil || r.Version == taken {
		c.checkExpiry(r)
		return 0
	}
	x := ready(r, ro, c.member.identity.Name, c.holds, c.member.now())
	if !x.begins {
		if signed.ReasonOf(x.err) == signed.Expired {
			c.member.problems.setOf(r, record.ReleaseExpired, x.reason)
		}
		c.member.log.Debug(fmt.Sprintf("fleet: release %d: not yet: %s", r.Version, x.reason))
		return 0
	}
	if since := ro.Since; !since.IsZero() {
		if wait := since.Add(offset(r, c.member.identity.Name)).Sub(c.member.now()); wait > 0 {
			return min(wait, time.Duration(r.Spread))
		}
	}
	if err := c.install(ctx, r); err != nil {
		if ctx.Err() != nil {
			return 0
		}
		if errors.Is(err, errObsolete) {
			c.member.log.Info(fmt.Sprintf("fleet: release %d: stopped fetching the bundle: the release was withdrawn", r.Version))
			poke(c.wake)
			return 0
		}
		code := record.BundleError
		if errors.Is(err, errDigest) {
			code = record.DigestMismatch
			_ = c.member.conn.ForceReconnect() // another server may have the bundle
		}
		c.member.problems.setOf(r, code, fmt.Sprintf("release %d: %s", r.Version, err))
		return jitter(c.member.options.Timing.Retry)
	}
	c.member.problems.set(record.BundleError, "")
	c.member.problems.set(record.DigestMismatch, "")
	if err := c.member.memory.update(func(m *memoryContent) { m.Sequence, m.Stage = r.Version, x.stage+1 }); err != nil {
		c.member.problems.setOf(r, record.BundleError, fmt.Sprintf("release %d: %s", r.Version, err))
		return jitter(c.member.options.Timing.Retry)
	}
	c.member.log.Info(fmt.Sprintf("fleet: starting release %d (bundle %s)", r.Version, r.Bundle))
	poke(c.updates)
	poke(c.agentWake)
	return 0
}

// checkExpiry records whether the present release has expired.
func (c *releases) checkExpiry(r *signed.Release) {
	if r == nil {
		return
	}
	if err := r.Begins(c.member.now()); err != nil {
		c.member.problems.setOf(r, record.ReleaseExpired, err.Error())
	} else {
		c.member.problems.set(record.ReleaseExpired, "")
	}
}

var errDigest = diag.Not("the received bundle", "the signed one")

// install fetches the bundle of a release, unless it is installed already.
func (c *releases) install(ctx context.Context, r *signed.Release) error {
	if c.bundles.Digest() == r.Digest() {
		return nil
	}
	download := Download{Conn: c.member.conn, Environment: c.member.identity.Environment, Parts: c.member.options.Timing.Parts, Obsolete: func() bool {
		newest, ro, _ := c.member.memory.documents()
		return newest.Version != r.Version || !ready(newest, ro, c.member.identity.Name, c.holds, c.member.now()).begins
	}}
	o, err := download.Open(ctx, r.Digest())
	if err != nil {
		return err
	}
	defer o.Close()
	_, err = c.bundles.Install(ctx, o, r.Digest())
	if _, other := errors.AsType[*agent.DigestError](err); other {
		return fmt.Errorf("%w: %w", errDigest, err)
	}
	return err
}
