package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/test/tally"
)

// A siteServer serves a bundle that can be replaced, and can fail.
type siteServer struct {
	*httptest.Server
	mu    sync.Mutex
	text  []byte
	data  string
	down  bool
	reset bool
	asked int
	slow  chan struct{} // responses wait until it is closed; nil for none
}

func newSiteServer(t *testing.T) *siteServer {
	s := &siteServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		slow := s.slow
		s.mu.Unlock()
		if slow != nil {
			<-slow
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		switch {
		case s.reset: // the client is told of the reset with its port
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			return
		case s.down:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case r.URL.Path == "/data.yaml":
			_, _ = io.WriteString(w, s.data)
			return
		}
		tag := fmt.Sprintf(`"%d-%x"`, len(s.text), s.text[len(s.text)-8:])
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(s.text)
	}))
	t.Cleanup(s.Close)
	return s
}

// put makes the server serve a bundle with a script.
func (s *siteServer) put(t *testing.T, script string) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(script), 0o644))
	var b strings.Builder
	_, err := bundle.Write(t.Context(), &b, bundle.Folder{Dir: dir, Limits: bundle.DefaultLimits})
	require.NoError(t, err)
	s.set(func() { s.text = []byte(b.String()) })
}

func (s *siteServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// An agentWorld is a directory that an agent manages.
type agentWorld struct {
	t    *testing.T
	dir  string
	root string
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newAgentWorld(t *testing.T) *agentWorld {
	w := &agentWorld{t: t, dir: t.TempDir(), log: new(lockedBuffer)}
	w.root = filepath.Join(w.dir, "root")
	require.NoError(t, os.Mkdir(w.root, 0o755))
	t.Setenv("CCM_STATE_DIR", filepath.Join(w.dir, "state"))
	t.Setenv("CCM_CACHE_DIR", filepath.Join(w.dir, "cache"))
	return w
}

// file returns a declaration of a file below the root.
func (w *agentWorld) file(name, content string) string {
	return fmt.Sprintf("file { %q, content = %q, owner = \"%d\", group = \"%d\", mode = \"0644\" }\n", filepath.Join(w.root, name), content, os.Getuid(), os.Getgid())
}

func (w *agentWorld) content(name string) string {
	text, _ := os.ReadFile(filepath.Join(w.root, name))
	return string(text)
}

// config parses a configuration.
func (w *agentWorld) config(text string) *agent.Config {
	c, err := agent.ParseConfig(filepath.Join(w.dir, "agent.yaml"), "cache_dir: "+w.dir+"/agent\nallow_insecure: true\n"+text)
	require.NoError(w.t, err)
	return c
}

// start runs an agent in this process, with short intervals. stop ends it.
func (w *agentWorld) start(c *agent.Config, change func(*agent.Options)) (a *agent.Agent, stop func()) {
	ccm, err := exec.LookPath("ccm")
	require.NoError(w.t, err)
	o := agent.Options{
		Config: c, Executable: ccm, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Clock: host.RealClock{}, Node: "node",
		Timing: agent.Timing{Poll: 20 * time.Millisecond, BackoffLeast: time.Millisecond, BackoffMost: 20 * time.Millisecond, LockWait: time.Minute},
	}
	if change != nil {
		change(&o)
	}
	a, err = agent.New(o)
	require.NoError(w.t, err)
	asked, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Run(w.t.Context(), asked) }()
	stop = sync.OnceFunc(func() {
		close(asked)
		require.NoError(w.t, <-ended)
	})
	w.t.Cleanup(stop)
	return a, stop
}

// eventually waits until holds is true, and prints the agent's log if it is not.
func (w *agentWorld) eventually(holds func() bool, what string) {
	w.t.Helper()
	for end := time.Now().Add(longEnough); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			require.Fail(w.t, what, w.log.String())
		}
	}
}

