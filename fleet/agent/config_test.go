package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Configurations of the agent of Choria CCM are accepted unchanged.
func TestConfigsOfChoria(t *testing.T) {
	files, err := filepath.Glob("testdata/choria/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 4)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := ParseConfig(file, string(text))
		require.NoError(t, err)
		require.NotEmpty(t, c.Sources, file)
	}
	text, err := os.ReadFile("testdata/choria/full.yaml")
	require.NoError(t, err)
	c, err := ParseConfig("full.yaml", string(text))
	require.NoError(t, err)
	want := &Config{
		File: "full.yaml", Interval: 10 * time.Minute, HealthInterval: time.Minute, CacheDir: "/etc/choria/ccm/source", LogLevel: "debug",
		Context: "FLEET", MonitorPort: 9100, Registration: "jetstream", Data: "kv://ccm-data/common",
	}
	for _, s := range c.Sources {
		want.Sources = append(want.Sources, SourceConfig{Pos: s.Pos, URL: s.URL})
	}
	require.Equal(t, want, c)
	require.Equal(t, "/etc/choria/ccm/manifests/base.yaml", c.Sources[0].URL)
	require.Equal(t, "obj://ccm-manifests/app.tar.gz", c.Sources[1].URL)
	require.Equal(t, "https://user:pass@example.com/manifest.tar.gz", c.Sources[3].URL)
}

func TestConfig(t *testing.T) {
	t.Setenv("CCM_STATE_DIR", "/srv/state")
	c, err := ParseConfig("a.yaml", "fleet: {}\n")
	require.NoError(t, err)
	require.Nil(t, c.UnmanagedAt)
	require.Equal(t, "/srv/state/agent", c.CacheDir, "the lock and the status are where runs keep their state")
	c, err = ParseConfig("a.yaml", "fleet: {}\ncache_dir: /elsewhere\nunmanaged_at: 03:05\n")
	require.NoError(t, err)
	require.Equal(t, 3*time.Hour+5*time.Minute, *c.UnmanagedAt)
	require.Equal(t, "/elsewhere", c.CacheDir)
	t.Setenv("CCM_STATE_DIR", "")
	c, err = ParseConfig("a.yaml", "fleet: {}\n")
	require.NoError(t, err)
	c.Fleet = nil
	require.Equal(t, &Config{File: "a.yaml", Interval: DefaultInterval, CacheDir: "/var/lib/ccm/agent", LogLevel: "info"}, c)
	c, err = ParseConfig("a.yaml", strings.ReplaceAll(`
interval: 1d
health_check_interval: 1h30m
splay: 90s
noop: true
allow_insecure: true
monitor_address: 127.0.0.1
sites: [/srv/site.lua]
manifests: [file:///srv/manifest.yaml]
sources:
  - &web {git: "https://example.org/web.git", ref: main, signers: /etc/ccm/allowed_signers, path: sites/web}
  - {url: "https://example.org/site.tar.gz", sha256: SHA256}
fleet:
  servers: [tls://nats1.example.net]
  ca: /etc/ccm/fleet/ca.pem
  credentials: /etc/ccm/fleet/node.creds
  signers: /etc/ccm/fleet/allowed_signers
  labels: [os.family]
  revoked_after: 2d
  threshold: 2
`, "SHA256", "sha256:"+strings.Repeat("AB", 32)))
	require.NoError(t, err)
	require.Equal(t, 24*time.Hour, c.Interval)
	require.Equal(t, 90*time.Minute, c.HealthInterval)
	require.True(t, c.Noop && c.AllowInsecure)
	require.Len(t, c.Sources, 4)
	require.Equal(t, "/srv/manifest.yaml", c.Sources[1].URL)
	require.Equal(t, SourceConfig{Pos: c.Sources[2].Pos, Git: "https://example.org/web.git", Ref: "main", Signers: "/etc/ccm/allowed_signers", Path: "sites/web"}, c.Sources[2])
	require.Equal(t, strings.Repeat("ab", 32), c.Sources[3].SHA256)
	require.Equal(t, []string{"tls://nats1.example.net"}, c.Fleet.Servers)
	require.Equal(t, []any{48 * time.Hour, 2}, []any{c.Fleet.RevokedAfter, c.Fleet.Threshold})
	c, err = ParseConfig("a.yaml", "fleet: {servers: [tls://a], revoked_after: 0s}")
	require.NoError(t, err)
	require.Equal(t, []any{time.Duration(0), 1}, []any{c.Fleet.RevokedAfter, c.Fleet.Threshold}, "0 is for ever")
}

