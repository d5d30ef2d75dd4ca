// Package subject holds the names that a fleet has on its NATS servers: subjects, streams, buckets
// and keys, and the rule for names of nodes and environments. Writers, readers and permissions take
// them from here.
//
// NATS itself defines the names with $KV (ADR-8, key-value), $O (ADR-20, object store) and
// $JS.API.DIRECT.GET (ADR-31, direct get).
package subject

// Streams and buckets. A bucket is a stream with another name: see [KVStream] and [ObjectStream].
const (
	Control      = "CCM_CONTROL"  // bucket: releases, roll-outs and signers of environments
	Nodes        = "CCM_NODES"    // bucket: facts and state of nodes
	Presence     = "CCM_PRESENCE" // bucket: heartbeats
	Events       = "CCM_EVENTS"   // stream: events, summaries, results of jobs
	Jobs         = "CCM_JOBS"     // stream: jobs; the audit log
	Enrolment    = "CCM_ENROL"    // stream: requests of new machines, which expire
	Answers      = "CCM_ENROLLED" // stream: answers to requests, which stay
	Registration = "REGISTRATION" // stream: services that nodes offer; the name and subjects are upstream's
	sites        = "CCM_SITES_"   // object store, one per environment
)

// Subjects, or their beginnings.
const (
	prefix      = "ccm.v1."
	AllControl  = prefix + "control.>"
	AllEvents   = prefix + "event.>"
	AllJobs     = prefix + "job.>"
	AllOrders   = prefix + "do.>"
	AllRequests = prefix + "enrol.*"
	AllEnrolled = prefix + "enrolled.*"
	AllEntries  = "choria.ccm.registration.v1.>"
	directGet   = "$JS.API.DIRECT.GET"
)

// KVStream returns the stream of a key-value bucket.
func KVStream(bucket string) string { return "KV_" + bucket }

// KV returns the subject of a key in a key-value bucket, or the subjects of a pattern of keys.
func KV(bucket, key string) string { return "$KV." + bucket + "." + key }

// ObjectStream returns the stream of an object store.
func ObjectStream(store string) string { return "OBJ_" + store }

// Objects returns the subjects of an object store: of its objects' metadata, and of their parts.
func Objects(store string) (metadata, chunks string) {
	return "$O." + store + ".M.>", "$O." + store + ".C.>"
}

// Sites returns the object store with the bundles of an environment.
func Sites(environment string) string { return sites + environment }

// BundleObject returns the name of a bundle in its object store, and of its file elsewhere.
func BundleObject(digest string) string { return "sha256-" + digest + ".tar.gz" }

// DirectGet returns the subject of requests for messages of a stream. If last is "" the body has
// the request; otherwise the request is for the last message of that subject. last may be a
// pattern.
func DirectGet(stream, last string) string {
	name := directGet
	for _, part := range []string{stream, last} {
		if part != "" {
			name += "." + part
		}
	}
	return name
}

// ReleaseKey is the key with the release of an environment in the bucket [Control].
func ReleaseKey(environment string) string { return environment + ".release" }

// RolloutKey is the key with the rollout of an environment's release.
func RolloutKey(environment string) string { return environment + ".rollout" }

// SignersKey is the key with the signers that an environment trusts.
func SignersKey(environment string) string { return environment + ".signers" }

// FactsKey is the key with the facts of a node in the bucket [Nodes].
func FactsKey(node string) string { return node + ".facts" }

// StateKey is the key with the last state of a node.
func StateKey(node string) string { return node + ".state" }

// PresenceKey is the key of a node in the bucket [Presence].
func PresenceKey(node string) string { return node }

// ControlChanges returns the subjects on which changes of an environment's keys are published, with
// the whole values.
func ControlChanges(environment string) string { return prefix + "control." + environment + ".>" }

// ControlChange returns the subject on which changes of one key of the bucket [Control] are
// published.
func ControlChange(key string) string { return prefix + "control." + key }

// Event returns the subject of a node's events.
func Event(environment, node string) string { return prefix + "event." + environment + "." + node }

// Job returns the subject under which a job is stored: for an environment if node is "", or for one
// node.
func Job(environment, node string) string { return addressed("job.", environment, node) }

// Order returns the subject on which a stored job is published to connected nodes.
func Order(environment, node string) string { return addressed("do.", environment, node) }

func addressed(kind, environment, node string) string {
	if node == "" {
		return prefix + kind + environment
	}
	return prefix + kind + environment + "." + node
}

// Request returns the subject of the request for enrolment of a machine with a public key.
func Request(key string) string { return prefix + "enrol." + key }

// Enrolled returns the subject of the answer to that request.
func Enrolled(key string) string { return prefix + "enrolled." + key }

// Inbox returns the prefix of the subjects on which a node receives answers, for
// nats.CustomInboxPrefix. Each node has its own, so that no node receives answers for others.
func Inbox(node string) string { return "_INBOX_" + node }

// UserInbox is like Inbox for a person, whose name may equal a node's.
func UserInbox(user string) string { return "_INBOX_USER_" + user }

// EnrolmentInbox is like Inbox for a machine without a name, by its public key.
func EnrolmentInbox(key string) string { return "_INBOX_ENROL." + key }
