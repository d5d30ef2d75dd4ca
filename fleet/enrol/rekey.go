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
)

// RekeyProgress says how far the exchange of the key that signs nodes is.
type RekeyProgress struct {
	Signed  int      `json:"signed"`  // nodes that have a JWT of the new key
	Pending []string `json:"waiting"` // nodes that do not use it yet
	Revoked int      `json:"revoked"` // keys that are off the list then
}

// BeginRekey makes a new key, has the servers believe it besides the old one, and signs all nodes with it
// that are not revoked. Ended in between, it goes on where it was. It returns how many it signed.
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

// waitUntilAfter waits until a JWT that is made is newer than those of the nodes, which take no other. JWTs
// count seconds.
func (d *Desk) waitUntilAfter(ctx context.Context, nodes []Node) error {
	var newest Node
	for _, n := range nodes {
		if !n.Revoked && n.IssuedAt >= newest.IssuedAt {
			newest = n
		}
	}
	wait := time.Unix(newest.IssuedAt+1, 0).Sub(d.Now())
	if wait > time.Minute {
		return fmt.Errorf("node %s was approved at %s, which has not come yet by the clock of this machine: set it", newest.Name, time.Unix(newest.IssuedAt, 0).UTC().Format(time.RFC3339))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// Rekeyed returns which nodes do not use their new JWT yet, by what their heartbeats say.
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

// EndRekey has the servers believe only the new key, and takes from the list of revocations the nodes that
// only the old one signed. Those who do not use their new JWT have to be enrolled again.
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
			return nil, fmt.Errorf("node %s was approved meanwhile, by the old key: run it again", n.Name)
		}
		keys = append(keys, n.Key)
	}
	// Their answers go first: what is left of them nothing could read after it. But before that what they asked with: a
	// request without an answer waits for one, and a token gives it.
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

// forgetIn deletes a message of a stream; that it is not there is no error.
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
