// Package record holds a node's data about itself: facts, its last state, and its heartbeat. Nodes
// write them, and the commands of operators read them. They are only claims: any holder of the
// node's key can write them, so readers check and shorten them before they show them.
package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// Protocols of the documents.
const (
	FactsProtocol    = "io.choria.ccm.v1.node.facts"
	StateProtocol    = "io.choria.ccm.v1.node.state"
	PresenceProtocol = "io.choria.ccm.v1.node.presence"
)

// The most bytes of each document. A message may have 256 KiB with its headers.
const (
	MaxFacts    = 250 << 10
	MaxState    = 4 << 10
	MaxPresence = 1 << 10
)

// Facts are the facts of a machine.
type Facts struct {
	Protocol       string         `json:"protocol"`
	Node           string         `json:"node"`
	Time           time.Time      `json:"time"`
	Facts          map[string]any `json:"facts"`
	TruncatedFacts []string       `json:"_truncated,omitempty"` // facts that were too large
}

// A State describes how the last run of a node ended, and what the node follows.
type State struct {
	Protocol    string    `json:"protocol"`
	Node        string    `json:"node"`
	Environment string    `json:"environment"`
	Time        time.Time `json:"time"`
	Version     string    `json:"version"` // of ccm

	RunID     string    `json:"run_id,omitempty"`
	StartTime time.Time `json:"started,omitzero"`
	Duration  float64   `json:"duration,omitempty"` // seconds
	Trigger   string    `json:"trigger,omitempty"`  // cause of the run: interval, release, job, health, start
	Job       string    `json:"job,omitempty"`      // id of the job that caused the run
	Noop      bool      `json:"noop,omitempty"`
	Outcome   string    `json:"outcome,omitempty"` // stable, changed, failed, interrupted, of a plan pending; "" before the first run
	Counts    Counts    `json:"counts"`
	Failures  []Failure `json:"failed,omitempty"`  // the first five
	Pending   int       `json:"pending,omitempty"` // refreshes that wait for the next run

	Bundle   string            `json:"bundle,omitempty"`  // sha256:HEX of the last run's bundle
	Release  int64             `json:"release,omitempty"` // version of the last run's release
	Stage    int               `json:"stage,omitempty"`   // stage of the rollout in which the node took the release, from 1 on
	Labels   map[string]string `json:"labels,omitempty"`  // facts by which nodes are selected
	Skew     float64           `json:"skew,omitempty"`    // seconds that the node's clock is ahead of the servers'
	Problems []Problem         `json:"problems,omitempty"`
	// Unmanaged is what no source of the agent describes; nil if it was not listed.
	Unmanaged *Unmanaged `json:"unmanaged,omitempty"`
}

// An Unmanaged is what a machine has and no source describes.
type Unmanaged struct {
	Listed time.Time `json:"listed"`
	Count  int       `json:"count"`
	Items  []string  `json:"items,omitempty"` // the first ones
}

// Counts are numbers of resources.
type Counts struct {
	Total    int `json:"total"`
	Stable   int `json:"stable"`
	Changed  int `json:"changed"`
	Failures int `json:"failed"`
	Skipped  int `json:"skipped"`
	Pending  int `json:"pending"`
	Unknown  int `json:"unknown"`
}

// A Failure is a resource that failed.
type Failure struct {
	Resource string `json:"resource"` // type#name
	Message  string `json:"message"`
}

// A Problem is a thing that a node could not do, or did not trust.
type Problem struct {
	Code    ProblemCode `json:"code"`
	Message string      `json:"message,omitempty"`
	Since   time.Time   `json:"since,omitzero"`
	// Release and Bundle are the version and the bundle of the release that the node could not
	// take, or did not trust; 0 and "" if the problem is about another thing, or the release's
	// document lacks them.
	Release int64  `json:"release,omitempty"`
	Bundle  string `json:"bundle,omitempty"`
}

// A ProblemCode is the kind of a problem.
type ProblemCode string