// A change on a server is run at once. Without the server the last good site is run, and the server is used again
// when it is back.
func TestAgentFollowsServer(t *testing.T) {
	w, s := newAgentWorld(t), newSiteServer(t)
	s.put(t, w.file("a", "one"))
	a, stop := w.start(w.config("sources: ["+s.URL+"/site.tar.gz]"), nil)
	w.eventually(func() bool { return w.content("a") == "one" }, "the first site is run")
	s.put(t, w.file("a", "two"))
	w.eventually(func() bool { return w.content("a") == "two" }, "the change is run")
	s.set(func() { s.down = true })
	w.eventually(func() bool { return strings.Contains(w.log.String(), "503 Service Unavailable") }, "the failure is told")
	require.NoError(t, os.Remove(filepath.Join(w.root, "a")))
	results, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply, Reason: "the test says so"})
	require.NoError(t, err)
	require.Len(t, results, 1)
	require.Equal(t, map[string]int{"total": 1, "changed": 1}, results[0].Counts)
	require.Equal(t, "two", w.content("a"))
	s.set(func() { s.down, s.reset, s.asked = false, true, 0 })
	w.eventually(func() bool { asked := 0; s.set(func() { asked = s.asked }); return asked > 5 }, "the server is asked again")
	require.Equal(t, 1, strings.Count(w.log.String(), "connection reset by peer"), w.log.String())
	s.put(t, w.file("a", "three"))
	s.set(func() { s.reset = false })
	w.eventually(func() bool { return w.content("a") == "three" }, "the server is asked again")
	stop()
	require.Equal(t, 1, strings.Count(w.log.String(), "503 Service Unavailable"), "a failure that goes on is told once")
	require.Contains(t, w.log.String(), "reachable again")

	// The status shows the installed site even before a slow server has answered.
	answer := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(goOn)
	s.set(func() { s.slow = answer })
	c := w.config("sources: [" + s.URL + "/site.tar.gz]")
	before, err := agent.ReadStatus(c.CacheDir)
	require.ErrorIs(t, err, agent.ErrNotRunning)
	_, stop = w.start(c, nil)
	w.eventually(func() bool {
		now, err := agent.ReadStatus(c.CacheDir)
		return err == nil && now.Since.After(before.Since)
	}, "it begins")
	now, err := agent.ReadStatus(c.CacheDir)
	require.NoError(t, err)
	require.Equal(t, before.Sources[0].Digest, now.Sources[0].Digest)
	require.NotEmpty(t, now.Sources[0].Digest)
	s.set(func() { s.slow = nil })
	goOn()
	stop()

	// Another agent finds the site on disk without a server.
	s.Close()
	require.NoError(t, os.Remove(filepath.Join(w.root, "a")))
	w.start(w.config("sources: ["+s.URL+"/site.tar.gz]"), nil)
	w.eventually(func() bool { return w.content("a") == "three" }, "the last good site is run without a server")
}

