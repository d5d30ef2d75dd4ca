package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// header is the space that the headers of a message may need besides its value.
const header = 1 << 10

// A Stream is a stream that a fleet needs.
type Stream struct {
	Label  string // as people call it: KV CCM_NODES
	Config jetstream.StreamConfig
}

// Streams returns the streams that a fleet needs.
//
// None is compressed. A server that comes back without having ended in order cuts what it stored after its last snapshot,
// makes a new block for that, has the one before compressed by another goroutine, and then writes on into the one before:
// nothing could read it again (nats-server 2.15.2, fileStore.Truncate and newMsgBlockForWrite).
//
// Nodes write to some of them, so none of them allows roll-ups: with one message a node could empty
// the whole stream (ADR-9). That also forbids markers of expired keys, for which the server turns
// roll-ups on (nats-server 2.15, checkStreamCfg); so heartbeats stay for a week, and their time shows
// who is silent.
func Streams(f *identity.Fleet) []Stream {
	bucket := func(name string, c jetstream.StreamConfig) Stream {
		c.Name, c.Subjects = subject.KVStream(name), []string{subject.KV(name, ">")}
		c.MaxMsgsPerSubject = max(c.MaxMsgsPerSubject, 1)
		return Stream{"KV " + name, c}
	}
	stream := func(name string, c jetstream.StreamConfig) Stream {
		c.Name = name
		return Stream{"stream " + name, c}
	}
	const day = 24 * time.Hour
	list := []Stream{
		bucket(subject.Control, jetstream.StreamConfig{MaxMsgsPerSubject: 32, MaxMsgSize: 64<<10 + header, DenyDelete: true,
			RePublish: &jetstream.RePublish{Source: subject.KV(subject.Control, ">"), Destination: subject.AllControl}}),
		bucket(subject.Nodes, jetstream.StreamConfig{MaxMsgSize: 256 << 10}),
		bucket(subject.Presence, jetstream.StreamConfig{Storage: jetstream.MemoryStorage, MaxMsgSize: record.MaxPresence + header, MaxAge: 7 * day}),
		stream(subject.Events, jetstream.StreamConfig{Subjects: []string{subject.AllEvents}, MaxMsgsPerSubject: 5000, MaxAge: 7 * day,
			MaxBytes: f.EventBytes(), MaxMsgSize: 256 << 10, Duplicates: 2 * time.Minute}),
		stream(subject.Jobs, jetstream.StreamConfig{Subjects: []string{subject.AllJobs}, MaxAge: 400 * day, MaxBytes: f.JobBytes(), MaxMsgSize: 256 << 10, DenyDelete: true, DenyPurge: true,
			RePublish: &jetstream.RePublish{Source: subject.AllJobs, Destination: subject.AllOrders}}),
		stream(subject.Enrolment, jetstream.StreamConfig{Subjects: []string{subject.AllRequests}, MaxMsgsPerSubject: 1, MaxMsgs: 100_000, MaxAge: 7 * day,
			MaxMsgSize: 4 << 10, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true}),
		stream(subject.Answers, jetstream.StreamConfig{Subjects: []string{subject.AllEnrolled}, MaxMsgsPerSubject: 1, MaxMsgSize: 16 << 10, AllowMsgTTL: true}),
		stream(subject.Registration, jetstream.StreamConfig{Subjects: []string{subject.AllEntries}, MaxMsgsPerSubject: 1, MaxAge: 90 * time.Minute,
			MaxMsgSize: 16 << 10, AllowMsgTTL: true, AllowRollup: f.Upstream}),
	}
	for _, env := range f.Environments {
		metadata, chunks := subject.Objects(subject.Sites(env))
		// Object stores replace the description of an object by a roll-up (ADR-20), and nodes cannot
		// write there.
		list = append(list, Stream{"store " + subject.Sites(env), jetstream.StreamConfig{Name: subject.ObjectStream(subject.Sites(env)),
			Subjects: []string{chunks, metadata}, MaxBytes: f.SiteBytes(), AllowRollup: true, Discard: jetstream.DiscardNew}})
	}
	for i := range list {
		list[i].Config.Replicas, list[i].Config.AllowDirect = f.Replicas(), true
		if f.Replicas() == 1 { // a restart of the only server would remove a stream in memory
			list[i].Config.Storage = jetstream.FileStorage
		}
	}
	return list
}

