package testsystem

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// labImage returns the image that test/lab/lab build has cached, as the name of a target. Without it a test is skipped.
func labImage(t *testing.T) Target {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a system: make test-all")
	}
	if err := (nspawn{}).Check(); err != nil {
		t.Skip(err)
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	lab := cmp.Or(os.Getenv("LAB_DIR"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "ccm-lab"))
	var layers []string
	for _, kind := range []string{"layer-*", "archive-*", "base-*"} {
		found, _ := filepath.Glob(filepath.Join(lab, kind))
		if len(found) == 0 {
			t.Skip("no image: test/lab/lab build")
		}
		layers = append(layers, found[0])
	}
	if out, err := exec.Command("../../test/lab/lab", "check").CombinedOutput(); err != nil {
		t.Skip(string(out))
	}
	target, err := ParseTarget("image:" + strings.Join(layers, ":"))
	require.NoError(t, err)
	return target
}

func TestNspawn(t *testing.T) {
	target := labImage(t)
	contract(t, nspawn{}, target)
	clean(t, nspawn{}, target)
}

// TestNspawnNetwork: a system has loopback alone, and reaches the network of this machine through the proxy.
func TestNspawnNetwork(t *testing.T) {
	target := labImage(t)
	p := NewPool(t.TempDir(), []Driver{nspawn{}})
	s, r, err := p.Start(t.Context(), target, nspawn{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.End(t.Context(), s, r, false)) }()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "served "+r.URL.Path+" to "+r.Host+"\n")
	}))
	defer there.Close()
	address := strings.TrimPrefix(there.URL, "http://")
	const client = `import os, socket, sys
def ask(connect, text):
    s = socket.create_connection(("127.0.0.1", 3128)); f = s.makefile("rwb")
    f.write(text.encode()); f.flush()
    return f
kind, address = sys.argv[1:]
if kind == "get":
    f = ask(0, "GET http://%s/pkg HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (address, address))
else:
    f = ask(0, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (address, address))
    while f.readline().strip(): pass
    f.write(("GET /tunnel HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % address).encode()); f.flush()
sys.stdout.write(f.read().decode())`
	for kind, want := range map[string]string{"get": "served /pkg to " + address, "connect": "served /tunnel to " + address} {
		out, err := Output(t.Context(), s, "python3", "-c", client, kind, address)
		require.NoError(t, err)
		require.Contains(t, out, want)
	}

	// The other direction: a test connects to what listens in the system.
	_, err = Output(t.Context(), s, "systemd-run", "--quiet", "--property=Type=notify", "--property=NotifyAccess=all",
		"sh", "-c", `mkdir /srv/www; echo content > /srv/www/page; cd /srv/www
exec python3 -c 'import http.server, os
s = http.server.HTTPServer(("127.0.0.1", 80), http.server.SimpleHTTPRequestHandler); os.system("systemd-notify --ready"); s.serve_forever()'`)
	require.NoError(t, err)
	inside := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return Dial(ctx, s, address)
	}}}
	answer, err := inside.Get("http://localhost/page")
	require.NoError(t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "content\n", string(page))
	_, err = Dial(t.Context(), s, "127.0.0.1:81")
	require.EqualError(t, err, "cannot connect to 127.0.0.1:81: exit status 1: bash: line 1: /dev/tcp/127.0.0.1/81: Connection refused")

	out, err := Output(t.Context(), s, "sh", "-c", `echo $http_proxy; ls /sys/class/net`)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:3128\nlo\n", out)
}

// TestNspawnAfterKill: when the process of a system is killed, the system ends, and the next process removes the rest.
func TestNspawnAfterKill(t *testing.T) {
	if dir := os.Getenv("CCM_TEST_POOL"); dir != "" {
		p := NewPool(dir, []Driver{nspawn{}})
		target, err := ParseTarget(os.Getenv("CCM_TEST_TARGET"))
		require.NoError(t, err)
		s, _, err := p.Start(t.Context(), target, nspawn{})
		require.NoError(t, err)
		_, err = Output(t.Context(), s, "systemd-run", "sleep", "infinity")
		require.NoError(t, err)
		_, _ = os.Stdout.WriteString("ready\n")
		select {}
	}
	target := labImage(t)
	p := NewPool(t.TempDir(), []Driver{nspawn{}})
	other := exec.Command("/proc/self/exe", "-test.run=^TestNspawnAfterKill$")
	other.Env = append(os.Environ(), "CCM_TEST_POOL="+p.Dir, "CCM_TEST_TARGET="+target.Name)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	require.Equal(t, "ready\n", line)
	removed, err := p.Reclaim()
	require.NoError(t, err)
	require.Empty(t, removed, "the process lives")
	list, err := p.records()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	removed, err = p.Reclaim()
	require.NoError(t, err)
	require.Equal(t, []string{list[0].Name}, removed)
	require.Zero(t, livingPID(list[0].Data["holder"]))
	left, err := os.ReadDir(filepath.Join(p.Dir, "run"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestBootProblem: the reason is reported, not what systemd prints last.
func TestBootProblem(t *testing.T) {
	for console, want := range map[string]string{
		"": "", "Welcome to Debian!\r\n\r\n[  OK  ] Started x.\r\n": ": [  OK  ] Started x.",
		"Failed to create directory: Read-only file system\r\n[!!!!!!] Failed to start up manager.\r\nExiting PID 1...\r\n": ": Failed to create directory: Read-only file system",
		"Failed to find the machine ID.\nHostname set.\nFailed to allocate manager object: Too many open files\n[!!!!!!] x\nExiting PID 1...\n": ": " +
			"Failed to allocate manager object: Too many open files",
	} {
		require.Equal(t, want, bootProblem(console))
	}
	s := &nspawnSystem{record: &Record{Name: "x-1", pool: &Pool{Dir: t.TempDir()}}}
	require.NoError(t, os.MkdirAll(s.record.dir(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.record.dir(), "console.log"), []byte("Initializing.\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	require.EqualError(t, s.errNoBoot(ctx, errors.New("x")), "x: Initializing.")
	cancel()
	require.EqualError(t, s.errNoBoot(ctx, errors.New("interrupted")), "interrupted")
}