// Each mistake is one error with its place and a hint.
func TestMistakesInConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                               `a.yaml: expected sources or fleet, found neither`,
		"# sources:\n":                                   `expected sources or fleet`,
		"interval: 5m\n":                                 `expected sources or fleet`,
		"sources: []\n":                                  `expected sources or fleet`,
		"intervall: 5m":                                  `a.yaml:1:1: unknown key "intervall" (did you mean "interval"?)`,
		"fleet: {threshold: 0}":                          `a.yaml:1:20: threshold: expected a number between 1 and 16, got "0"`,
		"interval: 10s":                                  `a.yaml:1:11: interval: must be at least 30s, got "10s"`,
		"interval: soon":                                 `a.yaml:1:11: interval: expected a time such as 30s, 5m, 1h30m or 1d, got "soon"`,
		"interval: -5m":                                  `expected a time such as`,
		"interval: [5m]":                                 `a.yaml:1:11: expected a string`,
		"interval: 5m\ninterval: 6m":                     `a.yaml:2:1: duplicate key "interval"`,
		"health_check_interval: 0.1s":                    `must be at least 1s`,
		"log_level: inof":                                `a.yaml:1:12: log_level: expected debug, info, warn, error, got "inof" (did you mean "info"?)`,
		"registration: kafka":                            `registration: expected nats, jetstream, none, got "kafka"`,
		"cache_dir: ''":                                  `cache_dir: expected an absolute path, got ""`,
		"monitor_port: 99999":                            `monitor_port: expected a port, or 0 for none, got "99999"`,
		"unmanaged_at: 3am":                              `a.yaml:1:15: unmanaged_at: expected a time of day such as 03:00, got "3am"`,
		"noop: ja":                                       `noop: expected true or false`,
		"manifests: /srv/site.lua":                       `a.yaml:1:12: manifests: expected a list: a dash before each source`,
		"manifests:\n  - site.lua":                       `a.yaml:2:5: expected an absolute path, got "site.lua"`,
		"manifests:\n  - obj://bucket":                   `a.yaml:2:5: expected obj://BUCKET/KEY, got "obj://bucket"`,
		"manifests:\n  - kv://bucket/key":                `a.yaml:2:5: unknown URL scheme "kv" (use a path, or an https://, obj:// or git: URL)`,
		"manifests:\n  - https:///x":                     `expected a URL such as https://example.org/site.tar.gz`,
		"manifests: [{}]":                                `expected a path or a URL (- /srv/site.lua, `,
		"sources: [{git: /srv/x.git, url: /srv/x}]":      `git and url cannot be used together`,
		"sources: [{git: /srv/x.git, ref: '-x'}]":        `ref: expected a branch, a tag, or the full name of a ref, got "-x"`,
		"sources: [{git: '--upload-pack=x'}]":            `git: expected a repository URL`,
		"sources: [{git: 'ext::sh -c x'}]":               `git: expected an ssh, https, http or file URL`,
		"sources: [{git: /srv/x.git, path: ../x}]":       `path: expected a path in the repository, got "../x"`,
		"sources: [{git: /srv/x.git, sha256: x}]":        `sha256: expected 64 hexadecimal digits`,
		"sources: [{url: /srv/x, ref: main}]":            `ref or path requires git`,
		"sources: [{gitt: /srv/x}]":                      `a.yaml:1:12: unknown key "gitt" (did you mean "git"?)`,
		"sources: [{git: /srv/x.git, signers: signers}]": `signers: expected an absolute path, got "signers"`,
		"external_data_url: data.yaml":                   `external_data_url: expected an absolute path, or a URL: file://, kv://, obj://, http:// or https://`,
		"external_data_url: kv://x":                      `external_data_url: expected kv://BUCKET/KEY, got "kv://x"`,
		"fleet: {server: [x]}":                           `unknown key "server" (did you mean "servers"?)`,
		"- a":                                            `a.yaml:1:1: expected keys and values for the configuration`,
		"a: b: c":                                        `a.yaml: mapping values are not allowed in this context`,
		"interval: 5m\n---\ninterval: 6m":                `expected one document, found more`,
		"<<: {interval: 5m}":                             `a.yaml:1:1: expected a key`,
		"zzzzzz: 1":                                      `unknown key "zzzzzz" (keys of the configuration: allow_insecure, cache_dir, `,
	} {
		_, err := ParseConfig("a.yaml", text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := ParseConfig("a.yaml", "intervall: 1\nlog_lvel: x\nsources: [x, y]")
	require.Len(t, strings.Split(strings.TrimSpace(err.Error()), "\n"), 4, "all mistakes are told: %v", err)
}

func FuzzConfig(f *testing.F) {
	files, _ := filepath.Glob("testdata/choria/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("sources: [{git: x, ref: y, path: z, signers: /a}]\nfleet: {servers: [a], labels: [b]}")
	f.Add("a: &a [*a]\nsources: *a")
	f.Add("interval: 1e9d")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		c, err := ParseConfig("x.yaml", text)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, c.Interval, MinInterval)
		require.True(t, filepath.IsAbs(c.CacheDir))
		for _, s := range c.Sources {
			require.NoError(t, s.check())
			require.True(t, (s.Git == "") != (s.URL == ""))
			require.False(t, strings.HasPrefix(s.Git, "-") || strings.HasPrefix(s.Ref, "-"))
		}
	})
}

