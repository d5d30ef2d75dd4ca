package resources

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// phrases returns the phrases of a plan for d.
func phrases(d resource.Decision) []string {
	list := []string{}
	for _, a := range d.Actions {
		list = append(list, a.Would())
	}
	return list
}

// The idempotency table of the service document.
func TestServiceDecide(t *testing.T) {
	on, off := new(true), new(false)
	for _, x := range []struct {
		name    string
		want    Service
		have    ServiceState
		phrases []string
		diff    string
	}{
		{"running, running", Service{Ensure: "running"}, ServiceState{Running: true}, []string{}, ""},
		{"running, stopped", Service{Ensure: "running"}, ServiceState{}, []string{"Would have started"}, "ensure: stopped → running"},
		{"stopped, stopped", Service{Ensure: "stopped"}, ServiceState{}, []string{}, ""},
		{"stopped, running", Service{Ensure: "stopped"}, ServiceState{Running: true}, []string{"Would have stopped"}, "ensure: running → stopped"},
		{"enable true, enabled", Service{Ensure: "stopped", Enable: on}, ServiceState{Enabled: true}, []string{}, ""},
		{"enable true, disabled", Service{Ensure: "stopped", Enable: on}, ServiceState{}, []string{"Would have enabled"}, "enable: false → true"},
		{"enable false, enabled", Service{Ensure: "stopped", Enable: off}, ServiceState{Enabled: true}, []string{"Would have disabled"}, "enable: true → false"},
		{"enable false, disabled", Service{Ensure: "stopped", Enable: off}, ServiceState{}, []string{}, ""},
		{"enable nil, enabled", Service{Ensure: "stopped"}, ServiceState{Enabled: true}, []string{}, ""},
		{"enable nil, disabled", Service{Ensure: "stopped"}, ServiceState{}, []string{}, ""},
		{"running state first", Service{Ensure: "running", Enable: on}, ServiceState{}, []string{"Would have started", "Would have enabled"}, "ensure: stopped → running, enable: false → true"},
		{"stop and disable", Service{Ensure: "stopped", Enable: off}, ServiceState{Running: true, Enabled: true}, []string{"Would have stopped", "Would have disabled"}, "ensure: running → stopped, enable: true → false"},
		{"starting counts as not running", Service{Ensure: "running"}, ServiceState{Starting: true}, []string{"Would have started"}, "ensure: stopped → running"},
		{"unmanaged, enable", Service{Ensure: "unmanaged", Enable: on}, ServiceState{}, []string{"Would have enabled"}, "enable: false → true"},
		{"unmanaged, disable", Service{Ensure: "unmanaged", Enable: off}, ServiceState{Running: true, Enabled: true}, []string{"Would have disabled"}, "enable: true → false"},
		{"unmanaged, as wanted", Service{Ensure: "unmanaged", Enable: on}, ServiceState{Starting: true, Enabled: true}, []string{}, ""},
		{"no machine, running", Service{Ensure: "running"}, ServiceState{Offline: "x"}, []string{"Would have enabled for the first boot"}, "enable: false → true"},
		{"no machine, running, enabled", Service{Ensure: "running"}, ServiceState{Offline: "x", Enabled: true}, []string{}, ""},
		{"no machine, running, static", Service{Ensure: "running"}, ServiceState{Offline: "x", Enabled: true, CannotEnable: "static"}, []string{}, ""},
		{"no machine, running, enable true", Service{Ensure: "running", Enable: on}, ServiceState{Offline: "x"}, []string{"Would have enabled"}, "enable: false → true"},
		{"no machine, running, enable false", Service{Ensure: "running", Enable: off}, ServiceState{Offline: "x"}, []string{}, ""},
		{"no machine, stopped", Service{Ensure: "stopped"}, ServiceState{Offline: "x", Enabled: true}, []string{"Would have disabled for the first boot"}, "enable: true → false"},
		{"no machine, stopped, static", Service{Ensure: "stopped"}, ServiceState{Offline: "x", Enabled: true, CannotEnable: "static"}, []string{}, ""},
		{"no machine, stopped, enable true", Service{Ensure: "stopped", Enable: on}, ServiceState{Offline: "x", Enabled: true}, []string{}, ""},
		{"no machine, stopped, masked", Service{Ensure: "stopped", Mask: on}, ServiceState{Offline: "x", Enabled: true}, []string{"Would have masked"}, "mask: false → true"},
		{"no machine, mask", Service{Ensure: "running", Mask: on}, ServiceState{Offline: "x"}, []string{"Would have masked"}, "mask: false → true"},
		{"no machine, reload", Service{Ensure: "running", OnChange: "reload"}, ServiceState{Offline: "x", Enabled: true, CannotReload: true}, []string{}, ""},
		{"starting does not stay stopped", Service{Ensure: "stopped"}, ServiceState{Starting: true}, []string{"Would have stopped"}, "ensure: starting → stopped"},
	} {
		d := x.want.Decide(x.have)
		require.NoError(t, d.Err, x.name)
		require.Equal(t, x.phrases, phrases(d), x.name)
		require.Equal(t, x.diff, d.String(), x.name)
	}
}