// Only a critical health check triggers a run of the site.
func TestAgentHealthChecks(t *testing.T) {
	w := newAgentWorld(t)
	check := filepath.Join(w.dir, "check")
	state := func(status int) {
		require.NoError(t, os.WriteFile(check+".new", []byte(fmt.Sprintf("#!/bin/sh\necho $$ wait\nexit %d\n", status)), 0o755))
		require.NoError(t, os.Rename(check+".new", check))
	}
	state(0)
	script := filepath.Join(w.dir, "site.lua")
	require.NoError(t, os.WriteFile(script, []byte(fmt.Sprintf("file { %q, content = 'x', owner = '%d', group = '%d', mode = '0644', health_checks = {{ command = %q, name = 'check' }} }", w.root+"/a", os.Getuid(), os.Getgid(), check)), 0o644))
	c := w.config("sources: [" + script + "]")
	c.HealthInterval = 50 * time.Millisecond
	seen := &runCounter{}
	w.start(c, func(o *agent.Options) { o.Observers = []agent.Observer{seen} })
	w.eventually(func() bool { return seen.of(agent.Check) >= 3 }, "checks are asked")
	require.Equal(t, 1, seen.of(agent.Apply))
	for _, harmless := range []int{1, 3, 127} {
		state(harmless)
		now := seen.of(agent.Check)
		w.eventually(func() bool { return seen.of(agent.Check) >= now+2 }, "checks are asked")
		require.Equal(t, 1, seen.of(agent.Apply), "exit status %d", harmless)
	}
	require.NoError(t, os.Remove(filepath.Join(w.root, "a")))
	state(2)
	w.eventually(func() bool { return seen.of(agent.Apply) >= 2 && w.content("a") == "x" }, "the site is run")
	require.Contains(t, w.log.String(), "a health check is critical")
	require.Contains(t, strings.Join(seen.checked, "\n"), `"health_checks":[{"name":"check","status":"critical","output":`)

	// A continuing failure is reported once, by checks and runs, and again after it was gone.
	failed := func() int {
		return len(regexp.MustCompile(`level=ERROR .*/a: failed: health check check is critical`).FindAllString(w.log.String(), -1))
	}
	now := seen.of(agent.Apply)
	w.eventually(func() bool { return seen.of(agent.Apply) >= now+3 }, "the site is run again and again")
	require.Equal(t, 1, failed(), w.log.String())
	require.Equal(t, 1, strings.Count(w.log.String(), "level=ERROR msg=\""+script+": run: 1 resource: 1 failed, health checks: 1 critical"), w.log.String())
	require.Equal(t, 1, strings.Count(w.log.String(), "level=ERROR msg=\""+script+": health check: 1 resource: 1 failed, health checks: 1 critical"), w.log.String())
	status := func() *agent.Status {
		s, err := agent.ReadStatus(c.CacheDir)
		require.NoError(t, err)
		return s
	}
	require.False(t, status().OK())
	state(0)
	// The run that failed because of it is repeated before the interval is over.
	w.eventually(func() bool { return status().OK() }, "it is well again")
	require.Contains(t, w.log.String(), "because health checks recovered")
	require.Contains(t, w.log.String(), "/a: recovered")
	now = seen.of(agent.Apply)
	checked := seen.of(agent.Check)
	w.eventually(func() bool { return seen.of(agent.Check) >= checked+3 }, "checks are asked")
	require.Equal(t, now, seen.of(agent.Apply), "once")
	state(2)
	w.eventually(func() bool { return failed() == 2 }, "it is told again")
}

// The agent lists what the machine has and none of its sources describes.
func TestAgentListsUnmanaged(t *testing.T) {
	w := newAgentWorld(t)
	root := snowflake(t, map[string]string{"etc/shop/b.conf": "b", "etc/shop/c.conf": "c"})
	sources := ""
	for _, name := range []string{"a", "b"} {
		script := filepath.Join(w.dir, name+".lua")
		text := fmt.Sprintf("file { '/etc/shop/%s.conf', content = '%s', owner = '%d', group = '%d', mode = '0644' } std.hostname 'web1'\n", name, name, os.Getuid(), os.Getgid())
		require.NoError(t, os.WriteFile(script, []byte(text), 0o644))
		sources += "  - " + script + "\n"
	}
	c := w.config("sources:\n" + sources + "unmanaged_interval: 1d\n")
	require.Equal(t, 24*time.Hour, c.UnmanagedInterval)
	c.Interval, c.UnmanagedInterval = 20*time.Millisecond, 50*time.Millisecond
	w.start(c, func(o *agent.Options) { o.Arguments = []string{"--root", root} })
	listed := func(want ...string) func() bool {
		return func() bool {
			s, err := agent.ReadStatus(c.CacheDir)
			return err == nil && s.Unmanaged != nil && s.Unmanaged.Error == "" && slices.Equal(s.Unmanaged.Items, want) && s.Unmanaged.Count == len(want) && s.OK()
		}
	}
	w.eventually(listed("file#/etc/shop/c.conf: no package owns it"), "the file is listed")
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/shop/d.conf"), nil, 0o644))
	w.eventually(listed("file#/etc/shop/c.conf: no package owns it", "file#/etc/shop/d.conf: no package owns it"), "both are listed")
	require.Equal(t, 1, strings.Count(w.log.String(), "no source describes file#/etc/shop/c.conf"), w.log.String())
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "b.lua"), []byte("nonsense"), 0o644))
	w.eventually(func() bool {
		s, err := agent.ReadStatus(c.CacheDir)
		return err == nil && s.Unmanaged != nil && strings.Contains(s.Unmanaged.Error, "b.lua:1") && !s.OK()
	}, "the mistake is in the status")
}

