package ssh_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/terminal"
)

func TestReadHosts(t *testing.T) {
	list, err := ssh.ReadHosts(strings.NewReader("# all\nweb1 role=front env='a b' # first\n\n  root@db#1 \nweb1\n"), "hosts")
	require.NoError(t, err)
	require.Equal(t, []ssh.Host{
		{Name: "web1", Facts: map[string]any{"role": "front", "env": "a b"}}, {Name: "root@db#1"},
	}, ssh.Distinct(list))
	for text, message := range map[string]string{
		"\n-oProxyCommand=x": `hosts:2: expected a host name, got "-oProxyCommand=x", which is an option`,
		"[web]\nweb1":        `hosts:1: expected a host name, got "[web]" (name an Ansible inventory with -i)`,
		"web1\nport=8080":    `hosts:2: expected a host name, got "port=8080" (name an Ansible inventory with -i)`,
		"all:\n  hosts:":     `hosts:1: expected a host name, got "all:" (name an Ansible inventory with -i)`,
		"web1 role":          `hosts:1: expected name=value after the host, got "role"`,
		"web1 a-b=c":         `hosts:1: expected name=value after the host, got "a-b=c"`,
		"'we b'":             `hosts:1: expected a host name, got "we b"`,
		"'web1":              "hosts:1: Unterminated single-quoted string",
	} {
		_, err := ssh.ReadHosts(strings.NewReader(text), "hosts")
		require.EqualError(t, err, message, text)
	}
	_, err = ssh.ReadHosts(strings.NewReader(strings.Repeat("x", 100_000)), "hosts")
	require.ErrorContains(t, err, "too long")
}

func FuzzReadHosts(f *testing.F) {
	f.Add("web1 a=b # c\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ssh.ReadHosts(strings.NewReader(text), "f")
		for _, h := range list {
			if err == nil && ssh.CheckName(h.Name) != nil {
				t.Errorf("%q is given to ssh", h.Name)
			}
		}
	})
}