// The special cases of subscribe in the service document.
func TestServiceRefresh(t *testing.T) {
	for _, x := range []struct {
		name    string
		want    Service
		have    ServiceState
		phrases []string
	}{
		{"ensure stopped, running", Service{Ensure: "stopped"}, ServiceState{Running: true}, []string{"Would have stopped"}},
		{"ensure stopped, stopped", Service{Ensure: "stopped"}, ServiceState{}, []string{}},
		{"not running, ensure running", Service{Ensure: "running"}, ServiceState{}, []string{"Would have started"}},
		{"running, ensure running", Service{Ensure: "running"}, ServiceState{Running: true}, []string{"Would have restarted"}},
		{"reload", Service{Ensure: "running", OnChange: "reload"}, ServiceState{Running: true}, []string{"Would have reloaded"}},
		{"reload, not running", Service{Ensure: "running", OnChange: "reload"}, ServiceState{}, []string{"Would have started"}},
		{"reload, ensure stopped", Service{Ensure: "stopped", OnChange: "reload"}, ServiceState{Running: true, CannotReload: true}, []string{"Would have stopped"}},
		{"reload, may be able after a change", Service{Ensure: "running", OnChange: "reload"}, ServiceState{Running: true, CannotReload: true, Outdated: true}, []string{"Would have reloaded"}},
		{"reload-or-restart, can", Service{Ensure: "running", OnChange: "reload-or-restart"}, ServiceState{Running: true}, []string{"Would have reloaded"}},
		{"reload-or-restart, cannot", Service{Ensure: "running", OnChange: "reload-or-restart"}, ServiceState{Running: true, CannotReload: true}, []string{"Would have restarted"}},
		{"reload-or-restart, outdated", Service{Ensure: "running", OnChange: "reload-or-restart"}, ServiceState{Running: true, Outdated: true}, []string{"Would have restarted"}},
		{"unmanaged, running", Service{Ensure: "unmanaged", Enable: new(true)}, ServiceState{Running: true}, []string{"Would have enabled"}},
		{"no machine", Service{Ensure: "running"}, ServiceState{Offline: "x", Enabled: true}, []string{}},
		{"no machine, not enabled", Service{Ensure: "running", OnChange: "reload"}, ServiceState{Offline: "x"}, []string{"Would have enabled for the first boot"}},
		{"restart, then enable", Service{Ensure: "running", Enable: new(true)}, ServiceState{Running: true}, []string{"Would have restarted", "Would have enabled"}},
	} {
		require.Equal(t, x.phrases, phrases(ServiceType.Type.Decide(&x.want, x.have, true)), x.name)
	}
	reload := Service{Ensure: "running", OnChange: "reload"}
	require.EqualError(t, ServiceType.Type.Decide(&reload, ServiceState{Running: true, Masked: true}, true).Err,
		"expected the service reloaded, found a masked one (unmask it with mask = false)")
	for _, have := range []ServiceState{{Running: true, CannotReload: true}, {CannotReload: true}} {
		for _, refresh := range []bool{false, true} { // before there is a change, too
			d := ServiceType.Type.Decide(&reload, have, refresh)
			require.EqualError(t, d.Err, `expected a service that can reload, found one that cannot (restart it with on_change = "reload-or-restart")`)
			require.Empty(t, d.Actions)
		}
	}
	unmanaged := Service{Name: "x", Ensure: "unmanaged", Enable: new(true)}
	require.NoError(t, unmanaged.Validate())
	require.NoError(t, unmanaged.ValidateWith(resource.Common{}))
	require.EqualError(t, unmanaged.ValidateWith(resource.Common{Subscribe: make([]resource.Reference, 1)}), "subscribe: an unmanaged service is never restarted")
	require.EqualError(t, Service{Name: "x", Ensure: "unmanaged"}.Validate(), "ensure: unmanaged requires enable or mask")
	d := ServiceType.Type.Decide(&Service{Ensure: "running"}, ServiceState{Running: true, Masked: true}, true)
	require.EqualError(t, d.Err, "expected the service restarted, found a masked one (unmask it with mask = false)")
}