// A check with a warning is reported once, and so is the result of a plan.
func TestAgentTellsOnce(t *testing.T) {
	w := newAgentWorld(t)
	script := filepath.Join(w.dir, "site.lua")
	require.NoError(t, os.WriteFile(script, []byte("local worn = { { name = 'worn', command = \"sh -c 'echo $$; exit 1'\" } }\n"+
		strings.Replace(w.file("a", "x"), " }\n", ", health_checks = worn, register_when_stable = { { cluster = 'c', service = 's', protocol = 'p', address = '192.0.2.7' } } }\n", 1)+
		strings.Replace(w.file("b", "x"), " }\n", ", register_when_stable = { { cluster = 'c', service = 's', protocol = 'p', address = '192.0.2.7', port = 80 } } }\n", 1)), 0o644))
	t.Setenv("NATS_CONTEXT", "")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.dir, "none"))
	a, stop := w.start(w.config("registration: jetstream\nsources: ["+script+"]"), nil)
	run := func() *agent.Result {
		r, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply})
		require.NoError(t, err)
		return r[0]
	}
	run()
	require.True(t, run().OK(), "that nobody hears of a service fails nothing")
	told := func(text string) int { return strings.Count(w.log.String(), "level=WARN msg=\""+script+": "+text) }
	require.Equal(t, 1, told("= file#"+w.root+"/a: health check worn: warning"), w.log.String())
	require.Equal(t, 1, told("c/p/s at 192.0.2.7:80 of file#"+w.root+"/b is not registered: "), w.log.String())
	s, err := agent.ReadStatus(w.dir + "/agent")
	require.NoError(t, err)
	require.True(t, s.OK())
	require.Len(t, s.Sources[0].Unregistered, 1)
	// While the resource fails, its service is not registered again; that is not reported as a success.
	require.NoError(t, os.Remove(filepath.Join(w.root, "b")))
	require.NoError(t, os.Mkdir(filepath.Join(w.root, "b"), 0o755))
	require.False(t, run().OK())
	require.NoError(t, os.Remove(filepath.Join(w.root, "b")))
	require.True(t, run().OK())
	require.NotContains(t, w.log.String(), "registered again")
	require.Equal(t, 1, told("c/p/s at 192.0.2.7:80 of file#"+w.root+"/b is not registered: "), w.log.String())
	stop()
	a, _ = w.start(w.config("noop: true\nsources: ["+script+"]"), nil)
	require.NoError(t, os.Remove(filepath.Join(w.root, "b")))
	run()
	run()
	require.Equal(t, 1, strings.Count(w.log.String(), "level=INFO msg=\""+script+": ~ file#"+w.root+"/b: Would have created"), w.log.String())
}

