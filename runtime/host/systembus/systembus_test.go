package systembus

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/require"
)

// A busServer is the other end of a bus: it accepts clients and passes them to serve.
type busServer struct {
	socket string
	peer   atomic.Int32 // number of clients so far
}

func serveBus(t *testing.T, serve func(*peer)) *busServer {
	s := &busServer{socket: filepath.Join(t.TempDir(), "bus, with 100%")}
	l, err := net.Listen("unix", s.socket)
	require.NoError(t, err)
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.peer.Add(1)
			all.Go(func() {
				defer conn.Close()
				serve(&peer{Conn: conn, in: bufio.NewReader(conn)})
			})
		}
	})
	return s
}

// bus returns a bus with the socket of s.
func (s *busServer) bus(t *testing.T) *socketBus {
	b := &socketBus{addresses: []busAddress{{path: s.socket}}, hello: 10 * time.Second, patience: 10 * time.Second}
	t.Cleanup(func() {
		if b.conn != nil {
			b.conn.Close()
		}
	})
	return b
}

// A peer is a client on the server's side.
type peer struct {
	net.Conn
	in     *bufio.Reader
	serial uint32
}

// welcome performs the authentication (D-Bus specification, "Authentication Protocol") and, on a bus, answers the
// call of Hello.
func (p *peer) welcome(direct bool) {
	_, _ = p.in.ReadByte()
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return
		}
		switch line = strings.TrimSpace(line); {
		case line == "AUTH":
			fmt.Fprint(p, "REJECTED EXTERNAL\r\n")
		case line == "AUTH EXTERNAL":
			fmt.Fprint(p, "DATA\r\n")
		case strings.HasPrefix(line, "DATA"):
			fmt.Fprint(p, "OK 0123456789abcdef0123456789abcdef\r\n")
		case line == "NEGOTIATE_UNIX_FD":
			fmt.Fprint(p, "ERROR\r\n")
		case line == "BEGIN":
			if !direct {
				p.reply(p.next(), ":1.1")
			}
			return
		}
	}
}

// next returns the next call, nil at the end.
func (p *peer) next() *dbus.Message {
	msg, err := dbus.DecodeMessage(p.in)
	if err != nil {
		return nil
	}
	return msg
}

func (p *peer) reply(to *dbus.Message, values ...any) {
	p.send(dbus.TypeMethodReply, to, nil, values...)
}

func (p *peer) send(typ dbus.Type, to *dbus.Message, headers map[dbus.HeaderField]dbus.Variant, values ...any) {
	if to == nil {
		return
	}
	p.serial++
	msg := &dbus.Message{Type: typ, Flags: dbus.FlagNoReplyExpected, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()),
		dbus.FieldSignature:   dbus.MakeVariant(dbus.SignatureOf(values...)),
	}, Body: values}
	maps.Copy(msg.Headers, headers)
	_ = msg.EncodeTo(p, binary.LittleEndian)
}

func asking(n int) []Call {
	calls := make([]Call, n)
	for i := range calls {
		calls[i] = Call{Service: "org.example", Path: "/x", Method: "org.example.X.Echo", Args: []any{uint32(i)}}
	}
	return calls
}

// Results are in the order of the calls, whatever the order of the replies, and the number of pending calls is
// limited.
func TestBusCalls(t *testing.T) {
	var most atomic.Int32
	s := serveBus(t, func(p *peer) {
		p.welcome(false)
		var waiting []*dbus.Message
		for total := 0; total < 300; {
			// It replies once the client waits, last call first.
			for len(waiting) < inFlight && total+len(waiting) < 300 {
				msg := p.next()
				if msg == nil {
					return
				}
				waiting = append(waiting, msg)
			}
			most.Store(max(most.Load(), int32(len(waiting))))
			total += len(waiting)
			for i := len(waiting) - 1; i >= 0; i-- {
				p.reply(waiting[i], waiting[i].Body[0])
			}
			waiting = nil
		}
	})
	replies, err := s.bus(t).Call(t.Context(), asking(300))
	require.NoError(t, err)
	require.Len(t, replies, 300)
	for i, r := range replies {
		require.Equal(t, Reply{Values: []any{uint32(i)}}, r)
	}
	require.Equal(t, int32(inFlight), most.Load())
}