func TestServiceCannot(t *testing.T) {
	on, off := new(true), new(false)
	static := ServiceState{Enabled: true, Startup: "static", CannotEnable: "it has no [Install] section"}
	for _, x := range []struct {
		want Service
		have ServiceState
		err  string
	}{
		{Service{Name: "x", Ensure: "running"}, ServiceState{Missing: true}, "service not found: x"},
		{Service{Name: "x", Ensure: "stopped", Enable: off}, ServiceState{Missing: true}, "service not found: x"},
		{Service{Ensure: "running"}, ServiceState{Masked: true}, "expected the service running, found a masked one (unmask it with mask = false)"},
		{Service{Ensure: "stopped", Enable: on}, ServiceState{Masked: true}, "expected the service enabled, found a masked one (unmask it with mask = false)"},
		{Service{Ensure: "stopped", Enable: off}, static, "expected enable = false, found the service static, which cannot be changed: it has no [Install] section"},
		{Service{Ensure: "stopped", Enable: off}, ServiceState{Masked: true}, ""},
		{Service{Ensure: "stopped", Enable: on}, static, ""},
	} {
		d := x.want.Decide(x.have)
		if x.err == "" {
			require.True(t, d.Stable(), x.want)
			continue
		}
		require.EqualError(t, d.Err, x.err)
		require.Empty(t, d.Actions, "nothing is done")
	}
}

// The tables of valid names of the service documents.
func TestServiceValidate(t *testing.T) {
	for _, name := range []string{"httpd", "nginx.service", "my-app_v2", "a+b", "a:b", "a~b", "X9.timer", "getty@tty1", "a@b@c.timer", `srv-data\x2d1.mount`} {
		require.NoError(t, Service{Name: name}.Validate(), name)
	}
	for _, name := range []string{`a\b`, `a\x2`, `a\x2D`, "app@$(a)", "app; rm -rf /", "a|b", "a&b", "a b", "a\tb", "a\n", "a/b", "../a", "$(a)", "`a`", "a*", "ä"} {
		require.ErrorContains(t, Service{Name: name}.Validate(), "name: service name contains dangerous characters: ", name)
	}
	require.EqualError(t, Service{}.Validate(), "name: expected the name of a service, got an empty string")
	require.NoError(t, Service{Name: "sync of alice", Service: "sync"}.Validate())
	require.ErrorContains(t, Service{Name: "sync", Service: "a b"}.Validate(), "service: service name contains dangerous characters: ")
	require.EqualError(t, Service{Name: "--now"}.Validate(), `name: expected a name that does not begin with a hyphen, as options do, got "--now"`)
	require.EqualError(t, Service{Name: "app instance"}.Validate(),
		`name: service name contains dangerous characters: "app instance": expected letters, digits and . _ + : ~ @ -`)
	require.EqualError(t, Service{Name: "@tty1"}.Validate(), `name: expected the name of a template before the @, got "@tty1"`)
	for _, name := range []string{"getty@", "getty@.service"} {
		require.ErrorContains(t, Service{Name: name}.Validate(), "expected an instance of a template, such as getty@tty1, got the template itself", name)
	}
}