// A new version by a withdrawn signer is not run; the installed site stays, and the log and the status say so.
func TestAgentSignerWithdrawn(t *testing.T) {
	w := newAgentWorld(t)
	key := func(name string) string {
		file := filepath.Join(w.dir, name)
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file).CombinedOutput()
		require.NoError(t, err, "%s", out)
		text, err := os.ReadFile(file + ".pub")
		require.NoError(t, err)
		return name + " " + string(text)
	}
	ann, bob, allowed := key("ann"), key("bob"), filepath.Join(w.dir, "allowed")
	site := filepath.Join(w.dir, "srv", "site")
	require.NoError(t, os.MkdirAll(site, 0o755))
	put := func(text, signer string) {
		require.NoError(t, os.WriteFile(filepath.Join(site, "site.lua"), []byte(w.file("a", text)), 0o644))
		cmd := exec.Command("ccm", "bundle", "--sign", filepath.Join(w.dir, signer), "site")
		cmd.Dir = filepath.Dir(site)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(site))))
	t.Cleanup(s.Close)
	require.NoError(t, os.WriteFile(allowed, []byte(ann+bob), 0o644))
	put("of bob", "bob")
	c := w.config("sources: [{url: " + s.URL + "/site.tar.gz, signers: " + allowed + "}]")
	a, _ := w.start(c, nil)
	w.eventually(func() bool { return w.content("a") == "of bob" }, "it is run")
	require.NoError(t, os.WriteFile(allowed, []byte(ann), 0o644))
	w.eventually(func() bool { return strings.Contains(w.log.String(), "the bundle is not trusted: signing key ") }, "the log names the key")
	require.Regexp(t, `level=ERROR msg=".*/site.tar.gz: the bundle is not trusted: .* is not allowed: not in .*; keeping version sha256:[0-9a-f]{12}, signed by bob `, w.log.String())
	require.NoError(t, os.Remove(filepath.Join(w.root, "a")))
	_, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply})
	require.NoError(t, err)
	require.Equal(t, "of bob", w.content("a"))
	status, err := agent.ReadStatus(c.CacheDir)
	require.NoError(t, err)
	require.False(t, status.OK())
	require.Contains(t, status.Sources[0].Error, "the bundle is not trusted: ")
	put("of ann", "ann")
	w.eventually(func() bool { return w.content("a") == "of ann" }, "what is believed is run")
}

// A runCounter counts runs, and has the lines of the last one.
type runCounter struct {
	mu    sync.Mutex
	modes map[agent.Mode]int
	lines []string
	// checked are the lines with results of health checks.
	checked []string
	last    *agent.Result
}

func (c *runCounter) RunBegins(*agent.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = nil
}
func (c *runCounter) RunLine(_ *agent.Run, line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, string(line))
	if strings.Contains(string(line), `"health_checks":[`) {
		c.checked = append(c.checked, string(line))
	}
}
func (c *runCounter) RunEnded(r *agent.Run, result *agent.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.modes == nil {
		c.modes = make(map[agent.Mode]int)
	}
	c.modes[r.Mode]++
	c.last = result
}
func (c *runCounter) of(m agent.Mode) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.modes[m]
}

// Requests have modes and targets, observers see them, and they can be ended.
func TestAgentRequests(t *testing.T) {
	w := newAgentWorld(t)
	script := filepath.Join(w.dir, "site.lua")
	require.NoError(t, os.WriteFile(script, []byte(w.file("a", "a")+w.file("b", "b")), 0o644))
	seen := &runCounter{}
	a, _ := w.start(w.config("noop: true\nsources: ["+script+"]"), func(o *agent.Options) { o.Observers = []agent.Observer{seen} })
	w.eventually(func() bool { return seen.of(agent.Plan) == 1 }, "noop in the configuration makes a plan of a run")
	require.Empty(t, w.content("a"))
	results, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply, Targets: []string{"file#" + w.root + "/b"}})
	require.NoError(t, err)
	require.Equal(t, agent.Plan, results[0].Mode, "noop in the configuration cannot be overridden")
	require.Equal(t, map[string]int{"total": 1, "pending": 1}, results[0].Counts)
	require.Len(t, seen.lines, 2, "an event and a summary")
	_, err = a.Do(t.Context(), agent.Request{Mode: agent.Apply, Source: "none"})
	require.EqualError(t, err, `no such source "none"`)
}