// Results are plain Go values, and an error reply is the error of that call only. The connection is kept.
func TestBusReplies(t *testing.T) {
	s := serveBus(t, func(p *peer) {
		p.welcome(false)
		for {
			msg := p.next()
			switch {
			case msg == nil:
				return
			case msg.Body[0] == uint32(0):
				p.reply(msg, dbus.MakeVariant("up"), []struct {
					Name string
					Path dbus.ObjectPath
				}{{"x", "/unit/x"}}, map[string]dbus.Variant{"A": dbus.MakeVariant([]string{"a", "b"}), "B": dbus.MakeVariant(dbus.MakeVariant(true))})
			default:
				p.send(dbus.TypeError, msg, map[dbus.HeaderField]dbus.Variant{dbus.FieldErrorName: dbus.MakeVariant("org.example.No")}, "no such thing")
			}
		}
	})
	b := s.bus(t)
	for range 2 {
		replies, err := b.Call(t.Context(), asking(2))
		require.NoError(t, err)
		require.Equal(t, []any{"up", []any{[]any{"x", "/unit/x"}}, map[string]any{"A": []string{"a", "b"}, "B": true}}, replies[0].Values)
		e, ok := errors.AsType[Error](replies[1].Err)
		require.True(t, ok)
		require.Equal(t, "org.example.No", e.Name)
		require.EqualError(t, replies[1].Err, "no such thing")
	}
	require.Equal(t, int32(1), s.peer.Load())
}

// A bus that does not respond is not waited for, and not used again.
func TestBusSilent(t *testing.T) {
	// until the client closes the connection
	until := func(p *peer) { _, _ = io.Copy(io.Discard, p) }
	for _, x := range []struct {
		name  string
		serve func(p *peer)
		err   string
	}{
		{"lets nobody in", func(p *peer) { until(p) }, "no response in time"},
		{"says nothing", func(p *peer) { p.welcome(false); until(p) }, "system bus: no response in time"},
		{"stops half way", func(p *peer) { p.welcome(false); p.reply(p.next(), uint32(0)); until(p) }, "system bus: no response in time"},
		{"hangs up", func(p *peer) { p.welcome(false); p.next() }, "system bus: "}, // EOF, or a reset if data was left unread
		{"hangs up at once", func(*peer) {}, "/bus, with 100%: "},
		{"speaks otherwise", func(p *peer) { fmt.Fprint(p, "hello\r\n"); until(p) }, "dbus: authentication protocol error"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := serveBus(t, x.serve)
			b := s.bus(t)
			switch {
			case x.err == "no response in time":
				b.hello = time.Second / 10
			case strings.Contains(x.err, "in time"):
				b.patience = time.Second / 10
			}
			_, err := b.Call(t.Context(), asking(3))
			require.ErrorContains(t, err, x.err)
			_, again := b.Call(t.Context(), asking(3))
			require.Equal(t, err, again)
			require.Equal(t, int32(1), s.peer.Load())
		})
	}
}

// A cancelled call leaves the bus usable.
func TestBusInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var met atomic.Int32
	s := serveBus(t, func(p *peer) {
		p.welcome(false)
		msg := p.next()
		if met.Add(1) == 1 {
			cancel(errors.New("interrupted"))
			_, _ = io.Copy(io.Discard, p)
			return
		}
		p.reply(msg, "here")
	})
	b := s.bus(t)
	_, err := b.Call(ctx, asking(1))
	require.EqualError(t, err, "system bus: interrupted")
	_, err = b.Call(ctx, asking(1))
	require.ErrorContains(t, err, "interrupted")
	replies, err := b.Call(t.Context(), asking(1))
	require.NoError(t, err)
	require.Equal(t, []any{"here"}, replies[0].Values)
}

// Without a bus, root connects to systemd directly.
func TestBusAddresses(t *testing.T) {
	direct := serveBus(t, func(p *peer) { p.welcome(true); p.reply(p.next(), "systemd") })
	b := direct.bus(t)
	b.addresses = []busAddress{{path: filepath.Join(t.TempDir(), "none")}, {path: direct.socket, direct: true}}
	replies, err := b.Call(t.Context(), asking(1))
	require.NoError(t, err)
	require.Equal(t, []any{"systemd"}, replies[0].Values)

	b = &socketBus{addresses: []busAddress{{path: filepath.Join(t.TempDir(), "none")}}}
	_, err = b.Call(t.Context(), asking(1))
	require.EqualError(t, err, "system bus not available")
	require.Equal(t, "/run/dbus/system_bus_socket", newSocketBus().addresses[0].path)
}
