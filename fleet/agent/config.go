package agent

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// Defaults and minima of the configuration.
const (
	DefaultInterval = 5 * time.Minute
	MinInterval     = 30 * time.Second
	// DefaultRevokedAfter is the time that a revoked node goes on with its last release.
	DefaultRevokedAfter = 7 * 24 * time.Hour
	// MinHealthInterval is shorter than MinInterval, because health checks are run often.
	MinHealthInterval = time.Second
)

// DefaultCacheDir returns the directory for fetched sites, the lock and the status, unless the configuration names one:
// agent in the directory of CCM_STATE_DIR, else in /var/lib/ccm.
func DefaultCacheDir() string {
	dir := os.Getenv("CCM_STATE_DIR")
	if dir == "" {
		dir = "/var/lib/ccm"
	}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return filepath.Join(dir, "agent")
}

// ConfigFiles are the paths of the configuration, in order of the search. The second one is that
// of Choria CCM.
var ConfigFiles = []string{"/etc/ccm/agent.yaml", "/etc/choria/ccm/config.yaml"}

// A Config is the content of a configuration file. Its keys are those of the agent of Choria CCM,
// and further ones.
type Config struct {
	// File is the path of the file.
	File string
	// Interval is the time between runs.
	Interval time.Duration
	// HealthInterval is the time between health checks; 0 leaves them to runs.
	HealthInterval time.Duration
	// UnmanagedInterval is the time between lists of what no source describes; 0 for none.
	UnmanagedInterval time.Duration
	// UnmanagedAt is the local time of day of such lists, after midnight; nil for none. It replaces the interval.
	UnmanagedAt *time.Duration
	// Splay is the longest delay of this node's runs after the interval.
	Splay time.Duration
	// Noop makes all runs plans.
	Noop bool
	// Sources are the sources to run, in order.
	Sources []SourceConfig
	// Data is the path or URL of external data; "" for none.
	Data string
	// CacheDir is the directory for fetched sites and the status.
	CacheDir string
	// Context is the context of the nats tool; "" for the default.
	Context string
	// LogLevel is debug, info, warn or error.
	LogLevel string
	// MonitorPort and MonitorAddress are the port and address of the metrics server; port 0 serves
	// none, address "" is any.
	MonitorPort    int
	MonitorAddress string
	// Registration is how services are registered: nats, jetstream or none; "" registers nothing
	// and reports it.
	Registration string
	// AllowInsecure trusts content from connections without TLS.
	AllowInsecure bool
	// Fleet is the configuration for releases and jobs; nil for no fleet.
	Fleet *FleetConfig
}

// A SourceConfig is the configuration of one source.
type SourceConfig struct {
	Pos diag.Pos
	// URL is a path, or a URL: http, https, obj. It is "" for a repository.
	URL string
	// Git is a repository URL, Ref a branch, tag or full ref in it, and Path the
	// folder, script or manifest in it.
	Git, Ref, Path string
	// Signers is the file of allowed signers; "" requires no signature.
	Signers string
	// SHA256 is the expected SHA-256 of a bundle; "" for any.
	SHA256 string
}

// A FleetConfig is the configuration for a fleet.
type FleetConfig struct {
	Pos     diag.Pos
	Servers []string
	// CA, Credentials and Signers are paths of files.
	CA, Credentials, Signers string
	// Labels are the facts in the node's state.
	Labels []string
	// RevokedAfter is the time for which a node goes on with its last release when the servers no
	// longer admit it. After that it only plans; 0 for never.
	RevokedAfter time.Duration
	// StrictIdentity makes a node leave the fleet if another machine with its name began before
	// it.
	StrictIdentity bool
	// Threshold is the number of signers who must have signed a release, until the environment
	// sets another one.
	Threshold int
}

// ParseConfig parses the text of a configuration file. The error has all mistakes.
func ParseConfig(file, text string) (*Config, error) {
	c := &Config{File: file, Interval: DefaultInterval, CacheDir: DefaultCacheDir(), LogLevel: "info"}
	dec := yamlsyntax.NewDecoder(text, nil)
	doc, err := dec.Decode()
	switch {
	case errors.Is(err, io.EOF):
		return nil, emptyConfig(file)
	case err != nil:
		return nil, yamlMistake(file, err)
	}
	if _, err := dec.Decode(); !errors.Is(err, io.EOF) {
		return nil, diag.At(diag.Pos{File: file}, diag.Expected("one document").Found("more"))
	}
	r := &configReader{file: file}
	if len(doc.Content) > 0 {
		r.mapping(doc.Content[0], "the configuration", c.keys(r))
	}
	if err := r.mistakes.Err(); err != nil {
		return nil, err
	}
	if len(c.Sources) == 0 && c.Fleet == nil {
		return nil, emptyConfig(file)
	}
	return c, nil
}