// Cancel and the end of the context work like Ctrl-C: the present resource is finished.
func TestAgentCancel(t *testing.T) {
	long(t)
	w := newAgentWorld(t)
	script, began := filepath.Join(w.dir, "site.lua"), filepath.Join(w.dir, "began")
	require.NoError(t, os.WriteFile(script, []byte(fmt.Sprintf("exec { 'slow', command = \"sh -c 'touch %s; sleep 1; touch %s.end'\" }\n", began, began)+w.file("c", "c")), 0o644))
	a, stop := w.start(w.config("sources: ["+script+"]"), nil)
	ended := func(name string) {
		w.eventually(func() bool { _, err := os.Stat(began + ".end"); return err == nil }, "the command is finished")
		w.eventually(func() bool { return !a.Cancel() }, "the run ends")
		require.Empty(t, w.content("c"), name)
		require.NoError(t, os.Remove(began))
		require.NoError(t, os.Remove(began+".end"))
	}
	appears(t, began)
	require.True(t, a.Cancel())
	ended("the first run")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []*agent.Result, 1)
	go func() {
		r, _ := a.Do(ctx, agent.Request{Mode: agent.Apply})
		done <- r
	}()
	appears(t, began)
	cancel()
	r := <-done
	require.Len(t, r, 1)
	require.True(t, r[0].Interrupted)
	require.Equal(t, 130, r[0].Exit)
	ended("a request whose context ends")
	go func() { _, _ = a.Do(t.Context(), agent.Request{Mode: agent.Apply}) }()
	appears(t, began)
	stop()
	ended("an agent that is stopped")
	_, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply})
	require.EqualError(t, err, "the agent stops")
}

// External data that cannot be fetched is tried ten times; then the last good data is used and reported as stale.
func TestAgentData(t *testing.T) {
	w, s := newAgentWorld(t), newSiteServer(t)
	s.data = "data: {text: first}\n"
	script := filepath.Join(w.dir, "site.lua")
	require.NoError(t, os.WriteFile(script, []byte(strings.Replace(w.file("a", "?"), `"?"`, "data.text", 1)), 0o644))
	a, _ := w.start(w.config("external_data_url: "+s.URL+"/data.yaml\nsources: ["+script+"]"), nil)
	w.eventually(func() bool { return w.content("a") == "first" }, "the data is taken")
	run := func() *agent.Result {
		r, err := a.Do(t.Context(), agent.Request{Mode: agent.Apply})
		require.NoError(t, err)
		return r[0]
	}
	s.set(func() { s.data = "data: {text: second}\n" })
	require.Nil(t, run().DataStale)
	require.Equal(t, "second", w.content("a"))
	s.set(func() { s.down, s.asked = true, 0 })
	r := run()
	require.NotNil(t, r.DataStale)
	require.True(t, r.OK())
	require.Equal(t, 10, s.asked)
	run()
	require.Equal(t, 11, s.asked, "and then once a run")
	status, err := agent.ReadStatus(w.dir + "/agent")
	require.NoError(t, err)
	require.NotNil(t, status.Data.Stale)
	require.Contains(t, status.Data.Error, "503")
	s.set(func() { s.down, s.data = false, "data: {text: third}\n" })
	require.Nil(t, run().DataStale)
	require.Equal(t, "third", w.content("a"))
}

