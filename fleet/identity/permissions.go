package identity

import (
	"slices"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/luaccm/ccm/fleet/subject"
)

// A Role is a set of permissions on the servers. Each role has its own signing key, whose
// permissions are only in the JWT of the account: a change of them applies to all whom that key has
// signed, without new credentials.
type Role string

// The roles. Nodes and machines that ask to be enrolled have roles like people.
const (
	Node     Role = "node"     // a machine: writes its own data, reads what it follows
	Enrol    Role = "enrol"    // a new machine: asks, and reads the answer
	Viewer   Role = "viewer"   // reads nodes, events and jobs
	Operator Role = "operator" // also writes releases, roll-outs and jobs
	Admin    Role = "admin"    // also enrols, revokes and makes streams
)

// roles are all roles, in the order of reports.
var roles = []Role{Node, Enrol, Viewer, Operator, Admin}

// Includes reports whether a person of this role has all permissions of another role.
func (r Role) Includes(other Role) bool {
	people := []Role{Viewer, Operator, Admin}
	return slices.Index(people, r) >= slices.Index(people, other)
}

// Article returns the role with its article.
func (r Role) Article() string {
	if r == Viewer {
		return "a " + string(r)
	}
	return "an " + string(r)
}

// keyFile returns the file of the private key of a role.
func (r Role) keyFile() string {
	return map[Role]string{Node: "keys/nodes.nk", Enrol: "keys/enrol.nk", Viewer: "keys/viewers.nk", Operator: "keys/operators.nk", Admin: "keys/admins.nk"}[r]
}

// Templates of NATS, which the server fills in for each user.
const (
	nameTemplate = "{{name()}}"
	envTemplate  = "{{tag(env)}}"
	keyTemplate  = "{{subject()}}"
)

// Limits of one message, in bytes, by role.
const (
	nodePayload  = 256 << 10
	enrolPayload = 4 << 10
)

// scope returns the permissions of a role.
func (f *Fleet) scope(role Role, key string) *jwt.UserScope {
	s := jwt.NewUserScope()
	s.Key, s.Role = key, string(role)
	t := &s.Template
	switch role {
	case Node:
		f.allowNode(t)
	case Enrol:
		t.Limits.NatsLimits.Payload, t.Limits.NatsLimits.Subs = enrolPayload, 4
		t.Pub.Allow.Add(subject.AllRequests, subject.DirectGet(subject.Answers, subject.AllEnrolled))
		t.Sub.Allow.Add(subject.EnrolmentInbox(">"))
	case Viewer:
		f.allowViewer(t)
	case Operator:
		f.allowViewer(t)
		t.Pub.Allow.Add(subject.AllJobs, subject.KV(subject.Control, ">"), subject.DirectGet("", ">"))
		for _, e := range f.Environments {
			metadata, chunks := subject.Objects(subject.Sites(e))
			t.Pub.Allow.Add(metadata, chunks, "$JS.API.STREAM.PURGE."+subject.ObjectStream(subject.Sites(e)))
		}
	case Admin:
		t.Pub.Allow.Add("ccm.v1.>", "choria.ccm.>", "$KV.>", "$O.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>")
		t.Sub.Allow.Add("ccm.v1.>", "choria.ccm.>", "$KV.>", "$JS.EVENT.ADVISORY.>", subject.UserInbox(nameTemplate)+".>")
	}
	return s
}

// allowNode lets a node write under its own name, and read its environment's data.
func (f *Fleet) allowNode(t *jwt.UserPermissionLimits) {
	t.Limits.NatsLimits.Payload, t.Limits.NatsLimits.Subs = nodePayload, 16
	nodes, presence, control := subject.KVStream(subject.Nodes), subject.KVStream(subject.Presence), subject.KVStream(subject.Control)
	own := subject.KV(subject.Nodes, nameTemplate+".>")
	beat := subject.KV(subject.Presence, subject.PresenceKey(nameTemplate))
	bundles := subject.ObjectStream(subject.Sites(envTemplate))
	t.Pub.Allow.Add(own, beat, subject.Event(envTemplate, nameTemplate),
		"choria.ccm.registration.v1.*.*.*.*.{{tag(reg)}}",
		subject.DirectGet(control, subject.KV(subject.Control, envTemplate+".>")),
		subject.DirectGet(subject.Jobs, subject.Job(envTemplate, "")), subject.DirectGet(subject.Jobs, subject.Job(envTemplate, nameTemplate)),
		subject.DirectGet(bundles, ""), subject.DirectGet(bundles, ">"),
		subject.DirectGet(nodes, own), subject.DirectGet(presence, beat),
		subject.DirectGet(subject.Answers, subject.Enrolled(keyTemplate)))
	if f.Registry {
		t.Pub.Allow.Add(subject.DirectGet(subject.Registration, ""))
	}
	for _, bucket := range f.Data {
		t.Pub.Allow.Add(subject.DirectGet(subject.KVStream(bucket), ">"))
	}
	t.Sub.Allow.Add(subject.ControlChanges(envTemplate), subject.Order(envTemplate, ""), subject.Order(envTemplate, nameTemplate),
		subject.Inbox(nameTemplate)+".>")
}

// allowViewer lets a person read the nodes' data and the operators' orders, but no bundles.
func (f *Fleet) allowViewer(t *jwt.UserPermissionLimits) {
	for _, stream := range readable() {
		t.Pub.Allow.Add(subject.DirectGet(stream, ""), subject.DirectGet(stream, ">"), "$JS.API.STREAM.INFO."+stream)
	}
	for _, e := range f.Environments { // whether a bundle is there, but not its content
		t.Pub.Allow.Add("$JS.API.STREAM.INFO." + subject.ObjectStream(subject.Sites(e)))
	}
	events := subject.Events // "ccm fleet events -f" makes one consumer, which ends with the command
	t.Pub.Allow.Add("$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST",
		"$JS.API.CONSUMER.CREATE."+events, "$JS.API.CONSUMER.CREATE."+events+".>", "$JS.API.CONSUMER.INFO."+events+".*",
		"$JS.API.CONSUMER.MSG.NEXT."+events+".*", "$JS.API.CONSUMER.DELETE."+events+".*", "$JS.ACK."+events+".>", "$JS.FC."+events+".>")
	t.Sub.Allow.Add(subject.AllEvents, subject.AllControl, subject.AllOrders, subject.KV(subject.Nodes, ">"), subject.KV(subject.Presence, ">"),
		subject.UserInbox(nameTemplate)+".>")
}

// readable are the streams that a viewer reads.
func readable() []string {
	return []string{subject.KVStream(subject.Nodes), subject.KVStream(subject.Presence), subject.KVStream(subject.Control),
		subject.Events, subject.Jobs, subject.Answers, subject.Registration}
}

// accountClaims returns the claims of the account's JWT. keys are public keys by role; while the
// key of a role is exchanged it has several.
func (f *Fleet) accountClaims(keys map[Role][]string, revoked jwt.RevocationList) *jwt.AccountClaims {
	c := jwt.NewAccountClaims(f.Account)
	c.Name = "CCM"
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	for _, role := range roles {
		for _, key := range keys[role] {
			c.SigningKeys.AddScopedSigner(f.scope(role, key))
		}
	}
	for key, until := range revoked {
		c.RevokeAt(key, time.Unix(until, 0))
	}
	return c
}