// emptyConfig returns the error that a configuration has nothing to run: the file may be
// truncated.
func emptyConfig(file string) error {
	return diag.At(diag.Pos{File: file}, diag.Expected("sources or fleet").Found("neither")).WithHint("add sources, or disable the agent: systemctl disable --now ccm-agent")
}

// keys returns the keys of the file with the functions that read their values.
func (c *Config) keys(r *configReader) map[string]func(*yaml.Node) {
	sources := func(n *yaml.Node) { c.Sources = append(c.Sources, r.sources(n)...) }
	return map[string]func(*yaml.Node){
		"interval":              func(n *yaml.Node) { c.Interval = r.duration(n, MinInterval) },
		"health_check_interval": func(n *yaml.Node) { c.HealthInterval = r.duration(n, MinHealthInterval) },
		"unmanaged_interval":    func(n *yaml.Node) { c.UnmanagedInterval = r.duration(n, MinInterval) },
		"unmanaged_at":          func(n *yaml.Node) { c.UnmanagedAt = r.timeOfDay(n) },
		"splay":                 func(n *yaml.Node) { c.Splay = r.duration(n, 0) },
		"noop":                  func(n *yaml.Node) { c.Noop = r.boolean(n) },
		"manifests":             sources,
		"sites":                 sources,
		"sources":               sources,
		"external_data_url":     func(n *yaml.Node) { c.Data = r.data(n) },
		"cache_dir":             func(n *yaml.Node) { c.CacheDir = r.path(n) },
		"nats_context":          func(n *yaml.Node) { c.Context = r.text(n) },
		"log_level":             func(n *yaml.Node) { c.LogLevel = r.choice(n, "debug", "info", "warn", "error") },
		"monitor_port":          func(n *yaml.Node) { c.MonitorPort = r.port(n) },
		"monitor_address":       func(n *yaml.Node) { c.MonitorAddress = r.text(n) },
		"registration":          func(n *yaml.Node) { c.Registration = r.choice(n, "", "nats", "jetstream", "none") },
		"allow_insecure":        func(n *yaml.Node) { c.AllowInsecure = r.boolean(n) },
		"fleet":                 func(n *yaml.Node) { c.Fleet = r.fleet(n) },
	}
}

// fleet reads the configuration for a fleet.
func (r *configReader) fleet(n *yaml.Node) *FleetConfig {
	f := &FleetConfig{Pos: r.at(n), RevokedAfter: DefaultRevokedAfter, Threshold: 1}
	r.mapping(n, "fleet", map[string]func(*yaml.Node){
		"servers":         func(n *yaml.Node) { f.Servers = r.texts(n) },
		"ca":              func(n *yaml.Node) { f.CA = r.path(n) },
		"credentials":     func(n *yaml.Node) { f.Credentials = r.path(n) },
		"signers":         func(n *yaml.Node) { f.Signers = r.path(n) },
		"labels":          func(n *yaml.Node) { f.Labels = r.texts(n) },
		"revoked_after":   func(n *yaml.Node) { f.RevokedAfter = r.duration(n, 0) },
		"strict_identity": func(n *yaml.Node) { f.StrictIdentity = r.boolean(n) },
		"threshold":       func(n *yaml.Node) { f.Threshold = r.count(n, 16) },
	})
	return f
}

// sources reads a list of sources.
func (r *configReader) sources(n *yaml.Node) (list []SourceConfig) {
	if isNull(n) {
		return nil
	}
	if n = r.resolve(n); n.Kind != yaml.SequenceNode {
		r.mistake(n, "%w", diag.Expected("a list: a dash before each source"))
		return nil
	}
	for _, item := range n.Content {
		if s, ok := r.source(r.resolve(item)); ok {
			list = append(list, s)
		}
	}
	return list
}

func (r *configReader) source(n *yaml.Node) (s SourceConfig, ok bool) {
	s.Pos = r.at(n)
	before := len(r.mistakes)
	if n.Kind == yaml.ScalarNode {
		s.URL = r.text(n)
	} else {
		r.mapping(n, "a source", map[string]func(*yaml.Node){
			"url":     func(n *yaml.Node) { s.URL = r.text(n) },
			"git":     func(n *yaml.Node) { s.Git = r.text(n) },
			"ref":     func(n *yaml.Node) { s.Ref = r.text(n) },
			"path":    func(n *yaml.Node) { s.Path = r.text(n) },
			"signers": func(n *yaml.Node) { s.Signers = r.path(n) },
			"sha256":  func(n *yaml.Node) { s.SHA256 = r.text(n) },
		})
	}
	if len(r.mistakes) > before {
		return s, false
	}
	if err := s.check(); err != nil {
		r.mistakes.Add(&diag.Error{Pos: s.Pos, Err: err})
		return s, false
	}
	return s, true
}

