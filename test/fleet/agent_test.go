package fleet_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// output collects the output of a running process.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// agent starts ccm agent with a configuration of Choria CCM.
func (w *world) agent(config string) (cmd *exec.Cmd, said *output) {
	w.write("agent.yaml", config)
	cmd, said = exec.Command(binary, "--allow-insecure", "agent", "--config", filepath.Join(w.dir, "agent.yaml")), new(output)
	cmd.Dir, cmd.Env, cmd.Stderr = w.dir, w.env, said
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() { // in order, because a run that goes on would write while the directories are removed
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Wait()
	})
	return cmd, said
}

// becomes waits until a file has a content.
func becomes(t *testing.T, path, want string, said *output) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		if string(text) == want {
			return
		}
		require.True(t, time.Now().Before(end), "expected %q in %s, got %q\n%s", want, path, text, said)
	}
}

// TestAgent: a configuration of Choria CCM with a bundle in an object store and data in a bucket. A new object is
// run, without a server the last site is run, and the server is used again when it is back.
func TestAgent(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	js := w.fill()
	objects, err := js.ObjectStore(t.Context(), "SITES")
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), "CONF")
	require.NoError(t, err)
	target := filepath.Join(store, "made")
	put := func(word string) {
		dir := "site-" + word
		w.write(dir+"/manifest.yaml", fmt.Sprintf("data: {text: own}\nccm:\n  resources:\n    - file:\n        - %s: {content: \"%s ${ Data.text }\\n\", owner: root, group: root, mode: \"0644\", register_when_stable: [{cluster: test, service: web, protocol: http, address: 192.0.2.7, port: 80}]}\n", target, word))
		_, stderr, status := w.ccm("bundle", dir)
		require.Zero(t, status, stderr)
		text, err := os.ReadFile(filepath.Join(w.dir, dir+".tar.gz"))
		require.NoError(t, err)
		_, err = objects.PutBytes(t.Context(), "app.tar.gz", text)
		require.NoError(t, err)
	}
	_, stderr, status := w.ccm("registration", "init", "--replicas", "1")
	require.Zero(t, status, stderr)
	put("one")
	config := "interval: 5m\nmanifests: [obj://SITES/app.tar.gz]\nexternal_data_url: kv://CONF/data\nnats_context: CCM\nregistration: jetstream\ncache_dir: " + store + "/cache\n"
	cmd, said := w.agent(config)
	becomes(t, target, "one from kv data\n", said)
	found := ""
	require.Eventually(t, func() bool {
		found, _, _ = w.ccm("registration", "query", "test", "http", "web", "*")
		return strings.Contains(found, "192.0.2.7")
	}, 2*time.Minute, 100*time.Millisecond, "the service is registered")
	put("two")
	_, err = kv.PutString(t.Context(), "data", "data: {text: newer}\n")
	require.NoError(t, err)
	becomes(t, target, "two newer\n", said)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())

	// Without a server: the last site and data.
	w.server.Shutdown()
	require.NoError(t, os.Remove(target))
	cmd, said = w.agent(strings.Replace(config, "external_data_url: kv://CONF/data\n", "", 1))
	becomes(t, target, "two own\n", said)
	require.Contains(t, said.String(), `ERR obj://SITES/app.tar.gz: NATS context "CCM": no server answered; keeping version sha256:`)
	out, _, code := w.ccm("agent", "status", "--config", "agent.yaml")
	require.Equal(t, 4, code)
	require.Contains(t, out, "no server answered (since ")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())

	// A server at another address, with another object.
	v := newWorld(t, nil)
	w.context("CCM", map[string]any{"url": v.server.ClientURL()})
	js = v.fill()
	if objects, err = js.ObjectStore(t.Context(), "SITES"); err != nil {
		t.Fatal(err)
	}
	put("three")
	_, said = w.agent(config)
	becomes(t, target, "three from kv data\n", said)
}
