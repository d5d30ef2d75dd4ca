package enrol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// denialStays is how long a denial stays on the servers, for the machine to read.
const denialStays = 7 * 24 * time.Hour

// A Desk answers requests on behalf of operators.
type Desk struct {
	Cluster *cluster.Cluster
	Now     func() time.Time
}

// OpenRequest is a request without an answer.
type OpenRequest struct {
	SignedRequest
	Twice bool // another open request has the same name
	Taken bool // a node has the name
}

// fresh is how long somebody may take to approve a machine that is being set up. The servers keep
// requests for a week, and a machine that is gone takes none back.
const fresh = 24 * time.Hour

// IsOld reports whether a request was made so long ago that the machine may be gone.
func (r *OpenRequest) IsOld(now time.Time) bool { return now.Sub(r.StoredAt) > fresh }

// Pending returns the open requests: those that may be of machines that are gone at the end, else
// oldest first, and the number of requests that were dropped
// because their key has not signed them.
func (d *Desk) Pending(ctx context.Context) (list []OpenRequest, dropped int, err error) {
	answered := map[string]bool{}
	err = direct.All(ctx, d.Cluster.Conn, direct.Request{Stream: subject.Answers, Filter: subject.AllEnrolled}, func(m *direct.Message) error {
		answered[keyOf(m.Subject)] = true
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return nil, 0, err
	}
	names := map[string]int{}
	err = direct.All(ctx, d.Cluster.Conn, direct.Request{Stream: subject.Enrolment, Filter: subject.AllRequests}, func(m *direct.Message) error {
		key := keyOf(m.Subject)
		if answered[key] {
			return nil
		}
		r, err := Decode(key, m.Data)
		if err != nil {
			dropped++
			return nil
		}
		r.Sequence, r.StoredAt = m.Sequence, m.Time
		names[r.Name]++
		list = append(list, OpenRequest{SignedRequest: *r, Taken: slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == r.Name && !n.Revoked })})
		return nil
	})
	for i := range list {
		list[i].Twice = names[list[i].Name] > 1
	}
	now := d.Now()
	slices.SortStableFunc(list, func(a, b OpenRequest) int {
		switch {
		case a.IsOld(now) == b.IsOld(now):
			return 0
		case a.IsOld(now):
			return 1
		}
		return -1
	})
	return list, dropped, err
}

// Approval has the values with which a request is approved.
type Approval struct {
	Fingerprint string   // compared by the operator; may be cut to at least 12 characters
	Name        string   // of the node, if not the requested one
	Environment string   // of the node, if not the requested one
	Tags        []string // NAME=VALUE
	Replace     bool     // revoke the node that has the name
	Token       *Token   // which approves the request, or nil
}

// Errors of Find.
var (
	ErrNoRequest = diag.None("enrolment request with that name")
	ErrTwice     = errors.New("several requests with that name (choose one with --fingerprint)")
)

// Find returns the request for a name. A fingerprint chooses among several.
func Find(list []OpenRequest, name, fingerprint string) (*OpenRequest, error) {
	var found []*OpenRequest
	for i := range list {
		if list[i].Name == name && fits(list[i].Fingerprint(), fingerprint) {
			found = append(found, &list[i])
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, ErrTwice
	case fingerprint != "" && len(strings.TrimPrefix(fingerprint, "SHA256:")) < leastFingerprint:
		return nil, diag.Too("the fingerprint", "short: give at least %d characters after SHA256", leastFingerprint)
	case fingerprint != "" && slices.ContainsFunc(list, func(p OpenRequest) bool { return p.Name == name }):
		return nil, diag.Mismatch("the fingerprint", "the request for %s", name)
	}
	return nil, ErrNoRequest
}

// leastFingerprint is the least length of a given fingerprint.
const leastFingerprint = 12

// fits reports whether a fingerprint is the given one, or begins with it.
func fits(have, given string) bool {
	if given == "" {
		return true
	}
	given = "SHA256:" + strings.TrimPrefix(given, "SHA256:")
	return have == given || len(given) >= len("SHA256:")+leastFingerprint && strings.HasPrefix(have, given)
}

// Approve makes a machine a node. It returns the node, and the node that it replaces.
func (d *Desk) Approve(ctx context.Context, p *OpenRequest, a Approval) (node identity.NodeIdentity, replaced *Node, err error) {
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return node, nil, err
	}
	node = identity.NodeIdentity{Name: p.Name, Environment: p.Environment, Key: p.Key, Recipient: p.Recipient, Tags: a.Tags}
	if a.Name != "" {
		node.Name = a.Name
	}
	if a.Environment != "" {
		node.Environment = a.Environment
	}
	for i, n := range nodes {
		switch {
		case n.Key == p.Key:
			return node, nil, diag.Already("the machine", "node %s", n.Name)
		case n.Name != node.Name || n.Revoked:
		case !a.Replace:
			return node, nil, fmt.Errorf("%w (--replace revokes its key)", diag.Exists("node "+n.Name, "with the fingerprint %s", Fingerprint(n.Key, n.Recipient)))
		default:
			replaced = &nodes[i]
		}
	}
	if a.Token != nil {
		node.Token, node.Tags = a.Token.ID, a.Token.Tags
		if err := d.use(ctx, a.Token, p.Key); err != nil {
			return node, nil, err
		}
	}
	if node, err = d.Cluster.Directory.Sign(node); err != nil {
		return node, nil, err
	}
	if replaced != nil {
		if _, err := d.Revoke(ctx, *replaced); err != nil {
			return node, nil, err
		}
	}
	return node, replaced, d.store(ctx, node, 0)
}