// The delay of a node is fixed and below the splay, and delays of nodes are spread evenly.
func TestSpread(t *testing.T) {
	var sum time.Duration
	for i := range 1000 {
		node := strings.Repeat("n", i%7) + time.Duration(i).String()
		d := spread(node, time.Hour)
		require.Equal(t, d, spread(node, time.Hour))
		require.True(t, d >= 0 && d < time.Hour)
		sum += d
	}
	require.InDelta(t, 30*time.Minute, sum/1000, float64(3*time.Minute))
	require.Zero(t, spread("x", 0))
}

func TestSchedule(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := schedule{interval: time.Minute, next: begin.Add(time.Minute)}
	require.False(t, s.due(begin))
	require.True(t, s.due(begin.Add(61*time.Second)))
	require.False(t, s.due(begin.Add(119*time.Second)), "the next one is at its time, however late the last one was")
	require.True(t, s.due(begin.Add(2*time.Minute)))
	require.True(t, s.due(begin.Add(time.Hour)), "of a machine that slept")
	require.False(t, s.due(begin.Add(time.Hour)), "those that were missed are one")
	require.True(t, s.due(begin.Add(61*time.Minute)))
	require.False(t, s.due(begin.Add(-100*24*time.Hour)), "a clock that was set back")
	require.True(t, s.due(begin.Add(-100*24*time.Hour+time.Minute)))
	berlin := time.FixedZone("CET", 3600)
	night := daily(time.Date(2026, 1, 1, 3, 0, 0, 0, berlin), 3*time.Hour)
	require.Equal(t, time.Date(2026, 1, 2, 3, 0, 0, 0, berlin), night.next)
	require.False(t, night.due(time.Date(2026, 1, 2, 2, 59, 0, 0, berlin)))
	require.True(t, night.due(time.Date(2026, 1, 2, 3, 10, 0, 0, berlin)))
	require.Equal(t, time.Date(2026, 1, 3, 3, 0, 0, 0, berlin), night.next)
	require.True(t, night.due(time.Date(2026, 1, 9, 12, 0, 0, 0, berlin)), "of a machine that slept")
	require.Equal(t, time.Date(2026, 1, 10, 3, 0, 0, 0, berlin), night.next)
	never := schedule{}
	require.False(t, never.due(begin.Add(time.Hour)))
}

func TestMetricsOfFacts(t *testing.T) {
	m := newMetrics()
	m.set(metricUnmanaged, 3)
	m.set(metricUnmanaged, 2)
	m.gatheredFacts(2*time.Second, nil)
	m.gatheredFacts(time.Second, errors.New("no"))
	var b strings.Builder
	require.NoError(t, m.write(&b))
	for _, line := range []string{
		"facts_gather_duration_seconds_sum 2", "facts_gather_duration_seconds_count 1",
		"agent_facts_resolve_duration_seconds_sum 3", "agent_facts_resolve_duration_seconds_count 2", "agent_facts_resolve_error_count 1", "agent_unmanaged_items 2",
	} {
		require.Contains(t, b.String(), "\nchoria_ccm_"+line+"\n")
	}
}

// TestDefaultCacheDir: the lock and the status are in the state directory that runs use.
func TestDefaultCacheDir(t *testing.T) {
	for given, want := range map[string]string{"": "/var/lib/ccm/agent", "/srv/state": "/srv/state/agent"} {
		t.Setenv("CCM_STATE_DIR", given)
		require.Equal(t, want, DefaultCacheDir())
	}
}
