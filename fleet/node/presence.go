package node

import (
	"context"
	"fmt"
	"time"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// publish stores a message.
func (n *Node) publish(ctx context.Context, to string, data []byte, options ...direct.Option) (direct.Ack, error) {
	return direct.Publish(ctx, n.nc, to, data, options...)
}

// lookForOther looks whether another process has sent a heartbeat under this name since the own last one.
func (n *Node) lookForOther(ctx context.Context, key string, last uint64) {
	m, err := direct.Last(ctx, n.nc, subject.KVStream(subject.Presence), key)
	if err != nil || m.Deleted() || m.Sequence <= last {
		return
	}
	p, err := record.DecodePresence(m.Data)
	if err != nil || p.Boot == n.boot || p.Boot == n.before {
		return
	}
	n.problem(record.DuplicateIdentity, fmt.Sprintf("another machine, or another agent, has the key of %s: its agent began at %s", n.identity.Name, p.Started.Format(time.RFC3339)))
}

// measureSkew compares the clock with that of the servers.
func (n *Node) measureSkew(ctx context.Context, key string, sequence uint64) {
	m, err := direct.Last(ctx, n.nc, subject.KVStream(subject.Presence), key)
	if err != nil || m.Sequence != sequence || m.Time.IsZero() {
		return
	}
	skew := n.o.Clock().Sub(m.Time)
	n.mu.Lock()
	n.skew = skew
	n.mu.Unlock()
	if skew > signed.Skew || skew < -signed.Skew {
		n.problem(record.ClockSkew, fmt.Sprintf("the clock is wrong by about %s: jobs may be refused", skew.Round(time.Minute)))
	} else {
		n.problem(record.ClockSkew, "")
	}
}