// Schemes of sources and data.
const (
	objectScheme = "obj://"
	keyScheme    = "kv://"
	fileScheme   = "file://"
)

func isHTTP(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// check returns the mistake in a source.
func (s *SourceConfig) check() error {
	if s.SHA256 != "" {
		text := strings.ToLower(strings.TrimPrefix(s.SHA256, "sha256:"))
		if len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
			return fmt.Errorf("sha256: %w", diag.Expected("64 hexadecimal digits").Got("%q", s.SHA256))
		}
		s.SHA256 = text
	}
	switch {
	case s.Git != "" && s.URL != "":
		return diag.Conflicting("git", "url")
	case s.Git != "":
		return s.checkGit()
	case s.Ref != "" || s.Path != "":
		return diag.Requires("ref or path", "git")
	}
	return s.checkURL()
}

func (s *SourceConfig) checkGit() error {
	switch {
	case s.SHA256 != "":
		return diag.AppliesOnly("sha256", "bundles (set ref to a commit instead)")
	case strings.HasPrefix(s.Git, "-") || strings.ContainsFunc(s.Git, isControl):
		return fmt.Errorf("git: %w", diag.Expected("a repository URL").Got("%q", s.Git))
	case strings.Contains(s.Git, "::"):
		return fmt.Errorf("git: %w", diag.Expected("an ssh, https, http or file URL"))
	case strings.HasPrefix(s.Ref, "-") || strings.ContainsAny(s.Ref, " ~^:?*[\\") || strings.Contains(s.Ref, "..") || strings.ContainsFunc(s.Ref, isControl):
		return fmt.Errorf("ref: %w", diag.Expected("a branch, a tag, or the full name of a ref").Got("%q", s.Ref))
	case s.Path != "" && !filepath.IsLocal(s.Path):
		return fmt.Errorf("path: %w", diag.Expected("a path in the repository").Got("%q", s.Path))
	}
	return nil
}

func (s *SourceConfig) checkURL() error {
	switch {
	case s.URL == "":
		return diag.At(diag.Pos{}, diag.Expected("a path or a URL")).WithHint("- /srv/site.lua, - https://example.org/site.tar.gz, - {git: https://example.org/site.git, ref: main}")
	case isHTTP(s.URL):
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" {
			return diag.Expected("a URL such as https://example.org/site.tar.gz")
		}
	case strings.HasPrefix(s.URL, objectScheme):
		if _, _, err := bucketAndKey(s.URL, objectScheme); err != nil {
			return err
		}
	case strings.HasPrefix(s.URL, fileScheme):
		s.URL = strings.TrimPrefix(s.URL, fileScheme)
		fallthrough
	default:
		if strings.Contains(s.URL, "://") {
			scheme, _, _ := strings.Cut(s.URL, "://")
			return diag.At(diag.Pos{}, diag.Unknown("URL scheme", scheme, nil)).
				WithHint("use a path, or an https://, obj:// or git: URL")
		}
		if !filepath.IsAbs(s.URL) {
			return diag.At(diag.Pos{}, diag.Expected("an absolute path").Got("%q", s.URL))
		}
		s.URL = filepath.Clean(s.URL)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// bucketAndKey returns the parts of a name such as kv://BUCKET/KEY.
func bucketAndKey(name, scheme string) (bucket, key string, err error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(name, scheme), "/")
	if !ok || bucket == "" || key == "" {
		return "", "", diag.Expected("%sBUCKET/KEY", scheme).Got("%q", name)
	}
	return bucket, key, nil
}

// data reads the name of external data.
func (r *configReader) data(n *yaml.Node) string {
	name := r.text(n)
	switch {
	case name == "":
	case strings.HasPrefix(name, keyScheme):
		_, _, err := bucketAndKey(name, keyScheme)
		r.addMistake(n, err)
	case strings.HasPrefix(name, objectScheme):
		_, _, err := bucketAndKey(name, objectScheme)
		r.addMistake(n, err)
	case isHTTP(name):
		if u, err := url.Parse(name); err != nil || u.Host == "" {
			r.mistake(n, "%w", diag.Expected("a URL such as https://example.org/data.yaml"))
		}
	default:
		name = strings.TrimPrefix(name, fileScheme)
		if strings.Contains(name, "://") || !filepath.IsAbs(name) {
			r.mistake(n, "%w", diag.Expected("an absolute path, or a URL: file://, kv://, obj://, http:// or https://"))
		}
	}
	return name
}

// names returns the keys of a table, sorted.
func names[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
