package node

import (
	"context"
	"crypto/tls"
	"errors"
	mathrand "math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// connect begins to connect, which goes on for ever.
func (n *Node) connect() error {
	t := n.o.Timing
	options := []nats.Option{
		nats.Name("ccm " + n.identity.Name), nats.UserCredentials(n.o.Credentials), nats.CustomInboxPrefix(subject.Inbox(n.identity.Name)),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.Timeout(20 * time.Second),
		nats.CustomReconnectDelay(func(attempts int) time.Duration {
			most := min(t.ReconnectMost, t.ReconnectLeast<<min(attempts, 10))
			return t.ReconnectLeast + time.Duration(mathrand.Int64N(int64(max(most-t.ReconnectLeast, 0))+1))
		}),
		nats.ReconnectBufSize(-1), // what could not be sent is sent again by whoever sends it
		nats.NoCallbacksAfterClientClose(),
		nats.PingInterval(30 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(func(*nats.Conn) { n.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { n.connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.disconnected(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { n.disconnected(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { n.disconnected(err) }),
	}
	if n.o.CA != "" {
		options = append(options, nats.RootCAs(n.o.CA), nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13}))
		options = append(options, nats.RootCAs(n.o.CA))
	}
	var servers string
	for i, s := range n.o.Servers {
		if i > 0 {
			servers += ","
		}
		servers += s
	}
	nc, err := nats.Connect(servers, options...)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.nc = nc // of which callbacks may ask already
	n.mu.Unlock()
	for _, x := range []struct {
		subject string
		do      nats.MsgHandler
	}{
		{subject.ControlChanges(n.identity.Environment), n.controlChanged},
		{subject.Order(n.identity.Environment, ""), n.ordered},
		{subject.Order(n.identity.Environment, n.identity.Name), n.ordered},
	} {
		if _, err := nc.Subscribe(x.subject, x.do); err != nil {
			nc.Close()
			return err
		}
	}
	return nil
}

// connected is called after each connect. What was missed is read, not by all nodes at once.
func (n *Node) connected() {
	n.log.Info("fleet: connected")
	if own, err := identity.ReadCredentials(n.o.Credentials); err == nil {
		n.mu.Lock()
		n.issuer = own.Issuer
		n.mu.Unlock()
		poke(n.beatNow) // operators may wait for it
	}
	if !n.memory.revoked().IsZero() {
		if err := n.memory.update(func(x *remembered) { x.Revoked = time.Time{} }); err != nil {
			n.log.Error("fleet: " + err.Error())
		}
	}
	n.machine.FleetChanged()
	time.AfterFunc(time.Duration(mathrand.Int64N(int64(n.o.Timing.SpreadReads)+1)), func() { poke(n.control) })
}

// disconnected notes why there is no connection.
func (n *Node) disconnected(err error) {
	n.machine.FleetChanged()
	if err == nil {
		return
	}
	n.log.Debug("fleet: " + err.Error())
	if !errors.Is(err, nats.ErrAuthRevoked) && !errors.Is(err, nats.ErrAuthorization) {
		return
	}
	if n.memory.revoked().IsZero() {
		n.log.Warn("fleet: the servers do not let this node in: " + err.Error())
		if err := n.memory.update(func(x *remembered) { x.Revoked = n.o.Clock().UTC().Truncate(time.Second) }); err != nil {
			n.log.Error("fleet: " + err.Error())
		}
		n.machine.FleetChanged()
	}
}

// planOnly reports whether the node only plans: it was revoked long ago, or has left the fleet.
func (n *Node) planOnly() bool {
	from := n.plansFrom()
	return n.whyLeft() != "" || !from.IsZero() && n.o.Clock().After(from)
}

// plansFrom returns from when a node only plans because it was revoked; zero for never.
func (n *Node) plansFrom() time.Time {
	since := n.memory.revoked()
	if n.o.RevokedAfter <= 0 || since.IsZero() {
		return time.Time{}
	}
	return since.Add(n.o.RevokedAfter)
}

// beat tells that the node is there, and looks whether another machine has its name.
func (n *Node) beat(ctx context.Context) {
	var last uint64 // the sequence of the own heartbeat before
	for {
		last = n.heartbeat(ctx, last)
		select {
		case <-ctx.Done():
			return
		case <-n.beatNow:
		case <-time.After(jitter(n.o.Timing.Heartbeat)):
		}
	}
}

// renew takes a new JWT that operators have issued for this node, and connects with it.
func (n *Node) renew(ctx context.Context) {
	renewed, err := enrol.Renew(ctx, n.nc, n.o.Credentials, n.o.Host)
	if err != nil {
		n.log.Debug("fleet: " + err.Error())
	}
	if !renewed {
		return
	}
	n.log.Info("fleet: operators have signed this node anew; it connects again")
	if err := n.nc.ForceReconnect(); err != nil {
		n.log.Warn("fleet: " + err.Error())
	}
}

// heartbeat sends one and returns its sequence, or that of the one before if it was not stored.
func (n *Node) heartbeat(ctx context.Context, last uint64) uint64 {
	if !n.nc.IsConnected() {
		return last
	}
	key := subject.KV(subject.Presence, subject.PresenceKey(n.identity.Name))
	leave := n.lookForOther(ctx, key, last)
	n.mu.Lock()
	running, issuer := n.running, n.issuer
	n.mu.Unlock()
	text, err := record.Presence{Boot: n.boot, Version: n.o.Version, Started: n.started, Running: running, Issuer: issuer}.Encode()
	if err != nil {
		return last
	}
	ack, err := n.publish(ctx, key, text)
	if err != nil {
		n.log.Debug("fleet: heartbeat: " + err.Error())
		return last
	}
	if leave != "" { // after its heartbeat, from which the other one learns of it
		n.leave(leave)
		return ack.Sequence
	}
	n.before = "" // from now on it would be another machine
	n.measureSkew(ctx, key, ack.Sequence)
	return ack.Sequence
}
