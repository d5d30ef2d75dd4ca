package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// A readiness says whether a node begins with a release.
type readiness struct {
	begins bool
	stage  int    // from 0 on, if it begins
	why    string // if not
	err    error  // that of the release, if it cannot
}

// ready decides whether a node that runs another release begins with this one.
func ready(r *signed.Release, ro *signed.Rollout, node string, holds func(string) (bool, error), now time.Time) readiness {
	switch {
	case r == nil:
		return readiness{why: "there is no release"}
	case ro == nil || ro.Release != r.Version:
		return readiness{why: "its rollout has not begun"}
	}
	if err := r.Begins(now); err != nil {
		return readiness{why: err.Error(), err: err}
	}
	stage := r.StageOf(node, holds)
	switch {
	case ro.State == signed.Done || ro.State == signed.Rolling && stage <= ro.Stage:
		return readiness{begins: true, stage: stage}
	case ro.State != signed.Rolling:
		return readiness{why: "its rollout is " + string(ro.State)}
	}
	return readiness{why: fmt.Sprintf("stage %d has not begun", stage+1)}
}

// offset is how long after others a node begins: always the same for a release.
func offset(r *signed.Release, node string) time.Duration {
	if r.Spread <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte("spread\x00" + r.ID() + "\x00" + node))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(r.Spread))
}

// carryOutReleases begins with releases when it is their time.
func (n *Node) carryOutReleases(ctx context.Context) {
	retry := time.NewTimer(time.Hour)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.decide:
		case <-retry.C:
		}
		wait := n.carryOutRelease(ctx)
		if wait <= 0 {
			wait = time.Hour
		}
		retry.Reset(wait)
	}
}

// carryOutRelease begins with the present release if it is time, and returns after how long it is to be
// tried again; 0 if that depends on what comes.
func (n *Node) carryOutRelease(ctx context.Context) time.Duration {
	r, ro, _ := n.memory.documents()
	taken, _ := n.memory.taken()
	if r == nil || r.Version == taken {
		n.sayExpired(r)
		return 0
	}
	x := ready(r, ro, n.identity.Name, n.holds, n.now())
	if !x.begins {
		if signed.ReasonOf(x.err) == signed.Expired {
			n.problemOf(r, record.ReleaseExpired, x.why)
		}
		n.log.Debug(fmt.Sprintf("fleet: release %d: not yet: %s", r.Version, x.why))
		return 0
	}
	if since := ro.Since; !since.IsZero() {
		if wait := since.Add(offset(r, n.identity.Name)).Sub(n.now()); wait > 0 {
			return min(wait, time.Duration(r.Spread))
		}
	}
	if err := n.bring(ctx, r); err != nil {
		if ctx.Err() != nil {
			return 0
		}
		code := record.BundleError
		if errors.Is(err, errDigest) {
			code = record.DigestMismatch
			_ = n.nc.ForceReconnect() // another server may have what was meant
		}
		n.problemOf(r, code, fmt.Sprintf("release %d: %s", r.Version, err))
		return jitter(n.o.Timing.Retry)
	}
	n.problem(record.BundleError, "")
	n.problem(record.DigestMismatch, "")
	if err := n.memory.update(func(m *remembered) { m.Taken, m.Stage = r.Version, x.stage+1 }); err != nil {
		n.problemOf(r, record.BundleError, fmt.Sprintf("release %d: %s", r.Version, err))
		return jitter(n.o.Timing.Retry)
	}
	n.log.Info(fmt.Sprintf("fleet: begins with release %d (bundle %s)", r.Version, r.Bundle))
	poke(n.arrived)
	poke(n.changed)
	return 0
}

// sayExpired tells that the release which is run is older than it should be.
func (n *Node) sayExpired(r *signed.Release) {
	if r == nil {
		return
	}
	if err := r.Begins(n.now()); err != nil {
		n.problemOf(r, record.ReleaseExpired, err.Error())
	} else {
		n.problem(record.ReleaseExpired, "")
	}
}

var errDigest = errors.New("what came is not the bundle that was signed")

// bring brings the bundle of a release here.
func (n *Node) bring(ctx context.Context, r *signed.Release) error {
	if n.bundles.Digest() == r.Digest() {
		return nil
	}
	o, err := n.openObject(ctx, r.Digest())
	if err != nil {
		return err
	}
	defer o.Close()
	_, err = n.bundles.Install(ctx, o, r.Digest())
	if err != nil && strings.Contains(err.Error(), "want the SHA-256") {
		return fmt.Errorf("%w: %w", errDigest, err)
	}
	return err
}
