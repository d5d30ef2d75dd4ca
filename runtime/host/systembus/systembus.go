// Package systembus makes calls on the system bus (D-Bus) of a machine.
//
// Begin with [New].
package systembus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Call is a call of a method on the system bus (D-Bus).
type Call struct {
	Service string // the service: org.freedesktop.systemd1
	Path    string // the object
	Method  string // with its interface: org.freedesktop.DBus.Properties.Get
	Args    []any
}

// A Reply is the answer to a Call. Values are plain Go values: a variant is its content, an
// object path is a string, a struct is a []any.
type Reply struct {
	Values []any
	Err    error // the error that the service replied, such as an [Error]
}

// An Error is an error that a service replied with.
type Error = dbus.Error

// A Bus carries calls to services and their answers.
type Bus interface {
	// Call makes all calls without waiting for one before the next, and returns their replies in
	// order. The error means that there are no answers: there is no bus, or it is too slow.
	Call(ctx context.Context, calls []Call) ([]Reply, error)
}

// NoBus is the Bus of a host that has none.
type NoBus struct{ Reason string }

// Call implements Bus.
func (n NoBus) Call(context.Context, []Call) ([]Reply, error) { return nil, errors.New(n.Reason) }

// socketBus is the Bus of a real machine. It connects on first use, and stays connected. After a
// failure it is not asked again: callers have another way, and should not wait each time.
type socketBus struct {
	// addresses are sockets; the first that answers is used.
	addresses []busAddress
	// hello is the time limit to connect, patience that of all calls of one Call.
	hello, patience time.Duration

	mu   sync.Mutex
	conn *dbus.Conn
	err  error
}

// busAddress is a socket at which a bus may answer.
type busAddress struct {
	path string
	// direct says that the socket leads to one service, without a bus.
	direct bool
}

// New returns the bus of this machine. If there is none, root can talk to systemd itself, as
// systemctl does.
func New() Bus { return newSocketBus() }

func newSocketBus() *socketBus {
	b := &socketBus{hello: time.Second, patience: 5 * time.Second}
	b.addresses = []busAddress{{path: "/run/dbus/system_bus_socket"}}
	if os.Geteuid() == 0 {
		b.addresses = append(b.addresses, busAddress{path: "/run/systemd/private", direct: true})
	}
	return b
}

// inFlight is the number of calls under way at once. A bus refuses more than 128 from one
// connection.
const inFlight = 64

var errBusTimeout = diag.None("response in time")

// Call implements Bus.
func (b *socketBus) Call(ctx context.Context, calls []Call) ([]Reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn == nil && b.err == nil {
		b.conn, b.err = b.connect(ctx)
	}
	if b.err != nil {
		return nil, b.forgive(ctx)
	}
	within, cancel := context.WithTimeoutCause(ctx, b.patience, errBusTimeout)
	defer cancel()
	// To close the connection ends everything that waits for it, writes included.
	conn := b.conn
	stop := context.AfterFunc(within, func() { _ = conn.Close() })
	replies, err := b.exchange(conn, calls)
	if stop() && err == nil {
		return replies, nil
	}
	_ = conn.Close()
	if cause := context.Cause(within); cause != nil {
		err = cause
	}
	b.conn, b.err = nil, fmt.Errorf("system bus: %w", err)
	return nil, b.forgive(ctx)
}

// forgive returns the error of the bus. It forgets the error if only the caller's own context
// ended the calls.
func (b *socketBus) forgive(ctx context.Context) error {
	err := b.err
	if ctx.Err() != nil {
		b.err = nil
	}
	return err
}

// exchange makes calls and waits for their replies.
func (b *socketBus) exchange(conn *dbus.Conn, calls []Call) ([]Reply, error) {
	replies := make([]Reply, len(calls))
	at := make(map[*dbus.Call]int, inFlight)
	done := make(chan *dbus.Call, inFlight)
	for sent := 0; sent < len(calls) || len(at) > 0; {
		if sent < len(calls) && len(at) < inFlight {
			c := calls[sent]
			at[conn.Object(c.Service, dbus.ObjectPath(c.Path)).Go(c.Method, 0, done, c.Args...)] = sent
			sent++
			continue
		}
		call := <-done
		i := at[call]
		delete(at, call)
		if _, replied := errors.AsType[Error](call.Err); call.Err != nil && !replied {
			return nil, call.Err
		}
		replies[i] = Reply{Values: plainValues(call.Body), Err: call.Err}
	}
	return replies, nil
}

// connect connects to the first address that answers.
func (b *socketBus) connect(ctx context.Context) (*dbus.Conn, error) {
	var failed error
	for _, a := range b.addresses {
		if _, err := os.Stat(a.path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		conn, err := a.connect(ctx, b.hello)
		if err == nil {
			return conn, nil
		}
		if err = fmt.Errorf("%s: %w", a.path, err); failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		failed = err
	}
	if failed == nil {
		failed = errors.New("system bus not available")
	}
	return nil, failed
}

func (a busAddress) connect(ctx context.Context, within time.Duration) (*dbus.Conn, error) {
	conn, err := dbus.Dial("unix:path=" + dbus.EscapeBusAddressValue(a.path))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, errBusTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil && !a.direct {
		err = conn.Hello()
	}
	if stop() && err == nil {
		return conn, nil
	}
	_ = conn.Close()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return nil, err
}

// plainValues converts the values of godbus to plain Go values.
func plainValues(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = plainValue(v)
	}
	return out
}

func plainValue(v any) any {
	switch v := v.(type) {
	case dbus.Variant:
		return plainValue(v.Value())
	case dbus.ObjectPath:
		return string(v)
	case []any:
		return plainValues(v)
	case [][]any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plainValues(x)
		}
		return out
	case map[string]dbus.Variant:
		out := make(map[string]any, len(v))
		for key, x := range v {
			out[key] = plainValue(x)
		}
		return out
	}
	return v
}