// Words that go to a shell on the hosts, or name a directory there, are checked.
func TestWords(t *testing.T) {
	for _, bad := range []string{"su;reboot", "$(x)", "a b", "'", "`x`", "!", "a\nb", `\`, ""} {
		require.Error(t, ssh.CheckBecome([]string{bad}), bad)
		require.Error(t, ssh.CheckRemoteDir("/opt/"+bad+"'"), bad)
		require.Error(t, ssh.CheckSiteName(bad), bad)
	}
	require.NoError(t, ssh.CheckBecome([]string{"doas", "-u", "root"}))
	require.NoError(t, ssh.CheckBecome(ssh.SudoWithPassword()))
	require.Error(t, ssh.CheckRemoteDir("relative"))
	require.Error(t, ssh.CheckSiteName("../x"))
	require.Error(t, ssh.CheckSiteName("a/b"))
	require.NoError(t, ssh.CheckSiteName("web.lua_0a"))
}

func TestMany(t *testing.T) {
	var hosts []ssh.Host
	for name := range strings.SplitSeq("abcdefghij", "") {
		hosts = append(hosts, ssh.Host{Name: name})
	}
	stop := make(chan struct{})
	try := func(m ssh.Schedule, bad string) (begun string, left []ssh.Host) {
		var mu sync.Mutex
		m.Stop = stop
		left = m.Run(hosts, ssh.Failed, func(h ssh.Host) ssh.Result {
			mu.Lock()
			defer mu.Unlock()
			begun += h.Name
			if strings.Contains(bad, h.Name) {
				return ssh.Result{Host: h, Err: errors.New("bad")}
			}
			return ssh.Result{Host: h}
		}, func(ssh.Result) {})
		return begun, left
	}
	begun, left := try(ssh.Schedule{Parallel: 1, MaxFailed: -1}, "abc")
	require.Equal(t, "abcdefghij", begun)
	require.Empty(t, left)
	begun, left = try(ssh.Schedule{Parallel: 1, MaxFailed: 1}, "acf")
	require.Equal(t, "abc", begun)
	require.Len(t, left, 7)
	begun, left = try(ssh.Schedule{Parallel: 4, Serial: 4, MaxFailed: 0}, "b")
	require.Len(t, begun+strings.Repeat(".", len(left)), 10)
	require.NotContains(t, begun, "e", "the next batch is not begun")
	close(stop)
	begun, left = try(ssh.Schedule{Parallel: 2, MaxFailed: -1}, "")
	require.Empty(t, begun)
	require.Len(t, left, 10)
}

// Equal outputs are printed once with all their hosts, failures come last, and control characters are escaped.
func TestTextReport(t *testing.T) {
	var hosts []ssh.Host
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		hosts = append(hosts, ssh.Host{Name: name})
	}
	var out bytes.Buffer
	r := ssh.NewTextReport(terminal.NewWriter(&out), terminal.NewWriter(io.Discard), hosts)
	for i, h := range hosts[:2] {
		r.Line(h, ssh.Line{Text: "~ file#/x: Updated the file"})
		r.Line(h, ssh.Line{Text: "1 resource: 1 changed (" + []string{"3ms", "1.2s"}[i] + ")"})
	}
	r.Line(hosts[2], ssh.Line{Text: "x file#/x: failed: \x1b[2Jno"})
	r.Line(hosts[2], ssh.Line{Text: "1 resource: 1 failed (3ms)"})
	r.Ended(ssh.Result{Host: hosts[2], Exit: 4, Duration: time.Second})
	r.Ended(ssh.Result{Host: hosts[1], Exit: 2})
	r.Ended(ssh.Result{Host: hosts[0], Exit: 2})
	for _, h := range []ssh.Host{hosts[5], hosts[3]} {
		r.Ended(ssh.Result{Host: h, Unreachable: true, Err: errors.New("ssh: refused")})
	}
	r.Ended(ssh.Result{Host: hosts[4], Err: errors.New("no room")})
	r.End([]ssh.Host{{Name: "g"}, {Name: "h"}})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, `c  1 resource: 1 failed  1.0s
b  1 resource: 1 changed  0.0s
a  1 resource: 1 changed  0.0s
f  unreachable: ssh: refused  0.0s
d  unreachable: ssh: refused  0.0s
e  failed: no room  0.0s

2 hosts: a, b:
  ~ file#/x: Updated the file
  1 resource: 1 changed (1.2s)

c:
  x file#/x: failed: \x1b[2Jno
  1 resource: 1 failed (3ms)

2 hosts: d, f  unreachable: ssh: refused
e  failed: no room
2 hosts: g, h  not started
2 of 6 hosts ok (2 with changes or drift), 2 failed, 2 unreachable, 2 not started
`, out.String())
}

// The line of a host is the summary in its output, even if more lines follow.
func TestTextReportLines(t *testing.T) {
	hosts := []ssh.Host{{Name: "a"}, {Name: "b"}}
	lines := func(digest func([]string) string, text ...string) string {
		var out bytes.Buffer
		r := ssh.NewTextReport(terminal.NewWriter(&out), terminal.NewWriter(io.Discard), hosts)
		r.Digest = digest
		for _, line := range text {
			r.Line(hosts[0], ssh.Line{Text: line})
		}
		r.Ended(ssh.Result{Host: hosts[0]})
		require.NoError(t, r.Out.Flush())
		return out.String()
	}
	require.Equal(t, "a  1 resource: 1 changed  0.0s\n", lines(nil, "~ x: y", "1 resource: 1 changed (3ms)", "2 resources from earlier runs are no longer declared"))
	require.Equal(t, "a  first  0.0s\n", lines(func(l []string) string { return l[0] }, "first", "last"))
	require.Equal(t, "a  alone  0.0s\n", lines(func(l []string) string { return l[1] }, "alone"))
	require.Equal(t, "a  ok, no output  0.0s\n", lines(nil))
}

// Machines may share the directory of sites, such as a home directory on a file server: each has its own facts.
func TestFactsOfMachine(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$2 $3\"; cat \"$3\"\n"), 0o700))
	site := "the site"
	req := fmt.Sprintf(`{"protocol":"io.choria.ccm.v1.ssh.request","args":["run",""],"bundle":{"site":"s","sha256":"%s","size":%d,"arg":1},"facts":{"role":"db"}}`, sha256sum.Text(site), len(site))
	var out bytes.Buffer
	open, end := io.Pipe() // the connection stays open
	defer end.Close()
	s := &ssh.Server{Executable: program, Version: "v", Cache: dir, In: io.MultiReader(strings.NewReader(req+"\n"+site), open), Out: &out}
	require.NoError(t, s.Serve(t.Context()))
	machine, err := os.Hostname()
	require.NoError(t, err)
	file := filepath.Join(dir, "sites/s/facts-"+sha256sum.Text(machine)[:12]+".json")
	require.Contains(t, out.String(), `{"out":"--facts `+file+`"}`)
	require.Contains(t, out.String(), `role`)
	require.FileExists(t, file)
}

// FuzzServe: no input but a valid request runs anything, and each line of the answer is JSON.
func FuzzServe(f *testing.F) {
	f.Add("password\n{\"protocol\":\"io.choria.ccm.v1.ssh.request\",\"args\":[\"x\"],\"bundle\":{\"site\":\"../x\",\"size\":1,\"arg\":0}}\n")
	f.Add("{\"protocol\":\"io.choria.ccm.v1.ssh.request\",\"args\":[]}\n")
	f.Add("\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		s := &ssh.Server{Executable: "/nonexistent/ccm", Version: "v", Cache: t.TempDir(), In: strings.NewReader(text), Out: &out}
		if err := s.Serve(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) < 2 || !strings.Contains(lines[len(lines)-1], `"refused"`) {
			t.Errorf("expected a refusal, got %q", out.String())
		}
	})
}
