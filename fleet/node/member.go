package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/signers"
)

// A member is what all parts of a node share: who the node is, its memory, its machine, its connection.
type member struct {
	options  Options
	identity identity.NodeIdentity
	boot     string // id of this process
	machine  Machine
	memory   *memory
	problems *problems
	log      *slog.Logger

	mu   sync.Mutex // while conn is set: who asks for the status may come before that
	conn *nats.Conn // the parts begin after it is set, and read it as it is
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

// trust returns whom the node believes: those who are pinned in its file, or those that they have
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

// now returns what the node believes the time to be.
func (m *member) now() time.Time {
	t := signed.Time{Clock: m.options.Clock, Built: m.options.Built, Newest: m.memory.newest()}
	return t.Now()
}

// publish stores a message.
func (m *member) publish(ctx context.Context, to string, data []byte, options ...direct.Option) (direct.Ack, error) {
	return direct.Publish(ctx, m.conn, to, data, options...)
}

// plansFrom returns from when a node only plans because it was revoked; zero for never.
func (m *member) plansFrom() time.Time {
	since := m.memory.revoked()
	if m.options.RevokedAfter <= 0 || since.IsZero() {
		return time.Time{}
	}
	return since.Add(m.options.RevokedAfter)
}
