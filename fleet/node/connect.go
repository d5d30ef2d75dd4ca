package node

import (
	"context"
	"crypto/tls"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/subject"
)

// PingInterval is the time between pings of a node's connection. A second one without an answer ends it.
const PingInterval = 30 * time.Second

// connect starts to connect, and keeps trying for ever.
func (n *Node) connect() error {
	t := n.member.options.Timing
	options := []nats.Option{
		nats.Name("ccm " + n.member.identity.Name), nats.UserCredentials(n.member.options.Credentials), nats.CustomInboxPrefix(subject.Inbox(n.member.identity.Name)),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.Timeout(20 * time.Second),
		t.Reconnect(),
		nats.ReconnectBufSize(-1), // the sender sends again what could not be sent
		nats.NoCallbacksAfterClientClose(),
		nats.PingInterval(PingInterval), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(func(*nats.Conn) { n.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { n.connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.recordDisconnect(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { n.recordDisconnect(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { n.recordDisconnect(err) }),
	}
	if n.member.options.CA != "" {
		options = append(options, nats.RootCAs(n.member.options.CA), nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13}))
		options = append(options, nats.RootCAs(n.member.options.CA))
	}
	var servers string
	for i, s := range n.member.options.Servers {
		if i > 0 {
			servers += ","
		}
		servers += s
	}
	nc, err := nats.Connect(servers, options...)
	if err != nil {
		return err
	}
	n.member.setConn(nc)
	for _, x := range []struct {
		subject string
		do      nats.MsgHandler
	}{
		{subject.ControlChanges(n.member.identity.Environment), n.documents.receive},
		{subject.Order(n.member.identity.Environment, ""), n.jobs.ordered},
		{subject.Order(n.member.identity.Environment, n.member.identity.Name), n.jobs.ordered},
	} {
		if _, err := nc.Subscribe(x.subject, x.do); err != nil {
			nc.Close()
			return err
		}
	}
	return nil
}

// Reconnect returns the option that makes a connection come back to the next server after a random
// time, which is longer after each round of all servers. The library alone goes to the next server at
// once. So thousands of nodes of a lost server would make the others do nothing but handshakes, when
// they have to choose leaders.
func (t Timing) Reconnect() nats.Option {
	last := 0 // index of the server of the last attempt; a connection begins with the first server
	return nats.ReconnectToServer(func(servers []nats.Server, _ nats.ServerInfo) (*nats.Server, time.Duration) {
		last = (last + 1) % len(servers)
		rounds := slices.MinFunc(servers, func(a, b nats.Server) int { return a.Reconnects - b.Reconnects }).Reconnects
		return &servers[last], retry.Backoff{Min: t.ReconnectLeast, Max: t.ReconnectMost, Spread: t.ReconnectSpread}.Delay(rounds+1, mathrand.Float64)
	})
}

// connected is called after each connect. It makes the node read what it missed, at a time that
// differs between nodes.
func (n *Node) connected() {
	n.member.log.Info("fleet: connected")
	if own, err := identity.ReadCredentials(n.member.options.Credentials); err == nil {
		n.presence.setIssuer(own.Issuer)
		poke(n.presence.wake) // operators may be waiting for it
	}
	if !n.member.memory.revoked().IsZero() {
		if err := n.member.memory.update(func(x *memoryContent) { x.RevokedAt = time.Time{} }); err != nil {
			n.member.log.Error("fleet: " + err.Error())
		}
	}
	poke(n.outbox.wake)
	n.member.machine.FleetChanged()
	time.AfterFunc(time.Duration(mathrand.Int64N(int64(n.member.options.Timing.SpreadReads)+1)), func() { poke(n.documents.wake) })
}

// recordDisconnect records why there is no connection.
func (n *Node) recordDisconnect(err error) {
	n.member.machine.FleetChanged()
	if err == nil {
		return
	}
	n.member.log.Debug("fleet: " + err.Error())
	if !errors.Is(err, nats.ErrAuthRevoked) && !errors.Is(err, nats.ErrAuthorization) {
		return
	}
	if n.member.memory.revoked().IsZero() {
		n.member.log.Warn("fleet: the servers reject this node: " + err.Error())
		if err := n.member.memory.update(func(x *memoryContent) { x.RevokedAt = n.member.options.Clock().UTC().Truncate(time.Second) }); err != nil {
			n.member.log.Error("fleet: " + err.Error())
		}
		n.member.machine.FleetChanged()
	}
}

// renew fetches a new JWT that operators issued for this node, and connects with it.
func (n *Node) renew(ctx context.Context) {
	renewed, err := enrol.Renew(ctx, n.member.conn, n.member.options.Credentials, n.member.options.Host)
	if err != nil {
		n.member.log.Debug("fleet: " + err.Error())
	}
	if !renewed {
		return
	}
	n.member.log.Info("fleet: received new credentials; reconnecting")
	if err := n.member.conn.ForceReconnect(); err != nil {
		n.member.log.Warn("fleet: " + err.Error())
	}
}