// A StreamChange describes how a stream differs from the planned one, or that it is missing.
type StreamChange struct {
	Stream Stream
	New    bool
	Diff   []string // "max_age: 1h0m0s → 168h0m0s"
}

// Plan returns the streams that are missing or differ. It changes nothing.
func (c *Cluster) Plan(ctx context.Context) ([]StreamChange, error) {
	var changes []StreamChange
	for _, want := range Streams(&c.Directory.Fleet) {
		within, cancel := context.WithTimeout(ctx, Patience)
		change, _, err := c.look(within, want)
		cancel()
		if err != nil {
			return nil, err
		}
		if change != nil {
			changes = append(changes, *change)
		}
	}
	return changes, nil
}

// look returns how a stream differs from the planned one, nil if it does not, and its state, nil if it
// is missing.
func (c *Cluster) look(ctx context.Context, want Stream) (*StreamChange, *jetstream.StreamInfo, error) {
	have, err := c.JetStream.Stream(ctx, want.Config.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return &StreamChange{Stream: want, New: true}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", want.Label, err)
	}
	info := have.CachedInfo()
	want.Config.Storage = info.Config.Storage // servers refuse to change it, and either will do
	if diff := compare(info.Config, want.Config); len(diff) > 0 {
		return &StreamChange{Stream: want, Diff: diff}, info, nil
	}
	return nil, info, nil
}

// Apply creates a stream or changes its configuration. It waits for servers that are not there yet, as
// WaitForLeader does.
func (c *Cluster) Apply(ctx context.Context, change StreamChange, onWait func()) error {
	err := c.retryElecting(ctx, onWait, func() error {
		ctx, cancel := context.WithTimeout(ctx, 3*Patience)
		defer cancel()
		var err error
		if change.New {
			_, err = c.JetStream.CreateStream(ctx, change.Stream.Config)
		} else {
			_, err = c.JetStream.UpdateStream(ctx, change.Stream.Config)
		}
		return err
	})
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeNoPeers && isElecting(err) {
		return diag.Errorf(diag.Pos{}, "%s: fewer than %d servers are connected to each other", change.Stream.Label, change.Stream.Config.Replicas).
			WithHint("all servers must run while streams are created; see the logs of the missing ones")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", change.Stream.Label, err)
	}
	return nil
}

// compared are the settings that ccm decides. Servers add others.
var compared = []string{"subjects", "storage", "max_msgs", "max_msgs_per_subject", "max_bytes", "max_age", "max_msg_size", "num_replicas", "duplicate_window",
	"discard", "discard_new_per_subject", "deny_delete", "deny_purge", "allow_rollup_hdrs", "allow_direct", "allow_msg_ttl", "subject_delete_marker_ttl", "compression", "republish"}

// compare returns the settings in which two configurations differ.
func compare(have, want jetstream.StreamConfig) []string {
	if want.Duplicates == 0 {
		want.Duplicates = have.Duplicates // the servers' own
	}
	h, w := settings(have), settings(want)
	var diff []string
	for _, name := range compared {
		a, b := text(h[name]), text(w[name])
		if unset(a) && unset(b) || a == b {
			continue
		}
		diff = append(diff, fmt.Sprintf("%s: %s → %s", name, shown(name, h[name]), shown(name, w[name])))
	}
	return diff
}

func settings(c jetstream.StreamConfig) map[string]any {
	var m map[string]any
	b, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return nil
	}
	return m
}

func text(v any) string {
	if f, ok := v.(float64); ok {
		return fmt.Sprintf("%.0f", f)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// times are the settings that are times, which servers count in nanoseconds.
var times = []string{"max_age", "duplicate_window", "subject_delete_marker_ttl"}

// shown returns a setting for people.
func shown(name string, v any) string {
	f, number := v.(float64)
	switch {
	case unset(text(v)):
		return "none"
	case number && slices.Contains(times, name):
		return time.Duration(f).String()
	}
	return text(v)
}

// unset reports whether a setting is unset: servers write -1 for no limit.
func unset(s string) bool {
	return slices.Contains([]string{"null", "0", "-1", "false", `"none"`, `""`}, s)
}
