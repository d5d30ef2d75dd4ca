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

// lookForOther looks whether another process has sent a heartbeat under this name since the own last one. It returns
// why this node has to leave the fleet because of it; "" if it does not have to.
func (n *Node) lookForOther(ctx context.Context, key string, last uint64) (leave string) {
	m, err := direct.Last(ctx, n.nc, subject.KVStream(subject.Presence), key)
	if err != nil || m.Deleted() || m.Sequence <= last {
		return ""
	}
	p, err := record.DecodePresence(m.Data)
	if err != nil || p.Boot == n.boot || p.Boot == n.before {
		return ""
	}
	other := fmt.Sprintf("another machine, or another agent, has the key of %s: its agent began at %s", n.identity.Name, p.Started.Format(time.RFC3339))
	n.problem(record.DuplicateIdentity, other)
	// Before the first heartbeat of its own a node may see what it was itself before it was installed anew.
	if last != 0 && n.o.StrictIdentity && (p.Started.Before(n.started) || p.Started.Equal(n.started) && p.Boot < n.boot) {
		return other
	}
	return ""
}

// leave ends the part that the node has in the fleet, until its agent begins anew.
func (n *Node) leave(why string) {
	n.mu.Lock()
	n.left = why
	n.mu.Unlock()
	n.log.Error("fleet: this node leaves the fleet and only plans: " + why)
	n.nc.Close()
	n.machine.FleetChanged()
}

// whyLeft returns why the node has left the fleet; "" if it has not.
func (n *Node) whyLeft() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.left
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
