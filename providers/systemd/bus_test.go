package systemd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/systembus"
)

// bus answers as the systemd of a machine does on the system bus; commands it
// leaves to systemctl.
type bus struct {
	*hosttest.Runner
	*machine
	conversations int
	// bend changes the reply to one call; may be nil.
	bend func(c systembus.Call, r *systembus.Reply)
	err  error // that there is no answer at all
}

func (m *machine) bus() *bus { return &bus{Runner: m.runner(), machine: m} }

func (b *bus) host() *host.Host {
	return host.New(host.Options{Root: b.root, Runner: b.Runner, Bus: b, Clock: hosttest.Clock{}})
}

// Call implements host.Bus.
func (b *bus) Call(_ context.Context, calls []systembus.Call) ([]systembus.Reply, error) {
	b.conversations++
	if b.err != nil {
		return nil, b.err
	}
	replies := make([]systembus.Reply, len(calls))
	for i, c := range calls {
		require.Equal(b.t, busName, c.Service)
		replies[i] = b.reply(c)
		if b.bend != nil {
			b.bend(c, &replies[i])
		}
	}
	return replies, nil
}

func (b *bus) reply(c systembus.Call) systembus.Reply {
	if c.Method == listUnits {
		var rows []any
		for _, name := range c.Args[0].([]string) {
			u := b.know(name, true)
			rows = append(rows, []any{
				u["Id"], "a service", u["LoadState"], u["ActiveState"], u["SubState"], "", c.Path + "/unit/x", uint32(0), "", "/",
			})
		}
		return systembus.Reply{Values: []any{rows}}
	}
	name := unescape(b.t, strings.TrimPrefix(c.Path, unitPath))
	known := b.know(name, c.Method == getAll)
	if c.Method == getAll {
		require.Equal(b.t, []any{""}, c.Args)
		all := map[string]any{"Description": "a service", "CPUWeight": uint64(1 << 63)}
		for property, val := range known {
			all[property] = typed(property, val)
		}
		return systembus.Reply{Values: []any{all}}
	}
	require.Equal(b.t, getProperty, c.Method)
	require.Equal(b.t, unitInterface, c.Args[0])
	val, ok := known[c.Args[1].(string)]
	if !ok {
		return systembus.Reply{Err: systembus.Error{Name: noProperty}}
	}
	return systembus.Reply{Values: []any{typed(c.Args[1].(string), val)}}
}

// typed returns a property in the type that it has on the bus.
func typed(property, val string) any {
	switch property {
	case "NeedDaemonReload", "CanReload":
		return val == "yes"
	case "Names":
		return strings.Fields(val)
	case "NRestarts":
		n, _ := strconv.Atoi(val)
		return uint32(n)
	case "ExecMainCode", "ExecMainStatus":
		n, _ := strconv.Atoi(val)
		return int32(n)
	}
	return val
}

// unescape undoes how a name is written in the path of an object.
func unescape(t testing.TB, path string) string {
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '_' {
			name.WriteByte(path[i])
			continue
		}
		c, err := strconv.ParseUint(path[i+1:i+3], 16, 8)
		require.NoError(t, err)
		name.WriteByte(byte(c))
		i += 2
	}
	return name.String()
}

// The states of all services are read in one conversation, without a command. They equal the output of systemctl.
func TestStatusOverBus(t *testing.T) {
	for start, prepare := range starts {
		if strings.Contains(start, "unread") || strings.HasPrefix(start, "System V") {
			continue // of those, is-enabled knows more
		}
		status := func(h *host.Host) (resources.ServiceState, error) {
			have, err := newServices(noWait).Status(t.Context(), &h.View, service("x"))
			return have, err
		}
		a, b := newMachine(t, t.TempDir()), newMachine(t, t.TempDir())
		prepare(a)
		prepare(b)
		want, wantErr := status(a.host())
		x := b.bus()
		have, err := status(x.host())
		require.Equal(t, wantErr, err, start)
		require.Equal(t, want, have, start)
		require.False(t, slices.ContainsFunc(x.Ran(), func(c string) bool { return strings.HasPrefix(c, "systemctl show") }), "%s: %s", start, x.Ran())
	}
}

func TestStatusAllOverBus(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("up.service", runs, install).enable("up").is("up.service", "active", "running")
	m.unit("t@.service", runs, install).enable("t@a").is("t@a.service", "active", "running")
	m.mask("masked")
	m.link(etc+"up.service", etc+"also.service")
	m.reload()
	x := m.bus()
	wants := []resources.Service{service("up"), service("nosuch"), service("masked"), service("t@a"), service("up.service")}
	states, errs := newServices(noWait).StatusAll(t.Context(), &x.host().View, wants)
	require.Equal(t, make([]error, len(wants)), errs)
	up := resources.ServiceState{Running: true, Enabled: true, Active: "active", Startup: "enabled"}
	require.Equal(t, []resources.ServiceState{up, {Missing: true}, {Active: "inactive", Startup: "masked", Masked: true}, up, up}, states)
	require.Equal(t, 1, x.conversations)
	require.Empty(t, x.Ran())

	// Another name takes one more.
	states, errs = newServices(noWait).StatusAll(t.Context(), &x.host().View, []resources.Service{service("also"), service("up")})
	require.Equal(t, []error{nil, nil}, errs)
	require.Contains(t, states[0].CannotEnable, "it is an alias of up")
	require.Equal(t, 3, x.conversations)
	require.Empty(t, x.Ran())
}