// The memory, descriptors and goroutines of an agent do not grow.
func TestAgentStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the agent a hundred times: make test-all")
	}
	w, s := newAgentWorld(t), newSiteServer(t)
	s.put(t, w.file("a", "0"))
	c := w.config("sources: [" + s.URL + "/site.tar.gz]")
	seen := &runCounter{}
	a, _ := w.start(c, func(o *agent.Options) {
		o.Observers = []agent.Observer{seen}
		o.Timing.Poll = 2 * time.Millisecond
	})
	w.eventually(func() bool { return seen.of(agent.Apply) == 1 }, "it begins")
	measure := func() (heap uint64, descriptors, goroutines int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return m.HeapAlloc, len(list), runtime.NumGoroutine()
	}
	var heap uint64
	var descriptors, goroutines int
	for i := range 100 {
		if i%10 == 9 {
			s.put(t, w.file("a", strconv.Itoa(i)))
			w.eventually(func() bool { return w.content("a") == strconv.Itoa(i) }, "a change is run")
		}
		_, err := a.Do(t.Context(), agent.Request{Mode: []agent.Mode{agent.Apply, agent.Check, agent.Plan}[i%3]})
		require.NoError(t, err)
		if i == 20 {
			heap, descriptors, goroutines = measure()
		}
	}
	w.eventually(func() bool {
		asked := 0
		s.set(func() { asked = s.asked })
		return asked > 500
	}, "the server is asked often") // on a busy machine this takes longer than the runs
	h, d, g := measure()
	t.Logf("heap %d -> %d, descriptors %d -> %d, goroutines %d -> %d, polls %d", heap, h, descriptors, d, goroutines, g, s.asked)
	require.Less(t, int64(h)-int64(heap), int64(1<<20))
	require.LessOrEqual(t, d, descriptors+3, "connections that are under way")
	require.LessOrEqual(t, g, goroutines+5)
}

// freePort returns a port that is not in use.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// An agentProcess is a process of ccm agent.
type agentProcess struct {
	cmd    *exec.Cmd
	output *lockedBuffer
	lines  chan string
}