// The kinds of problems.
const (
	BundleError       ProblemCode = "bundle_error"       // a bundle could not be read or unpacked
	DigestMismatch    ProblemCode = "digest_mismatch"    // a bundle is not the one of the release
	SignatureRefused  ProblemCode = "signature_refused"  // a document has no signature that the node trusts
	RollbackRefused   ProblemCode = "rollback_refused"   // a document is older than an earlier one
	ReleaseExpired    ProblemCode = "release_expired"    // the present release should have been renewed
	DataStale         ProblemCode = "data_stale"         // external data cannot be fetched, the last are used
	ReplayRefused     ProblemCode = "replay"             // a job came again
	DuplicateIdentity ProblemCode = "duplicate_identity" // two machines have one key
	SecretUnreadable  ProblemCode = "secret_unreadable"  // a secret is not encrypted to this node
	ClockSkew         ProblemCode = "clock_skew"         // jobs are refused because of the clock
	FactsTruncated    ProblemCode = "facts_truncated"    // facts were too large
)

// MaxFailures is the most failed resources that a state names.
const MaxFailures = 5

// A Presence is a heartbeat.
type Presence struct {
	Protocol  string    `json:"protocol"`
	Boot      string    `json:"boot"`    // changes with each start of the agent: two values of one name are two machines
	Version   string    `json:"version"` // of ccm
	StartTime time.Time `json:"started"` // start of the agent
	Running   bool      `json:"running,omitempty"`
	// Issuer is the public key that signed the JWT of the node's connection.
	Issuer string `json:"issuer,omitempty"`
}

// Heartbeat is the time between heartbeats of a node, and Absent the time after the last one from
// which the node counts as silent.
const (
	Heartbeat = time.Minute
	Absent    = 3 * Heartbeat
)

// Encode returns the facts as a document of at most MaxFacts bytes. It leaves out the largest facts
// until the document fits, and names them in TruncatedFacts.
func (f Facts) Encode() ([]byte, error) {
	f.Protocol = FactsProtocol
	type size struct {
		name  string
		bytes int
	}
	var sizes []size
	kept := make(map[string]any, len(f.Facts))
	for name, value := range f.Facts {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("fact %s: %w", name, err)
		}
		kept[name] = json.RawMessage(text)
		sizes = append(sizes, size{name, len(text)})
	}
	slices.SortFunc(sizes, func(a, b size) int { return b.bytes - a.bytes })
	f.Facts = kept
	for {
		text, err := json.Marshal(f)
		if err != nil || len(text) <= MaxFacts {
			return text, err
		}
		if len(sizes) == 0 {
			return nil, errTooLarge
		}
		delete(kept, sizes[0].name)
		f.TruncatedFacts = append(f.TruncatedFacts, cut(sizes[0].name, 100))
		sizes = sizes[1:]
	}
}

var errTooLarge = diag.Too("document", "large")

// Encode returns the state as a document of at most MaxState bytes. If it is larger, messages are
// shortened, then failures and labels left out.
func (s State) Encode() ([]byte, error) {
	s.Protocol = StateProtocol
	if len(s.Failures) > MaxFailures {
		s.Failures = s.Failures[:MaxFailures]
	}
	for longest := 500; longest >= 0; longest -= 100 {
		shorter := s
		shorter.Failures, shorter.Problems = slices.Clone(s.Failures), slices.Clone(s.Problems)
		for i := range shorter.Failures {
			f := &shorter.Failures[i]
			f.Resource, f.Message = cut(f.Resource, 100+longest), cut(f.Message, longest)
		}
		for i := range shorter.Problems {
			shorter.Problems[i].Message = cut(shorter.Problems[i].Message, longest)
		}
		if s.Unmanaged != nil {
			u := *s.Unmanaged
			u.Items = slices.Clone(u.Items)
			for i := range u.Items {
				u.Items[i] = cut(u.Items[i], 50+longest/2)
			}
			shorter.Unmanaged = &u
		}
		if longest == 0 {
			shorter.Failures, shorter.Labels, shorter.Problems, shorter.Unmanaged = nil, nil, nil, nil
		}
		text, err := json.Marshal(shorter)
		if err != nil || len(text) <= MaxState {
			return text, err
		}
	}
	return nil, errTooLarge
}

// Encode returns the heartbeat as a document.
func (p Presence) Encode() ([]byte, error) {
	p.Protocol = PresenceProtocol
	text, err := json.Marshal(p)
	if err == nil && len(text) > MaxPresence {
		err = errTooLarge
	}
	return text, err
}

// cut shortens a text to at most n bytes, at the border of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
