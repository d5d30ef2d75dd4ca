package fake

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

// The models keep the contract of real providers. A machine lasts for one trial, and each start sets its initial
// state.

func TestPackages(t *testing.T) {
	m := New()
	start := func(installed map[string]string) func(*testing.T, string) host.Runner {
		return func(*testing.T, string) host.Runner {
			m.Packages = installed
			return m
		}
	}
	resourcetest.Suite[resources.Package, resources.PackageState, resources.PackageProvider]{
		Type: resources.PackageType, Provider: packages{m}, Imagined: true,
		Starts: map[string]func(*testing.T, string) host.Runner{
			"absent": func(t *testing.T, root string) host.Runner { return start(map[string]string{})(t, root) },
			"old":    func(t *testing.T, root string) host.Runner { return start(map[string]string{"zsh": "1.9"})(t, root) },
			"new":    func(t *testing.T, root string) host.Runner { return start(map[string]string{"zsh": "1.10"})(t, root) },
		},
		Wants: map[string]resources.Package{
			"present": {Name: "zsh", Ensure: "present"},
			"absent":  {Name: "zsh", Ensure: "absent"},
			"latest":  {Name: "zsh", Ensure: "latest"},
			"version": {Name: "zsh", Ensure: "1.10"},
			"older":   {Name: "zsh", Ensure: "1.9"},
		},
		Phrases: map[string][]string{
			"absent/present": {"installed"}, "absent/version": {"installed version 1.10"}, "old/present": {}, "old/latest": {},
			"old/version": {"upgraded to 1.10"}, "new/older": {"downgraded to 1.9"}, "new/absent": {"uninstalled"}, "absent/absent": {},
		},
	}.Run(t)
}

func TestServices(t *testing.T) {
	m := New()
	start := func(s Service) func(*testing.T, string) host.Runner {
		return func(*testing.T, string) host.Runner {
			m.Services = map[string]Service{"nginx": s}
			return m
		}
	}
	resourcetest.Suite[resources.Service, resources.ServiceState, resources.ServiceProvider]{
		Type: resources.ServiceType, Provider: services{m}, Imagined: true,
		Starts: map[string]func(*testing.T, string) host.Runner{
			"stopped": start(Service{}), "running": start(Service{Running: true}), "both": start(Service{Running: true, Enabled: true}), "masked": start(Service{Masked: true}),
		},
		Wants: map[string]resources.Service{
			"running":  {Name: "nginx", Ensure: resources.ServiceRunning},
			"stopped":  {Name: "nginx", Ensure: resources.ServiceStopped},
			"enabled":  {Name: "nginx", Ensure: resources.ServiceRunning, Enable: new(true)},
			"mask":     {Name: "nginx", Ensure: resources.ServiceRunning, Mask: new(true)},
			"unmask":   {Name: "nginx", Ensure: resources.ServiceRunning, Mask: new(false), Enable: new(true)},
			"reload":   {Name: "nginx", Ensure: resources.ServiceRunning, OnChange: resources.ServiceReload},
			"alone":    {Name: "nginx", Ensure: resources.ServiceUnmanaged, Enable: new(true)},
			"disabled": {Name: "nginx", Ensure: resources.ServiceStopped, Enable: new(false)},
		},
		Phrases: map[string][]string{
			"stopped/running": {"started"}, "both/disabled": {"stopped", "disabled"}, "stopped/enabled": {"started", "enabled"}, "both/enabled": {},
			"both/mask": {"stopped", "masked"}, "masked/mask": {}, "masked/unmask": {"unmasked", "started", "enabled"},
		},
		Fails: map[string]string{
			"masked/running": "found a masked one (unmask it with mask = false)", "masked/enabled": "found a masked one (unmask it with mask = false)", "masked/reload": "found a masked one (unmask it with mask = false)", "masked/alone": "found a masked one (unmask it with mask = false)",
		},
	}.Run(t)
}

// The services of each user are his own.
func TestServicesOfUsers(t *testing.T) {
	m := New()
	m.Services["alice/app"] = Service{Running: true}
	for user, running := range map[string]bool{"": false, "alice": true, "bob": false} {
		want := resources.Service{Name: "app", User: user}
		if user != "" {
			want.Scope = resources.UserService
		}
		have, err := services{m}.Status(t.Context(), nil, want)
		require.NoError(t, err)
		require.Equal(t, running, have.Running, user)
	}
}

// Files are real, and their owners and capabilities are only recorded, so that tests need not be root.
func TestFiles(t *testing.T) {
	m := New()
	inner := posix.Providers()[0]
	require.Same(t, resources.FileType.Type, inner.Type)
	mode := resources.ModeOf(0o640)
	start := func(files map[string]string) func(*testing.T, string) host.Runner {
		return func(t *testing.T, root string) host.Runner {
			m.owners, m.capabilities = map[string][2]string{}, map[string]filecap.Capabilities{}
			h := host.New(host.Options{Root: root})
			for name, content := range files {
				require.NoError(t, m.Write(h, name, content))
			}
			return m
		}
	}
	resourcetest.Suite[resources.File, resources.FileState, resources.FileProvider]{
		Type: resources.FileType, Provider: files{m, inner}, Imagined: true,
		Starts: map[string]func(*testing.T, string) host.Runner{
			"empty": start(nil), "there": start(map[string]string{"/etc/app/conf": "old"}),
		},
		Wants: map[string]resources.File{
			"content": {Name: "/etc/app/conf", Ensure: resources.FilePresent, Content: new("new"), Owner: "nobody-here", Group: "nogroup-here", Mode: &mode},
			"root":    {Name: "/etc/app/conf", Ensure: resources.FilePresent, Owner: "0", Group: "root", Mode: &mode},
			"bind":    {Name: "/etc/app/conf", Ensure: resources.FilePresent, Owner: "root", Group: "root", Mode: &mode, Capabilities: &filecap.Capabilities{Given: true, Permitted: 1 << 10}},
			"absent":  {Name: "/etc/app/conf", Ensure: resources.FileAbsent},
			"dir":     {Name: "/etc/app/d", Ensure: resources.FileDirectory, Owner: "app", Group: "-1", Mode: &mode},
		},
		Phrases: map[string][]string{"empty/absent": {}, "there/content": {"updated the file"}, "empty/content": {"created the file"}},
	}.Run(t)
}