// If the bus has no usable answer about some services, systemctl is called once, and only for those.
func TestOddAnswers(t *testing.T) {
	list := func(c systembus.Call) bool { return c.Method == listUnits }
	ofX := func(c systembus.Call) bool { return strings.HasSuffix(c.Path, "/x_2eservice") }
	for _, a := range []struct {
		name    string
		err     error
		bend    func(c systembus.Call, r *systembus.Reply)
		systemd string // what systemctl is asked about
	}{
		{name: "no bus", err: errors.New("system bus not available"), systemd: "x.service y.service"},
		{name: "no systemd", bend: func(_ systembus.Call, r *systembus.Reply) {
			*r = systembus.Reply{Err: systembus.Error{Name: "org.freedesktop.DBus.Error.ServiceUnknown"}}
		}, systemd: "x.service y.service"},
		{name: "a list that is short", bend: func(c systembus.Call, r *systembus.Reply) {
			if list(c) {
				r.Values[0] = r.Values[0].([]any)[:1]
			}
		}, systemd: ""},
		{name: "rows that are short", bend: func(c systembus.Call, r *systembus.Reply) {
			if list(c) {
				r.Values[0] = []any{[]any{"x.service"}, "y.service"}
			}
		}, systemd: ""},
		{name: "no list", bend: func(c systembus.Call, r *systembus.Reply) {
			if list(c) {
				r.Values = nil
			}
		}, systemd: ""},
		{name: "an error about one", bend: func(c systembus.Call, r *systembus.Reply) {
			if ofX(c) {
				*r = systembus.Reply{Err: systembus.Error{Name: "org.freedesktop.systemd1.NoSuchUnit"}}
			}
		}, systemd: "x.service"},
		{name: "nothing about one", bend: func(c systembus.Call, r *systembus.Reply) {
			if ofX(c) {
				r.Values = nil
			}
		}, systemd: "x.service"},
		{name: "no state", bend: func(c systembus.Call, r *systembus.Reply) {
			if list(c) {
				r.Values[0].([]any)[0].([]any)[listedProperties["ActiveState"]] = ""
			} else if c.Method == getAll {
				r.Values[0] = map[string]any{"Id": "x.service"}
			}
		}, systemd: "x.service"},
	} {
		t.Run(a.name, func(t *testing.T) {
			m := newMachine(t, t.TempDir())
			m.unit("x.service", runs).is("x.service", "active", "running").unit("y.service", runs)
			x := m.bus()
			x.bend, x.err = a.bend, a.err
			states, errs := newServices(noWait).StatusAll(t.Context(), &x.host().View, []resources.Service{service("x"), service("y")})
			require.Equal(t, []error{nil, nil}, errs)
			require.Equal(t, []resources.ServiceState{
				{Running: true, Enabled: true, Active: "active", Startup: "static", CannotEnable: states[0].CannotEnable},
				{Enabled: true, Active: "inactive", Startup: "static", CannotEnable: states[1].CannotEnable},
			}, states)
			if a.systemd == "" {
				require.Empty(t, x.Ran(), "all properties of each are as good")
				return
			}
			require.Len(t, x.Ran(), 1)
			require.True(t, strings.HasSuffix(x.Ran()[0], " -- "+a.systemd), "%s", x.Ran())
		})
	}
}

// A bus that does not respond is reported once.
func TestNoBusIsSaid(t *testing.T) {
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs).unit("y.service", runs)
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := m.host().WithLog(log)
	s := newServices(noWait)
	for _, name := range []string{"x", "y", "x"} {
		_, err := s.Status(t.Context(), &h.View, service(name))
		require.NoError(t, err)
	}
	require.Equal(t, 1, strings.Count(said.String(), "\n"))
	require.Contains(t, said.String(), `level=DEBUG msg="using systemctl for services, because the system bus is not available"`)
	require.Contains(t, said.String(), "system bus not available below "+m.root)
}

// A name that is not clearly that of one unit is left to systemctl.
func TestPlain(t *testing.T) {
	for name, plain := range map[string]bool{
		"x.service": true, "getty@tty1.service": true, `systemd-cryptsetup@a\x2db.service`: true, "x:y.service": true,
		"t@.service": false, "a*.service": false, "a b.service": false, "a/b.service": false, "ä.service": false,
		strings.Repeat("x", 248) + ".service": false, strings.Repeat("x", 247) + ".service": true,
	} {
		require.Equal(t, plain, isPlain(name), name)
	}
	m := newMachine(t, t.TempDir())
	m.unit("x.service", runs)
	require.NoError(t, os.MkdirAll(m.path("/etc/systemd/system"), 0o755))
	x := m.bus()
	_, errs := newServices(noWait).StatusAll(t.Context(), &x.host().View, []resources.Service{service("t@"), service("x")})
	require.ErrorContains(t, errs[0], "Unit name t@.service is neither a valid invocation ID nor unit name.")
	require.NoError(t, errs[1])
	require.Len(t, x.Ran(), 1)
}