// store stores the answer to a request, in place of the message with a sequence: 0 for none. It
// also keeps a copy in the directory, in case the servers lose theirs.
func (d *Desk) store(ctx context.Context, n identity.NodeIdentity, before uint64) error {
	if err := d.publish(ctx, n, before); err != nil {
		return err
	}
	return d.Cluster.Directory.SaveNode(n)
}

// publish stores the answer to a request on the servers.
func (d *Desk) publish(ctx context.Context, n identity.NodeIdentity, before uint64) error {
	text, err := answer{JWT: n.JWT}.encode()
	if err != nil {
		return err
	}
	if _, err := direct.Publish(ctx, d.Cluster.Conn, subject.Enrolled(n.Key), text, direct.Expect(before)); err != nil {
		if direct.IsConflict(err) {
			return diag.Meanwhile("the request of "+n.Name, "answered by another operator")
		}
		return err
	}
	return nil
}

// use counts one use of a token, by a key.
func (d *Desk) use(ctx context.Context, t *Token, key string) error {
	return d.changeUses(ctx, t.ID, func(u *uses) error {
		switch {
		case slices.Contains(u.Revoked, key):
			return diag.Already("the requesting key", "revoked")
		case slices.Contains(u.Keys, key):
			return nil
		case len(u.Keys) >= t.Uses:
			return diag.Already("the token "+t.ID, "used up (%d uses)", t.Uses)
		}
		u.Keys = append(u.Keys, key)
		return nil
	})
}

// endUse stops a token from making a key a node again.
func (d *Desk) endUse(ctx context.Context, id, key string) error {
	return d.changeUses(ctx, id, func(u *uses) error {
		if !slices.Contains(u.Revoked, key) {
			u.Revoked = append(u.Revoked, key)
		}
		return nil
	})
}

// changeUses changes the record of a token's uses. It stores the record even if unchanged, so that
// a desk with an old record gets a conflict.
func (d *Desk) changeUses(ctx context.Context, id string, f func(*uses) error) error {
	for range 20 {
		var u uses
		var before uint64
		m, err := direct.Last(ctx, d.Cluster.Conn, subject.Answers, subject.Enrolled(id))
		switch {
		case err == nil:
			before = m.Sequence
			if err := json.Unmarshal(m.Data, &u); err != nil || u.Protocol != usesProtocol {
				return diag.Cannot("read", fmt.Sprintf("the uses of the token %s", id), nil)
			}
		case !errors.Is(err, direct.ErrNone):
			return err
		}
		if err := f(&u); err != nil {
			return err
		}
		u.Protocol = usesProtocol
		text, err := json.Marshal(u)
		if err != nil {
			return err
		}
		_, err = direct.Publish(ctx, d.Cluster.Conn, subject.Enrolled(id), text, direct.Expect(before))
		if err == nil || !direct.IsConflict(err) {
			return err
		}
		// The record came from a replica that lags, or another desk was faster.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("the uses of the token %s keep changing", id)
}

// Deny answers a request with a reason for the denial, and deletes the request.
func (d *Desk) Deny(ctx context.Context, p *OpenRequest, why string) error {
	text, err := answer{Denial: why}.encode()
	if err != nil {
		return err
	}
	if _, err := direct.Publish(ctx, d.Cluster.Conn, subject.Enrolled(p.Key), text, direct.Expect(0), direct.Header("Nats-TTL", strconv.Itoa(int(denialStays.Seconds())))); err != nil {
		return err
	}
	return d.forgetIn(ctx, subject.Enrolment, p.Sequence)
}

// ApproveByToken approves all requests that carry one of these tokens, and reports each. The caller
// repeats it.
func (d *Desk) ApproveByToken(ctx context.Context, tokens []Token, report func(p OpenRequest, err error)) error {
	list, _, err := d.Pending(ctx)
	if err != nil {
		return err
	}
	for _, p := range list {
		i := slices.IndexFunc(tokens, func(t Token) bool { return p.Token == t.ID })
		if i < 0 {
			continue
		}
		err := tokens[i].allows(&p.SignedRequest, d.Now())
		if err == nil {
			_, _, err = d.Approve(ctx, &p, Approval{Token: &tokens[i]})
		}
		report(p, err)
	}
	return nil
}
