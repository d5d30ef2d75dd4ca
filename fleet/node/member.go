package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/signers"
)

// A member is what the parts of a node share: its identity, its memory, its machine, its
// connection.
type member struct {
	options  Options
	identity identity.NodeIdentity
	boot     string // ID of this process
	machine  Machine
	memory   *memory
	problems *problems
	log      *slog.Logger

	acknowledgement *retry.Timeout // of messages

	mu   sync.Mutex // guards conn while it is set, because the status may be asked for before
	conn *nats.Conn // set before the parts begin, which read it without mu
}

func (m *member) setConn(conn *nats.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conn = conn
}

// isConnected reports whether there is a connection now.
func (m *member) isConnected() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn != nil && m.conn.IsConnected()
}

// trust returns the signers whom the node trusts: those in its file, or those whom these have
// named since.
func (m *member) trust() (*signed.Trust, error) {
	file, text, threshold := m.options.SignersFile, m.options.SignersText, m.options.Threshold
	if _, _, who := m.memory.documents(); who != nil {
		file, text, threshold = fmt.Sprintf("signers %d of %s", who.Version, who.Environment), who.Signers, who.Threshold
	}
	list, err := signers.Parse(file, text)
	if err != nil {
		return nil, fmt.Errorf("signers: %w", err)
	}
	return &signed.Trust{Environment: m.identity.Environment, Signers: list, Threshold: threshold}, nil
}

// now returns the time that the node believes.
func (m *member) now() time.Time {
	t := signed.Time{Clock: m.options.Clock, Built: m.options.BuildTime, Newest: m.memory.newest()}
	return t.Now()
}

// onTheWay returns how long a message of some bytes may take on a slow network: 32 KiB in a second.
func onTheWay(size int) time.Duration { return time.Duration(size) * time.Second / (32 << 10) }

// publish stores a message.
func (m *member) publish(ctx context.Context, to string, data []byte, options ...direct.Option) (direct.Ack, error) {
	return Publish(ctx, m.conn, m.acknowledgement, to, data, options...)
}

// Publish stores a message. It waits for the acknowledgement for the time t, and longer for a
// large message.
func Publish(ctx context.Context, nc *nats.Conn, t *retry.Timeout, to string, data []byte, options ...direct.Option) (direct.Ack, error) {
	transfer := onTheWay(len(data))
	began := time.Now()
	ack, err := direct.PublishWithin(ctx, nc, t.Get()+transfer, to, data, options...)
	switch {
	case err == nil:
		t.Answered(max(0, time.Since(began)-transfer))
	case errors.Is(err, direct.ErrNoAnswer) && ctx.Err() == nil:
		t.Missed()
	}
	return ack, err
}

// plansFrom returns the time from which a revoked node only plans; zero for never.
func (m *member) plansFrom() time.Time {
	since := m.memory.revoked()
	if m.options.RevokedAfter <= 0 || since.IsZero() {
		return time.Time{}
	}
	return since.Add(m.options.RevokedAfter)
}
