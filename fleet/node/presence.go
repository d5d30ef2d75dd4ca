package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// A presence sends heartbeats, and checks whether another machine uses the node's name.
type presence struct {
	member    *member
	startTime time.Time
	previous  []string  // IDs of earlier processes, until the first heartbeat; for the goroutine of heartbeats
	otherTime time.Time // when another machine was last heard of, zero for none; for that goroutine too
	lastTime  time.Time // when the node's last heartbeat was acknowledged, by its own clock; for that goroutine too
	wake      chan struct{}

	mu          sync.Mutex
	running     bool
	issuer      string // key that signed the present JWT
	skew        time.Duration
	leaveReason string // why the node has left the fleet; "" if it has not
}

// run sends heartbeats until the context ends.
func (p *presence) run(ctx context.Context) {
	var last uint64 // sequence of the node's last heartbeat
	pause := time.Second
	for {
		sequence := p.heartbeat(ctx, last)
		wait := p.member.options.Timing.Heartbeat
		if sequence == last { // new servers do not store one yet
			wait = min(wait, pause)
			pause *= 2
		} else {
			pause = time.Second
		}
		last = sequence
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-time.After(jitter(wait)):
		}
	}
}

// heartbeat sends a heartbeat and returns its sequence, or the last one if it was not stored.
func (p *presence) heartbeat(ctx context.Context, last uint64) uint64 {
	m := p.member
	if !m.conn.IsConnected() {
		return last
	}
	key := subject.KV(subject.Presence, subject.PresenceKey(m.identity.Name))
	leave := p.lookForOther(ctx, key, last)
	p.mu.Lock()
	running, issuer := p.running, p.issuer
	p.mu.Unlock()
	text, err := record.Presence{Boot: m.boot, Version: m.options.Version, StartTime: p.startTime, Running: running, Issuer: issuer}.Encode()
	if err != nil {
		return last
	}
	ack, err := m.publish(ctx, key, text)
	if err != nil {
		m.log.Debug("fleet: heartbeat: " + err.Error())
		return last
	}
	if leave != "" { // after its heartbeat, which tells the other node
		p.leave(leave)
		return ack.Sequence
	}
	p.previous = nil // later heartbeats of these are from another machine
	p.lastTime = m.options.Clock()
	if last == 0 { // later ones are compared when the next one is sent, which reads them anyway
		if found, err := direct.Last(ctx, m.conn, subject.KVStream(subject.Presence), key); err == nil && found.Sequence == ack.Sequence {
			p.compareClocks(found.Time)
		}
	}
	return ack.Sequence
}

// lookForOther checks whether another process has sent a heartbeat under this name since the
// node's last one. It returns the reason why this node has to leave the fleet, "" if it has not.
func (p *presence) lookForOther(ctx context.Context, key string, last uint64) (leave string) {
	m := p.member
	found, err := direct.Last(ctx, m.conn, subject.KVStream(subject.Presence), key)
	if err == nil && found.Sequence == last {
		p.compareClocks(found.Time)
	}
	if err != nil || found.Deleted() || found.Sequence <= last {
		if gone := m.options.Timing.Duplicate; err == nil && gone > 0 && !p.otherTime.IsZero() && time.Since(p.otherTime) > gone {
			m.problems.set(record.DuplicateIdentity, "")
			p.otherTime = time.Time{}
		}
		return ""
	}
	other, err := record.DecodePresence(found.Data)
	if err != nil || other.Boot == m.boot || slices.Contains(p.previous, other.Boot) {
		return ""
	}
	message := fmt.Sprintf("another machine or agent uses the key of %s: its agent started at %s", m.identity.Name, other.StartTime.Format(time.RFC3339))
	m.problems.set(record.DuplicateIdentity, message)
	p.otherTime = time.Now()
	// Before its first heartbeat, a node may see one of its own from before a reinstallation.
	if last != 0 && m.options.StrictIdentity && (other.StartTime.Before(p.startTime) || other.StartTime.Equal(p.startTime) && other.Boot < m.boot) {
		return message
	}
	return ""
}

// leave leaves the fleet until the agent starts again.
func (p *presence) leave(why string) {
	p.mu.Lock()
	p.leaveReason = why
	p.mu.Unlock()
	p.member.log.Error("fleet: this node leaves the fleet and only makes plans: " + why)
	p.member.conn.Close()
	p.member.machine.FleetChanged()
}

// whyLeft returns the reason why the node has left the fleet; "" if it has not.
func (p *presence) whyLeft() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leaveReason
}

// setRunning records whether there is a run.
func (p *presence) setRunning(running bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = running
}

// setIssuer records the signer of the present JWT.
func (p *presence) setIssuer(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issuer = key
}

// clockSkew returns how far the clock is ahead of the servers' clock.
func (p *presence) clockSkew() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skew
}

// compareClocks compares the clock with that of the servers, which stored the node's last heartbeat at a time.
func (p *presence) compareClocks(stored time.Time) {
	if stored.IsZero() || p.lastTime.IsZero() {
		return
	}
	skew := p.lastTime.Sub(stored)
	p.mu.Lock()
	p.skew = skew
	p.mu.Unlock()
	if skew > signed.Skew || skew < -signed.Skew {
		p.member.problems.set(record.ClockSkew, fmt.Sprintf("the clock is off by about %s: jobs may be refused", skew.Round(time.Minute)))
	} else {
		p.member.problems.set(record.ClockSkew, "")
	}
}