// Ensure defaults to running, enable to not managed.
func TestServiceDefaults(t *testing.T) {
	decode := func(entries ...schema.Entry) (Service, error) {
		r, err := ServiceType.Type.Decode(&schema.Table{Entries: entries}, resource.Origin{})
		if err != nil {
			return Service{}, err
		}
		return *r.Spec.(*Service), nil
	}
	name := schema.Entry{Key: "name", Val: schema.TextValue("nginx")}
	s, err := decode(name)
	require.NoError(t, err)
	require.Equal(t, Service{Name: "nginx", Ensure: ServiceRunning, Scope: SystemService, OnChange: ServiceRestart, Settle: host.Duration(time.Second)}, s)
	_, err = decode(name, schema.Entry{Key: "ensure", Val: schema.TextValue("started")})
	require.ErrorContains(t, err, `service#nginx: ensure: expected `)
	require.True(t, ServiceType.Type.Refreshable())
}

func TestServiceStateEnsure(t *testing.T) {
	require.Equal(t, "running", ServiceState{Running: true}.CurrentEnsure())
	require.Equal(t, "stopped", ServiceState{Starting: true}.CurrentEnsure())
	require.Empty(t, ServiceState{Missing: true}.CurrentEnsure())
	require.Equal(t, "stopped", Service{Ensure: ServiceStopped}.WantedEnsure())
}

// verbs is a provider that records its actions.
type verbs struct{ done []string }

func (v *verbs) note(verb string) error { v.done = append(v.done, verb); return nil }

func (v *verbs) Status(context.Context, *host.View, Service) (ServiceState, error) {
	return ServiceState{}, nil
}
func (v *verbs) Start(context.Context, *host.Host, Service) error   { return v.note("Start") }
func (v *verbs) Stop(context.Context, *host.Host, Service) error    { return v.note("Stop") }
func (v *verbs) Restart(context.Context, *host.Host, Service) error { return v.note("Restart") }
func (v *verbs) Reload(context.Context, *host.Host, Service) error  { return v.note("Reload") }
func (v *verbs) Enable(context.Context, *host.Host, Service) error  { return v.note("Enable") }
func (v *verbs) Disable(context.Context, *host.Host, Service) error { return v.note("Disable") }

func (v *verbs) Mask(context.Context, *host.Host, Service) error   { return v.note("Mask") }
func (v *verbs) Unmask(context.Context, *host.Host, Service) error { return v.note("Unmask") }

func TestServicePerform(t *testing.T) {
	var p verbs
	all := []string{"Start", "Stop", "Restart", "Reload", "Enable", "Disable", "Mask", "Unmask"}
	for _, verb := range all {
		require.NoError(t, Service{}.Perform(t.Context(), nil, &p, resource.Action{Verb: verb}))
	}
	require.Equal(t, all, p.done)
	require.EqualError(t, Service{}.Perform(t.Context(), nil, &p, resource.Action{Verb: "Kill"}), `unknown verb of service "Kill"`)
}

