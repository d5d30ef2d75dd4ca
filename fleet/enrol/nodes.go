package enrol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// A Node is a machine that an operator has approved.
type Node struct {
	identity.NodeIdentity
	Revoked  bool
	Sequence uint64 // of the answer
}

// A ForeignNode is a node whose JWT is signed by none of the keys in fleet.json. Its name is from
// that JWT, and nothing vouches for the name.
type ForeignNode struct {
	Node        string `json:"node"` // "?" if the JWT has no valid name
	Environment string `json:"environment,omitempty"`
	Issuer      string `json:"issuer,omitempty"`
}

// foreignOf returns the node of a JWT that is not trusted.
func foreignOf(text string) ForeignNode {
	n, err := identity.DecodeNode(text)
	if err != nil {
		return ForeignNode{Node: "?"}
	}
	return ForeignNode{n.Name, n.Environment, n.Issuer}
}

// Nodes returns the nodes of the fleet by name, revoked nodes too. Nodes without a signature of the
// fleet are foreign: after an exchange of the key also to readers of an old fleet.json.
func (d *Desk) Nodes(ctx context.Context) (nodes []Node, foreign []ForeignNode, err error) {
	revoked, err := d.Cluster.Directory.Revoked()
	if err != nil {
		return nil, nil, err
	}
	type answered struct {
		node    *Node
		foreign *ForeignNode
	}
	list, err := direct.Decoded(ctx, d.Cluster.Conn, direct.Request{Stream: subject.Answers, Filter: subject.AllEnrolled}, func(m *direct.Message) (x answered) {
		key := keyOf(m.Subject)
		if !nkeys.IsValidPublicUserKey(key) {
			return x // the record of a token's uses
		}
		a, err := decodeAnswer(m.Data)
		if err != nil || a.JWT == "" {
			return x
		}
		n, err := d.Cluster.Directory.ReadNode(a.JWT)
		if err != nil || n.Key != key {
			if a.RevokedAt.IsZero() {
				f := foreignOf(a.JWT)
				x.foreign = &f
			}
			return x
		}
		x.node = &Node{NodeIdentity: n, Revoked: revoked[key] || !a.RevokedAt.IsZero(), Sequence: m.Sequence}
		return x
	})
	_ = d.Cluster.Directory.SaveVerified() // without the file the next command is only slower
	for _, x := range list {
		if x.node != nil {
			nodes = append(nodes, *x.node)
		}
		if x.foreign != nil {
			foreign = append(foreign, *x.foreign)
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Key, b.Key)) })
	slices.SortFunc(foreign, func(a, b ForeignNode) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Issuer, b.Issuer))
	})
	return nodes, foreign, err
}

// Environments returns the environments of the nodes that are not revoked, by name of the node.
func (d *Desk) Environments(ctx context.Context) (map[string]string, error) {
	nodes, foreign, err := d.Nodes(ctx)
	if err == nil && len(foreign) > 0 && len(nodes) == 0 {
		err = ErrForeign
	}
	return Environments(nodes), err
}

// ErrForeign says that fleet.json does not name the key that signs the nodes.
var ErrForeign = diag.Not("the key that signed the nodes", "in fleet.json (after ccm fleet rekey, copy fleet.json again from the fleet directory)")

// Environments returns the environments of the nodes that are not revoked, by name of the node.
func Environments(nodes []Node) map[string]string {
	by := make(map[string]string, len(nodes))
	for _, n := range nodes {
		if !n.Revoked {
			by[n.Name] = n.Environment
		}
	}
	return by
}

// Revoke revokes a node's key, and makes the servers end its connection. It returns the servers
// that confirmed.
func (d *Desk) Revoke(ctx context.Context, n Node) ([]string, error) {
	servers, err := d.RevokeKey(ctx, n.Key)
	if err != nil {
		return servers, err
	}
	text, err := answer{JWT: n.JWT, RevokedAt: d.Now().UTC()}.encode()
	if err != nil {
		return servers, err
	}
	if _, err := direct.Publish(ctx, d.Cluster.Conn, subject.Enrolled(n.Key), text, direct.Expect(n.Sequence)); err != nil && !direct.IsConflict(err) {
		return servers, fmt.Errorf("%s is revoked, but operators with another directory do not see it: %w", n.Name, err)
	}
	return servers, nil
}

// RevokeKey is Revoke for the key of a person.
func (d *Desk) RevokeKey(ctx context.Context, key string) ([]string, error) {
	servers, err := d.change(ctx, func(a *identity.AccountChange) { a.Revoke(key, d.Now()) })
	if err != nil {
		return servers, err
	}
	if err := cluster.Disconnect(ctx, d.Cluster.Directory, key); err != nil {
		return servers, diag.Cannot("disconnect", "the key, which is revoked", err)
	}
	return servers, nil
}

// Restore stores answers again that the servers have lost and the directory still has, and copies
// the other nodes' answers into the directory. It returns the nodes whose answers it stored; with
// noop it stores nothing and only returns them.
func (d *Desk) Restore(ctx context.Context, noop bool) ([]identity.NodeIdentity, error) {
	nodes, _, err := d.Nodes(ctx)
	if errors.Is(err, direct.ErrNone) || noop && err != nil {
		return nil, nil // there is no stream yet
	}
	if err != nil {
		return nil, err
	}
	saved, err := d.Cluster.Directory.SavedNodes()
	if err != nil {
		return nil, err
	}
	revoked, err := d.Cluster.Directory.Revoked()
	if err != nil {
		return nil, err
	}
	there, here := map[string]bool{}, map[string]bool{}
	for _, n := range nodes {
		there[n.Key] = true
	}
	var missing []identity.NodeIdentity
	for _, n := range saved {
		if here[n.Key] = true; !there[n.Key] && !revoked[n.Key] {
			missing = append(missing, n)
		}
	}
	stored := missing
	if !noop {
		if stored, err = d.publishAll(ctx, missing); err != nil {
			return stored, err
		}
	}
	for _, n := range nodes {
		if !here[n.Key] && !n.Revoked && !noop {
			if err := d.Cluster.Directory.SaveNode(n.NodeIdentity); err != nil {
				return stored, err
			}
		}
	}
	return stored, nil
}

// inFlight is the number of answers that are published concurrently.
const inFlight = 64

// publishAll stores the answers of many nodes on servers that do not have them. It returns the
// nodes whose answers were stored; after an error some are missing.
func (d *Desk) publishAll(ctx context.Context, nodes []identity.NodeIdentity) ([]identity.NodeIdentity, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	var next atomic.Int64
	done := make([]bool, len(nodes))
	for range min(inFlight, len(nodes)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(nodes)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := d.publish(ctx, nodes[i], 0); err != nil {
					cancel(err)
					return
				}
				done[i] = true
			}
		})
	}
	workers.Wait()
	var stored []identity.NodeIdentity
	for i, n := range nodes {
		if done[i] {
			stored = append(stored, n)
		}
	}
	return stored, context.Cause(ctx)
}

// change changes the account, here and on the servers. Revocations by others stay.
func (d *Desk) change(ctx context.Context, f func(*identity.AccountChange)) ([]string, error) {
	dir := d.Cluster.Directory
	there, err := cluster.Account(ctx, dir)
	if err != nil {
		return nil, err
	}
	token, err := dir.ChangeAccount(there, f)
	if err != nil {
		return nil, err
	}
	return cluster.PushAccount(ctx, dir, token)
}