func TestArchives(t *testing.T) {
	m := New()
	wish := func(change func(a *resources.Archive)) resources.Archive {
		a := resources.Archive{
			Name: "/opt/a.tar.gz", Ensure: resources.ArchivePresent, Owner: "app", Group: "app",
			MaxEntries: 10, MaxSize: 1 << 20, StallTimeout: host.Duration(time.Minute),
		}
		if err := a.URL.UnmarshalText([]byte("https://example.net/a.tar.gz")); err != nil {
			t.Fatal(err)
		}
		change(&a)
		return a
	}
	fresh := func(*testing.T, string) host.Runner {
		m.owners = map[string][2]string{}
		return m
	}
	resourcetest.Suite[resources.Archive, resources.ArchiveState, resources.ArchiveProvider]{
		Type: resources.ArchiveType, Provider: archives{m}, Imagined: true,
		Starts: map[string]func(*testing.T, string) host.Runner{"empty": fresh},
		Wants: map[string]resources.Archive{
			"plain":     wish(func(*resources.Archive) {}),
			"extracted": wish(func(a *resources.Archive) { a.ExtractParent, a.Creates, a.Cleanup = "/opt/a", "/opt/a/bin", true }),
			"absent":    wish(func(a *resources.Archive) { a.Ensure = resources.ArchiveAbsent }),
		},
	}.Run(t)
}

// After a command was run, its guards are satisfied.
func TestExecs(t *testing.T) {
	for name, want := range map[string]resources.Exec{
		"creates":  {Name: "make", Creates: "/srv/made", Returns: []int{0}},
		"unless":   {Name: "make", Unless: "test -e made", Returns: []int{0}},
		"onlyif":   {Name: "make", OnlyIf: "test ! -e made", Returns: []int{0}},
		"returns":  {Name: "make", Unless: "x", Returns: []int{3}},
		"override": {Name: "make it so", Command: "make", Creates: "/srv/made", Returns: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := New()
			h, _ := hosttest.New(t, m)
			p := execs{m}
			ctx := context.Background()
			have, err := p.Status(ctx, &h.View, want)
			require.NoError(t, err)
			d := want.Decide(have)
			require.Len(t, d.Actions, 1)
			require.NoError(t, want.Perform(ctx, h, p, d.Actions[0]))
			require.Equal(t, []string{"make"}, m.Commands())
			have, err = p.Status(ctx, &h.View, want)
			require.NoError(t, err)
			require.True(t, want.Decide(have).Stable())
		})
	}
}

// Answers of a spec have precedence over the model.
func TestAnswers(t *testing.T) {
	m := New()
	m.Answers = map[string]Answer{"uname -r": {Stdout: "6.1\n"}, "test -e x": {Code: 0}, "false": {Code: 1}}
	h, _ := hosttest.New(t, m)
	ctx := context.Background()
	res, err := h.Query(ctx, host.Cmd{Argv: []string{"uname", "-r"}})
	require.NoError(t, err)
	require.Equal(t, "6.1\n", string(res.Stdout))
	_, err = h.Query(ctx, host.Cmd{Argv: []string{"hostname"}})
	require.ErrorContains(t, err, `commands = { ["hostname"] = ... }`)
	_, err = execs{m}.Execute(t.Context(), h, resources.Exec{Name: "update", ChangedIf: "x"})
	require.ErrorContains(t, err, `commands = { ["update"] = ... }`)
	m.Converge()
	res, err = h.Query(ctx, host.Cmd{Argv: []string{"check_http"}})
	require.NoError(t, err)
	require.Zero(t, res.Code)
	guarded := resources.Exec{Name: "make", Unless: "test -e x", Returns: []int{0}}
	have, err := execs{m}.Status(ctx, &h.View, guarded)
	require.NoError(t, err)
	require.True(t, guarded.Decide(have).Stable())
	failing := resources.Exec{Name: "false", Returns: []int{0}}
	require.ErrorIs(t, failing.Perform(ctx, h, execs{m}, resource.Action{Verb: "Execute"}), resource.ErrDesiredStateFailed)
}

// The model has the names of the real providers, so that provider= works.
func TestProviders(t *testing.T) {
	real, err := resource.NewRegistry(posix.Providers()...)
	require.NoError(t, err)
	reg, err := resource.NewRegistry(New().Providers(real)...)
	require.NoError(t, err)
	require.Equal(t, real.TypeNames(), reg.TypeNames())
	require.Equal(t, []string{"posix", "shell"}, reg.ProviderNames(resources.ExecType.Type))
}

// TestFamily: on an imagined machine, too, its family decides which package system it has.
func TestFamily(t *testing.T) {
	for family, want := range map[string]string{"debian": "apt", "rhel": "dnf", "fedora": "dnf", "plan9": "apt"} {
		var got string
		lowest := 1 << 30
		f := facts.Static(map[string]any{"os": map[string]any{"family": family}})
		for i, name := range []string{"apt", "dnf"} {
			if n, err := ofFamily(name, i)(f, resources.Package{}); err == nil && n < lowest {
				got, lowest = name, n
			}
		}
		require.Equal(t, want, got, family)
	}
}
