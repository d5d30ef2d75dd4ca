package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/registration"
)

// maxReplicas is the most servers that can hold a stream of NATS.
const maxReplicas = 5

// StreamOptions are the options of the stream.
type StreamOptions struct {
	// Replicas is the number of servers that hold the stream.
	Replicas int
	// MaxAge is how long an entry without a TTL is kept.
	MaxAge time.Duration
	// KeepReplicas and KeepMaxAge keep these settings of an existing stream.
	KeepReplicas, KeepMaxAge bool
	// Upstream lets publishers send the header Nats-Rollup, as agents of Choria CCM do, and makes
	// the server leave a mark in place of an expired entry. Whoever may publish one entry can then
	// remove all. Nil keeps an existing stream's settings, and gives a new stream neither.
	Upstream *bool
}

// Init makes the stream, or changes it where it differs from the options. It returns its changes in
// words; none if the stream needed none.
func (r *Registry) Init(ctx context.Context, o StreamOptions) (changes []string, err error) {
	switch {
	case o.Replicas < 1 || o.Replicas > maxReplicas:
		return nil, diag.Expected("1 to %d replicas", maxReplicas).Got("%d", o.Replicas)
	case o.MaxAge < time.Second:
		return nil, diag.Expected("a maximum age of at least 1s").Got("%s", o.MaxAge)
	}
	js, err := r.Client.JetStream()
	if err != nil {
		return nil, err
	}
	if err := checkServer(js.Conn().ConnectedServerVersion()); err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, r.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		c := jetstream.StreamConfig{Name: r.Stream, Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy}
		o.KeepReplicas, o.KeepMaxAge = false, false
		o.apply(&c)
		if _, err := js.CreateStream(ctx, c); err != nil {
			return nil, r.explain(ctx, err)
		}
		return []string{fmt.Sprintf("created: %s, kept %s, replicas %d", c.Subjects[0], c.MaxAge, c.Replicas)}, nil
	}
	if err != nil {
		return nil, r.Client.Explain(ctx, err, "stream "+r.Stream)
	}
	have := stream.CachedInfo().Config
	if have.Retention != jetstream.LimitsPolicy {
		return nil, fmt.Errorf("stream %s: %w", r.Stream, diag.SubjectCannot(fmt.Sprintf("a queue (retention %s)", have.Retention), "hold a registry"))
	}
	want := have
	o.apply(&want)
	changes = differences(have, want)
	if len(changes) == 0 {
		return nil, nil
	}
	if _, err := js.UpdateStream(ctx, want); err != nil {
		return nil, r.explain(ctx, err)
	}
	return changes, nil
}

// leastServer is the first nats-server with a TTL of single messages (ADR-43 of NATS), which
// entries need.
const leastServer = "2.11.0"

// checkServer returns why a server of a version cannot hold a registry.
func checkServer(version string) error {
	if v := "v" + version; semver.IsValid(v) && semver.Compare(v, "v"+leastServer) < 0 {
		return diag.At(diag.Pos{}, diag.Expected("nats-server %s or later", leastServer).Found("%s (it silently ignores the TTL of messages)", version))
	}
	return nil
}

// Codes of NATS errors: too few servers for the replicas.
const (
	noPeers    = 10005 // in a cluster
	noReplicas = 10074 // for a server outside a cluster
)

// explain adds advice to an error of making the stream.
func (r *Registry) explain(ctx context.Context, err error) error {
	api, ok := errors.AsType[*jetstream.APIError](err)
	err = r.Client.Explain(ctx, err, "stream "+r.Stream)
	if ok && (api.ErrorCode == noPeers || api.ErrorCode == noReplicas) {
		return diag.Errorf(diag.Pos{}, "%w", err).WithHint("set --replicas to the number of servers that keep the stream, 1 for a single server")
	}
	return err
}

// apply sets the registry's requirements in a configuration, and keeps its other fields.
func (o *StreamOptions) apply(c *jetstream.StreamConfig) {
	c.Subjects = []string{registration.Prefix + ".>"}
	c.MaxMsgsPerSubject = 1
	if !o.KeepReplicas {
		c.Replicas = o.Replicas
	}
	if !o.KeepMaxAge || c.MaxAge == 0 {
		c.MaxAge = o.MaxAge
	}
	c.AllowMsgTTL, c.AllowDirect, c.DenyDelete, c.DenyPurge = true, true, true, false
	if c.MaxAge < c.Duplicates || c.Duplicates == 0 {
		c.Duplicates = min(c.MaxAge, 2*time.Minute)
	}
	if o.Upstream != nil {
		c.AllowRollup, c.SubjectDeleteMarkerTTL = *o.Upstream, 0
	}
	if c.AllowRollup && (o.Upstream != nil || c.SubjectDeleteMarkerTTL > 0) {
		c.SubjectDeleteMarkerTTL = c.MaxAge
	}
}

// differences returns the differences of two configurations in words.
func differences(have, want jetstream.StreamConfig) (list []string) {
	add := func(what string, a, b any) {
		if a != b {
			list = append(list, fmt.Sprintf("%s: %v instead of %v", what, b, a))
		}
	}
	if !slices.Equal(have.Subjects, want.Subjects) {
		add("subjects", fmt.Sprint(have.Subjects), fmt.Sprint(want.Subjects))
	}
	add("replicas", have.Replicas, want.Replicas)
	add("maximum age", have.MaxAge, want.MaxAge)
	add("messages per subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	add("TTL of messages", have.AllowMsgTTL, want.AllowMsgTTL)
	add("direct get", have.AllowDirect, want.AllowDirect)
	add("deny delete", have.DenyDelete, want.DenyDelete)
	add("deny purge", have.DenyPurge, want.DenyPurge)
	add("duplicate window", have.Duplicates, want.Duplicates)
	add("roll-ups", have.AllowRollup, want.AllowRollup)
	add("delete marker TTL", have.SubjectDeleteMarkerTTL, want.SubjectDeleteMarkerTTL)
	return list
}