func TestServiceMask(t *testing.T) {
	on, off := new(true), new(false)
	for _, x := range []struct {
		name    string
		want    Service
		have    ServiceState
		phrases []string
		err     string
	}{
		{"running", Service{Ensure: "running", Mask: on}, ServiceState{Running: true}, []string{"Would have stopped", "Would have masked"}, ""},
		{"disabled before", Service{Ensure: "stopped", Mask: on, Enable: off}, ServiceState{Enabled: true}, []string{"Would have disabled", "Would have masked"}, ""},
		{"static", Service{Ensure: "stopped", Mask: on, Enable: off}, ServiceState{Enabled: true, CannotEnable: "static"}, []string{"Would have masked"}, ""},
		{"masked", Service{Ensure: "running", Mask: on}, ServiceState{Masked: true}, []string{}, ""},
		{"masked while it ran", Service{Ensure: "running", Mask: on}, ServiceState{Running: true, Masked: true}, []string{"Would have stopped"}, ""},
		{"the run state stays", Service{Ensure: "unmanaged", Mask: on}, ServiceState{Running: true}, []string{"Would have masked"}, ""},
		{"cannot", Service{Ensure: "running", Mask: on}, ServiceState{CannotMask: "a file is in the way"}, []string{}, "the service cannot be masked: a file is in the way"},
		{"off, start", Service{Ensure: "running", Mask: off}, ServiceState{Masked: true}, []string{"Would have unmasked", "Would have started"}, ""},
		{"off, restart", Service{Ensure: "running", Mask: off}, ServiceState{Running: true, Masked: true}, []string{"Would have unmasked", "Would have restarted"}, ""},
		{"off, enable", Service{Ensure: "stopped", Mask: off, Enable: on}, ServiceState{Masked: true}, []string{"Would have unmasked", "Would have enabled"}, ""},
		{"off, enabled behind the mask", Service{Ensure: "stopped", Mask: off, Enable: on}, ServiceState{Masked: true, EnabledUnmasked: true}, []string{"Would have unmasked"}, ""},
		{"off, disabled behind the mask", Service{Ensure: "stopped", Mask: off, Enable: off}, ServiceState{Masked: true, EnabledUnmasked: true}, []string{"Would have unmasked", "Would have disabled"}, ""},
		{"off, not masked", Service{Ensure: "stopped", Mask: off}, ServiceState{}, []string{}, ""},
	} {
		d := ServiceType.Type.Decide(&x.want, x.have, true)
		require.Equal(t, x.phrases, phrases(d), x.name)
		if x.err == "" {
			require.NoError(t, d.Err, x.name)
		} else {
			require.EqualError(t, d.Err, x.err, x.name)
		}
	}
	require.NoError(t, Service{Name: "x", Ensure: "unmanaged", Mask: off}.Validate())
	require.EqualError(t, Service{Name: "x", Mask: on, Enable: on}.Validate(), "enable: a masked service cannot start at boot")
	require.Equal(t, "stopped", Service{Ensure: "running", Mask: on}.WantedEnsure())
}

// TestServiceFlapping: a service that is restarted again and again is not stable, and a refresh may mend it.
func TestServiceFlapping(t *testing.T) {
	have := ServiceState{Running: true, Flapping: "systemd has restarted it 9 times"}
	s := Service{Name: "x", Ensure: ServiceRunning}
	d := s.Decide(have)
	require.EqualError(t, d.Err, "expected the service running, found that it does not stay up: systemd has restarted it 9 times")
	require.Empty(t, d.Actions)
	d = s.Refresh(have, d)
	require.NoError(t, d.Err)
	require.Equal(t, "Restart", d.Actions[0].Verb)
	s.Ensure = ServiceStopped
	require.Equal(t, "Stop", s.Decide(have).Actions[0].Verb)
}

// TestServiceTriggered: a plan and a run name what starts a stopped service again, but not if the mask prevents it.
func TestServiceTriggered(t *testing.T) {
	have, yes := ServiceState{Running: true, TriggeredBy: "x.socket"}, true
	s := Service{Name: "x", Ensure: ServiceStopped}
	require.Equal(t, "Would have stopped (x.socket can start it again: stop that too, or set mask = true)", s.Decide(have).Actions[0].Would())
	s.Mask = &yes
	require.Equal(t, "Stopped", s.Decide(have).Actions[0].Done())
}

// TestNewServiceOfAnImage: a service that a package brings to an image is enabled there, and not started.
func TestNewServiceOfAnImage(t *testing.T) {
	for root, want := range map[string]string{"/": "started", t.TempDir(): "enabled for the first boot"} {
		v := &host.New(host.Options{Root: root}).View
		d, ok := ServiceType.Type.DecideFresh(v, &Service{Name: "x", Ensure: ServiceRunning})
		require.True(t, ok)
		require.Equal(t, want, d.Actions[0].Phrase)
	}
}
