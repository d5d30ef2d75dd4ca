package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
)

// A leaderServer answers for streams: at each time since its start, answer tells what of the stream with a number.
type leaderServer struct {
	jetstream.JetStream
	begun  time.Time
	asked  map[string]int // numbers by name, in the order of the questions
	answer func(stream int, after time.Duration) (leader string, err error)
}

// Stream implements jetstream.JetStream.
func (s *leaderServer) Stream(_ context.Context, name string) (jetstream.Stream, error) {
	if _, ok := s.asked[name]; !ok {
		s.asked[name] = len(s.asked)
	}
	leader, err := s.answer(s.asked[name], time.Since(s.begun))
	if err != nil {
		return nil, err
	}
	return ledStream{info: &jetstream.StreamInfo{Config: jetstream.StreamConfig{Name: name}, Cluster: &jetstream.ClusterInfo{Leader: leader}}}, nil
}

type ledStream struct {
	jetstream.Stream
	info *jetstream.StreamInfo
}

// CachedInfo implements jetstream.Stream.
func (s ledStream) CachedInfo() *jetstream.StreamInfo { return s.info }

// WaitForStreams returns once each stream has a leader. It waits for streams that have none yet or are missing, tells once
// that it waits, and ends with the time for an election, with the context, and at once with any other error.
func TestWaitForStreams(t *testing.T) {
	refused := errors.New("permission denied")
	for name, c := range map[string]struct {
		answer func(stream int, after time.Duration) (string, error)
		limit  time.Duration // of the context; 0 for none
		within [2]time.Duration
		waits  int
		err    error
	}{
		"led": {answer: func(int, time.Duration) (string, error) { return "one", nil }},
		"led after two seconds": {
			answer: func(_ int, after time.Duration) (string, error) {
				if after < 2*time.Second {
					return "", nil
				}
				return "one", nil
			},
			within: [2]time.Duration{2 * time.Second, 2*time.Second + electionPause}, waits: 1,
		},
		"the last one is missing at first": {
			answer: func(stream int, after time.Duration) (string, error) {
				if stream > 0 && after < time.Second {
					return "", jetstream.ErrStreamNotFound
				}
				return "one", nil
			},
			within: [2]time.Duration{time.Second, time.Second + electionPause}, waits: 1,
		},
		"the servers have not elected": {
			answer: func(_ int, after time.Duration) (string, error) {
				if after < time.Second {
					return "", &jetstream.APIError{ErrorCode: codeUnavailable}
				}
				return "one", nil
			},
			within: [2]time.Duration{time.Second, time.Second + electionPause}, waits: 1,
		},
		"never": {
			answer: func(int, time.Duration) (string, error) { return "", nil },
			within: [2]time.Duration{electionTime, electionTime + 2*electionPause}, waits: 1, err: direct.ErrNoStream,
		},
		"the context ends": {
			answer: func(int, time.Duration) (string, error) { return "", nil },
			limit:  time.Second, within: [2]time.Duration{time.Second, time.Second}, waits: 1, err: direct.ErrNoStream,
		},
		"refused": {answer: func(int, time.Duration) (string, error) { return "", refused }, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				begun, waits := time.Now(), 0
				server := &leaderServer{begun: begun, asked: make(map[string]int), answer: c.answer}
				cluster := &Cluster{JetStream: server, Directory: &identity.Directory{}}
				err := cluster.WaitForStreams(ctx, func() { waits++ })
				took := time.Since(begun)
				if c.err == nil {
					require.NoError(t, err)
					require.Len(t, server.asked, len(Streams(&cluster.Directory.Fleet)), "each stream is asked about")
				} else {
					require.ErrorIs(t, err, c.err)
					require.ErrorContains(t, err, Streams(&cluster.Directory.Fleet)[0].Label)
				}
				require.Equal(t, c.waits, waits)
				require.GreaterOrEqual(t, took, c.within[0])
				require.LessOrEqual(t, took, c.within[1])
			})
		})
	}
}
