package enrol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// RekeyProgress describes how far an exchange of the key that signs nodes has come.
type RekeyProgress struct {
	Signed  int      `json:"signed"`  // nodes that have a JWT of the new key
	Pending []string `json:"waiting"` // nodes that do not use theirs yet
	Revoked int      `json:"revoked"` // keys that will leave the list of revocations
}

// BeginRekey makes a new key, makes the servers trust it besides the old one, and signs all nodes
// that are not revoked with it. After an interruption, calling it again goes on. It returns the
// number of signed nodes.
func (d *Desk) BeginRekey(ctx context.Context) (signed int, err error) {
	dir := d.Cluster.Directory
	if err := dir.BeginRekey(); err != nil {
		return 0, err
	}
	if _, err := d.change(ctx, func(*identity.AccountChange) {}); err != nil {
		return 0, err
	}
	nodes, foreign, err := d.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	if len(foreign) > 0 {
		return 0, fmt.Errorf("%d nodes are signed by keys that this directory does not know: they would be lost", len(foreign))
	}
	if err := d.waitUntilAfter(ctx, nodes); err != nil {
		return 0, err
	}
	for _, n := range nodes {
		if n.Revoked || dir.Fleet.Signs(n.Issuer) {
			continue
		}
		renewed, err := dir.Sign(n.NodeIdentity)
		if err != nil {
			return signed, fmt.Errorf("node %s: %w", n.Name, err)
		}
		if err := d.store(ctx, renewed, n.Sequence); err != nil {
			return signed, err
		}
		signed++
	}
	return signed, nil
}

// waitUntilAfter waits until a new JWT would have a later time than those of the nodes, because
// nodes accept only newer ones. JWTs count seconds.
func (d *Desk) waitUntilAfter(ctx context.Context, nodes []Node) error {
	var newest Node
	for _, n := range nodes {
		if !n.Revoked && n.IssuedAt >= newest.IssuedAt {
			newest = n
		}
	}
	wait := time.Unix(newest.IssuedAt+1, 0).Sub(d.Now())
	if wait > time.Minute {
		return fmt.Errorf("node %s was approved at %s, in the future by the clock of this machine (set the clock)", newest.Name, time.Unix(newest.IssuedAt, 0).UTC().Format(time.RFC3339))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// Rekeyed returns the nodes that do not use their new JWT yet, according to their heartbeats.
func (d *Desk) Rekeyed(ctx context.Context) (*RekeyProgress, error) {
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	said, err := roster.Read(ctx, d.Cluster.Conn, roster.Options{Environments: Environments(nodes)})
	if err != nil {
		return nil, err
	}
	uses := map[string]bool{}
	for _, n := range said {
		uses[n.Name] = n.Presence != nil && d.Cluster.Directory.Fleet.Signs(n.Presence.Issuer)
	}
	r := &RekeyProgress{Pending: []string{}}
	for _, n := range nodes {
		switch {
		case n.Revoked && !d.Cluster.Directory.Fleet.Signs(n.Issuer):
			r.Revoked++
		case n.Revoked:
		case !uses[n.Name]:
			r.Pending = append(r.Pending, n.Name)
			fallthrough
		default:
			r.Signed++
		}
	}
	return r, nil
}

// EndRekey makes the servers trust only the new key, and removes nodes that only the old key signed
// from the list of revocations. Nodes that do not use their new JWT have to be enrolled again.
func (d *Desk) EndRekey(ctx context.Context) ([]string, error) {
	dir := d.Cluster.Directory
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	old := slices.DeleteFunc(nodes, func(n Node) bool { return dir.Fleet.Signs(n.Issuer) })
	var keys []string
	for _, n := range old {
		if !n.Revoked {
			return nil, fmt.Errorf("%w (run the command again)", diag.Meanwhile("node "+n.Name, "approved with the old key"))
		}
		keys = append(keys, n.Key)
	}
	// The old nodes' answers are deleted now, because nothing could read them later. Their requests
	// are deleted before: a token would approve a request without an answer again.
	for _, n := range old {
		if n.Token != "" {
			if err := d.endUse(ctx, n.Token, n.Key); err != nil {
				return nil, err
			}
		}
		if err := d.forgetRequest(ctx, n.Key); err != nil {
			return nil, err
		}
		if err := errors.Join(d.forgetIn(ctx, subject.Answers, n.Sequence), dir.ForgetNode(n.Name, n.Key)); err != nil {
			return nil, err
		}
	}
	if err := dir.EndRekey(); err != nil {
		return nil, err
	}
	return d.change(ctx, func(a *identity.AccountChange) { a.Forget(keys) })
}

// forgetRequest deletes the request of a key.
func (d *Desk) forgetRequest(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	s, err := d.Cluster.JetStream.Stream(ctx, subject.Enrolment)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(subject.Request(key)))
}

// forgetIn deletes a message of a stream; a missing message is no error.
func (d *Desk) forgetIn(ctx context.Context, stream string, sequence uint64) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	s, err := d.Cluster.JetStream.Stream(ctx, stream)
	if err != nil {
		return err
	}
	if err := s.DeleteMsg(ctx, sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	return nil
}