func startAgent(t *testing.T, config string) *agentProcess {
	p := &agentProcess{cmd: exec.Command("realccm", "agent", "--config", config), output: new(lockedBuffer), lines: make(chan string, 1000)}
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		for scan := bufio.NewScanner(stderr); scan.Scan(); {
			_, _ = io.WriteString(p.output, scan.Text()+"\n")
			p.lines <- scan.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// tells waits for a log line.
func (p *agentProcess) tells(t *testing.T, what string) {
	t.Helper()
	timeout := time.After(longEnough)
	for {
		select {
		case line, ok := <-p.lines:
			require.True(t, ok, "expected %q in\n%s", what, p.output)
			if regexp.MustCompile(what).MatchString(line) {
				return
			}
		case <-timeout:
			require.Fail(t, what, p.output.String())
		}
	}
}

// ccm agent serves metrics, shows its status, reloads, runs only once, and ends in order.
func TestAgentCommand(t *testing.T) {
	w := newAgentWorld(t)
	port := freePort(t)
	config, script, began := filepath.Join(w.dir, "agent.yaml"), filepath.Join(w.dir, "site.lua"), filepath.Join(w.dir, "began")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	text := fmt.Sprintf("cache_dir: %s/agent\nmonitor_port: %d\nmonitor_address: 127.0.0.1\nsources: [%s]\n", w.dir, port, script)
	write(config, text)
	write(script, w.file("a", "a"))
	ccm := func(args ...string) (string, int) {
		cmd := exec.Command("realccm", append([]string{"agent"}, args...)...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := ccm("status", "--config", config)
	require.Equal(t, 1, code)
	require.Contains(t, out, "no agent is running, and no agent has ever run with "+config+" (systemctl enable --now ccm-agent)")

	p := startAgent(t, config)
	p.tells(t, `INF .*site\.lua: ~ file#.*/a: Created the file|INF .*run: 1 resource: 1 changed`)
	p.tells(t, `INF .*run: 1 resource: 1 changed`)
	out, code = ccm("status", "--config", config)
	require.Zero(t, code, out)
	require.Contains(t, out, "with "+config+", since ")
	require.Contains(t, out, "\nnext run ")
	require.Contains(t, out, "\n"+script+"\n  run ")
	require.Contains(t, out, "1 resource: 1 changed")
	out, code = ccm("--config", config)
	require.Equal(t, 1, code)
	require.Contains(t, out, fmt.Sprintf("another agent is using the cache directory %s/agent: pid %d", w.dir, p.cmd.Process.Pid))
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", port))
	require.NoError(t, err)
	metrics, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	require.NoError(t, err)
	require.Contains(t, string(metrics), fmt.Sprintf("choria_ccm_resource_state_changed_count{type=\"file\",name=\"%s/a\"} 1\n", w.root))
	require.Contains(t, string(metrics), fmt.Sprintf("choria_ccm_agent_apply_duration_seconds_count{manifest=%q} 1\n", script))

	// A configuration with a mistake is not applied.
	write(config, text+"intervall: 5m\n")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.tells(t, `ERR keeping the old configuration: .*agent.yaml:5:1: unknown key "intervall" \(did you mean "interval"\?\)`)
	out, code = ccm("status", "--config", config)
	require.Equal(t, 1, code, "the configuration cannot be read")
	require.Contains(t, out, "unknown key")
	write(config, text)
	write(script, fmt.Sprintf("exec { 'slow', command = \"sh -c 'touch %s; sleep 1; touch %s.end'\" }\n", began, began)+w.file("b", "b"))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.tells(t, "configuration reloaded: 1 source")

	// The present command is finished, and the next resource is not converged.
	appears(t, began)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.tells(t, "run: .*interrupted")
	p.tells(t, "agent stopped")
	require.NoError(t, p.cmd.Wait())
	require.FileExists(t, began+".end")
	require.Empty(t, w.content("b"))
	out, code = ccm("status", "--config", config)
	require.Equal(t, 1, code)
	require.Contains(t, out, "No agent is running. Last one: ccm ")

	// A second signal ends the run at once.
	require.NoError(t, os.Remove(began))
	write(script, fmt.Sprintf("exec { 'slow', command = \"sh -c 'touch %s; sleep 600'\" }\n", began))
	p = startAgent(t, config)
	appears(t, began)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.tells(t, "stopping after the current resource") // two signals in quick succession arrive as one
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	_ = p.cmd.Wait()
	require.Equal(t, cli.ExitInterrupted, p.cmd.ProcessState.ExitCode())
	require.Eventually(t, func() bool {
		return exec.Command("pgrep", "-f", "touch "+began+"; sleep 600").Run() != nil
	}, 10*time.Second, 50*time.Millisecond, "the run and its command have ended")
}

// If an agent is killed during a run, the run goes on, and the next agent waits for it.
func TestAgentKilledInRun(t *testing.T) {
	long(t)
	tries := tally.Of(t, "kills of the agent in the middle of a run", "the run ends by itself, the next agent waits for it and runs again")
	w := newAgentWorld(t)
	config, script, began := filepath.Join(w.dir, "agent.yaml"), filepath.Join(w.dir, "site.lua"), filepath.Join(w.dir, "began")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("cache_dir: %s/agent\nsources: [%s]\n", w.dir, script)), 0o644))
	require.NoError(t, os.WriteFile(script, []byte(fmt.Sprintf("exec { 'slow', command = \"sh -c 'echo x >> %s; sleep 1'\", creates = %q }\n", began, w.root+"/b")+w.file("b", "b")), 0o644))
	for range 3 {
		_ = os.Remove(began)
		_ = os.Remove(filepath.Join(w.root, "b"))
		p := startAgent(t, config)
		appears(t, began)
		require.NoError(t, p.cmd.Process.Kill())
		_ = p.cmd.Wait()
		tries.Add(1)
		p = startAgent(t, config)
		p.tells(t, "run: 2 resources: 2 up to date")
		require.Equal(t, "b", w.content("b"))
		text, err := os.ReadFile(began)
		require.NoError(t, err)
		require.Equal(t, "x\n", string(text), "the command ran once")
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, p.cmd.Wait())
	}
}
