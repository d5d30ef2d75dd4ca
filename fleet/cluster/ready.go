package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/runtime/diag"
)

// Servers that have just started find each other, elect a leader and enable JetStream for the account.
// Each question meanwhile may take electionAnswer, and all of it electionTime.
const (
	electionTime   = 3 * Patience
	electionAnswer = 2 * time.Second
	electionPause  = 200 * time.Millisecond
)

// Answers of servers, by server/errors.json of nats-server: without a leader (JSClusterNotAvailErr), and
// with fewer servers than a stream has replicas (JSClusterNoPeersErrF).
const (
	codeUnavailable jetstream.ErrorCode = 10008
	codeNoPeers     jetstream.ErrorCode = 10005
)

// isElecting reports whether an error is what servers answer before all of them are there.
func isElecting(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch api.ErrorCode {
		case codeUnavailable:
			return true
		case codeNoPeers: // of servers that are full, too
			return !strings.Contains(api.Description, "storage")
		}
	}
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || direct.IsPassing(err)
}

// WaitForLeader waits until the servers have a leader, which makes streams, but for no longer than
// electionTime. It calls onWait before it waits.
func (c *Cluster) WaitForLeader(ctx context.Context, onWait func()) error {
	err := c.retryElecting(ctx, onWait, func() error {
		ctx, cancel := context.WithTimeout(ctx, electionAnswer)
		defer cancel()
		_, err := c.JetStream.AccountInfo(ctx) // the leader answers it
		return err
	})
	if err != nil && isElecting(err) && ctx.Err() == nil {
		need, all := len(c.Directory.Fleet.Servers)/2+1, len(c.Directory.Fleet.Servers)
		return diag.At(diag.Pos{}, diag.None("leader of the servers for %s: %s", electionTime, err)).
			WithHint("run at least %d of %d servers, each with its own nats.conf, and check that they reach each other (see their logs)", need, all)
	}
	return err
}

// WaitForStreams waits until each stream of the fleet has a leader, which stores its messages, but for no longer than
// electionTime. It calls onWait before it waits. The error names a stream that has none.
func (c *Cluster) WaitForStreams(ctx context.Context, onWait func()) error {
	return c.retryElecting(ctx, onWait, func() error {
		for _, want := range Streams(&c.Directory.Fleet) {
			within, cancel := context.WithTimeout(ctx, electionAnswer)
			_, info, err := c.look(within, want)
			cancel()
			switch {
			case err != nil:
				return err
			case info == nil || info.Cluster != nil && info.Cluster.Leader == "":
				return fmt.Errorf("%s: %w", want.Label, direct.ErrNoStream)
			}
		}
		return nil
	})
}

// retryElecting calls do until it returns another error than of servers that have just started, or
// for electionTime. It calls onWait before it waits.
func (c *Cluster) retryElecting(ctx context.Context, onWait func(), do func() error) error {
	end := time.Now().Add(electionTime)
	for first := true; ; first = false {
		err := do()
		if err == nil || !isElecting(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		if first {
			onWait()
		}
		retry.Sleep(ctx, electionPause)
	}
}
