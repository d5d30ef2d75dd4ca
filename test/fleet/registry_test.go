package fleet_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// registered is a site with a service.
const registered = `
data: {port: 8080}
ccm:
  resources:
    - file:
        - DIR/web.conf:
            content: "x\n"
            owner: root
            group: root
            mode: "0644"
            health_checks: [{ command: "sh check.sh" }]
            register_when_stable:
              - { cluster: production, service: web, protocol: http, address: "10.0.0.${ 2 + 3 }", port: "${ Data.port }", priority: 10, ttl: 10m, annotations: { version: 1.2.3 } }
              - { cluster: production, service: metrics, protocol: http, address: db1.example.net }
`

// registryWorld returns a world with the registry's stream, and a connection to it.
func registryWorld(t *testing.T, init ...string) (*world, jetstream.JetStream) {
	t.Helper()
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	out, stderr, status := w.ccm(append([]string{"registration", "init"}, init...)...)
	require.Zero(t, status, stderr)
	require.Contains(t, out, "+ stream REGISTRATION: created: choria.ccm.registration.v1.>, kept 15m0s, replicas 1")
	conn, err := nats.Connect(w.server.ClientURL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	w.write("site.yaml", strings.NewReplacer("check.sh", filepath.Join(w.dir, "check.sh"), "DIR", w.dir).Replace(registered))
	w.write("check.sh", "exit 0\n")
	return w, js
}

// run converges a site of the world, whose files are in its directory.
func (w *world) run(args ...string) (string, string, int) {
	w.t.Helper()
	return w.ccm(append([]string{"run", "--allow-insecure"}, args...)...)
}

// TestRegisteredBytes: messages equal those of Choria CCM, except for the header Nats-Rollup.
func TestRegisteredBytes(t *testing.T) {
	w, js := registryWorld(t)
	sub, err := js.Conn().SubscribeSync("choria.ccm.registration.v1.>")
	require.NoError(t, err)
	require.NoError(t, js.Conn().Flush())
	_, stderr, status := w.run("site.yaml", "--register", "jetstream")
	require.Zero(t, status, stderr)
	msg, err := sub.NextMsg(time.Minute)
	require.NoError(t, err)
	require.Equal(t, "choria.ccm.registration.v1.production.http.web.10_0_0_5.d097567f5aa3133c", msg.Subject)
	require.Equal(t, `{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":8080,"priority":10,"annotations":{"version":"1.2.3"},"ttl":"10m0s"}`, string(msg.Data))
	require.Equal(t, nats.Header{"Nats-Ttl": {"10m0s"}, "Nats-Expected-Stream": {"REGISTRATION"}}, canonical(msg.Header))
	msg, err = sub.NextMsg(time.Minute)
	require.NoError(t, err)
	require.Regexp(t, `^choria\.ccm\.registration\.v1\.production\.http\.metrics\.db1_example_net\.[0-9a-f]{16}$`, msg.Subject)
	require.Equal(t, `{"cluster":"production","service":"metrics","protocol":"http","address":"db1.example.net","port":null,"priority":100}`, string(msg.Data))
	require.Equal(t, nats.Header{"Nats-Expected-Stream": {"REGISTRATION"}}, canonical(msg.Header))

	_, stderr, status = w.run("site.yaml", "--register", "nats")
	require.Zero(t, status, stderr)
	msg, err = sub.NextMsg(time.Minute)
	require.NoError(t, err)
	require.Empty(t, msg.Header)
}

// canonical returns a header with canonical names, without the fields of the library.
func canonical(h nats.Header) nats.Header {
	out := nats.Header{}
	for name, val := range h {
		if name != "Nats-Msg-Id" {
			name = strings.ReplaceAll(name, "TTL", "Ttl")
			out[name] = val
		}
	}
	return out
}

// summaryOf returns the registrations in the summary of a run.
func summaryOf(t *testing.T, out string) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var sum struct {
		Protocol      string         `json:"protocol"`
		Registrations map[string]any `json:"registrations"`
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &sum))
	require.Equal(t, "io.choria.ccm.v1.session.summary", sum.Protocol)
	return sum.Registrations
}

// TestWhenRegistered: a service is registered when it is stable and healthy; not in a plan, and not without
// configuration. A failed registration is reported, and fails nothing.
func TestWhenRegistered(t *testing.T) {
	t.Parallel()
	w, _ := registryWorld(t)
	w.context("nowhere", map[string]any{"url": "nats://127.0.0.1:1"})
	query := func() string {
		out, stderr, status := w.ccm("registration", "query")
		require.Zero(t, status, stderr)
		return out
	}
	_, stderr, status := w.ccm("plan", "site.yaml")
	require.Zero(t, status, stderr)
	out, stderr, status := w.run("site.yaml")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "2 services are not registered: choose --register jetstream, nats or none\n")
	out, _, status = w.run("site.yaml", "--register", "none")
	require.Zero(t, status)
	require.NotContains(t, out, "registered")
	for _, exit := range []string{"1", "2", "3"} { // a warning is not healthy
		w.write("check.sh", "exit "+exit)
		out, _, _ = w.run("site.yaml", "--register", "jetstream", "--output", "json")
		require.Nil(t, summaryOf(t, out))
	}
	_, _, status = w.run("site.yaml", "-n", "--register", "jetstream")
	require.Zero(t, status)
	require.Equal(t, "No results found\n", query())

	w.write("check.sh", "exit 0")
	for what, x := range map[string]struct {
		args []string
		want string
	}{
		"no server":      {[]string{"--context", "nowhere"}, `NATS context "nowhere": no server answered`},
		"no context":     {[]string{"--context", "none"}, `NATS context "none": file does not exist`},
		"another stream": {[]string{"-R", "OTHER"}, "the subject belongs to another stream than OTHER"},
	} {
		out, stderr, status = w.run(append([]string{"site.yaml", "--register", "jetstream"}, x.args...)...)
		require.Zero(t, status, stderr)
		require.Contains(t, out, "Nothing to do: 1 resource up to date")
		require.Contains(t, out, "warning: production/http/web at 10.0.0.5:8080 of file#"+w.dir+"/web.conf is not registered: "+x.want, what)
		out, _, _ = w.run(append([]string{"site.yaml", "--register", "jetstream", "--output", "json"}, x.args...)...)
		problems, _ := summaryOf(t, out)["problems"].([]any)
		require.Len(t, problems, 2)
		require.Contains(t, problems[0].(map[string]any)["error"], x.want)
	}
	out, stderr, status = w.run("site.yaml", "--monitor-only", "--register", "jetstream", "-v")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "2 services are registered\n")
	require.Contains(t, query(), "Service: web @ production\n\n       Cluster: production\n      Protocol: http\n       Service: web\n       Address: 10.0.0.5\n          Port: 8080\n      Priority: 10\n   Annotations:\n                version: 1.2.3\n\n")

	w.env = append(w.env, "CCM_REGISTER=jetstram")
	_, stderr, status = w.run("site.yaml")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `CCM_REGISTER: expected one of jetstream, nats, none (did you mean "jetstream"?)`)
	w.env = append(w.env, "CCM_REGISTER=jetstream")
	w.write("site.lua", `exec { "a", command = "true", register_when_stable = { { cluster = "c", service = "s", protocol = "p", address = "::1", annotations = { pw = secret.env "PW" } } } }`)
	w.env = append(w.env, "PW="+password)
	out, _, status = w.run("site.lua")
	require.Zero(t, status)
	require.Contains(t, out, "is not registered: it contains a secret, which would be visible in the registry")
	require.NotContains(t, query(), password)
}

// TestWithoutRegistry: a site without NATS does not connect.
func TestWithoutRegistry(t *testing.T) {
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	w.write("site.lua", `exec { "a", command = "true" }`)
	connections := func() uint64 {
		v, err := w.server.Varz(nil)
		require.NoError(t, err)
		return v.TotalConnections
	}
	before := connections()
	for _, args := range [][]string{{"run", "site.lua", "--register", "jetstream"}, {"plan", "site.lua"}, {"version"}} {
		_, stderr, status := w.ccm(args...)
		require.Zero(t, status, stderr)
	}
	require.Equal(t, before, connections())
}

// TestManyServices: more entries than one answer of a server has, read by each language.
func TestManyServices(t *testing.T) {
	t.Parallel()
	const many = 3000
	w, js := registryWorld(t)
	for i := range many {
		address := fmt.Sprintf("10.1.%d.%d", i/250, i%250+1)
		text := fmt.Sprintf(`{"cluster":"big","service":"node","protocol":"http","address":%q,"port":9100,"priority":1,"annotations":{"prometheus.io/scrape":"true"}}`, address)
		_, err := js.PublishAsync("choria.ccm.registration.v1.big.http.node."+strings.ReplaceAll(address, ".", "_")+".x", []byte(text))
		require.NoError(t, err)
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		t.Fatal("not stored")
	}
	// An invalid entry is left out and reported.
	_, err := js.Publish(t.Context(), "choria.ccm.registration.v1.big.http.node.10_9_9_9.x", []byte(`{"cluster":"big","service":"node","protocol":"http","address":"10.9.9.9\n}","port":1,"priority":1}`))
	require.NoError(t, err)
	out, stderr, status := w.ccm("registration", "query", "big", "--json")
	require.Zero(t, status, stderr)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, many)
	require.Contains(t, stderr, "10_9_9_9.x: address: expected an IP address or host name")

	w.write("x.jet", `[[ range _, e := registrations("big", "http", "node", "10.1.0.7") ]][[ e.Address ]]:[[ e.Port ]] [[ end ]][[ len(registrations("*", "*", "*", "*")) ]]`)
	w.write("sc/a", `{{ range registrations "big" "http" "node" "10.1.0.7" }}{{ .Address }}:{{ .Port }}{{ end }} {{ len (registrations "*" "*" "*" "*") }}`)
	w.write("scj/a", `[[ len(registrations("*", "*", "*", "*")) ]]`)
	w.write("site.lua", `
local list = registrations { cluster = "big" }
local jet = template.jet(fs.read "x.jet")
local go = template.go('{{ (index (registrations "big" "*" "*" "10.1.0.7") 0).Address }}')
local sd = template.expand("${ registrations('*', '*', '*', '10.1.0.7').PrometheusFileSD() }")
file.defaults { owner = "root", group = "root", mode = "0644" }
file { "/lua", content = #list .. " " .. list[7].address .. " " .. jet .. " " .. go .. " " .. json.decode(sd)[1].targets[1] .. "\n" }
scaffold { "/go", source = "sc", engine = "go", ensure = "present" }
scaffold { "/jet", source = "scj", engine = "jet", ensure = "present" }
`)
	root := t.TempDir()
	_, stderr, status = w.run("--root", root, "site.lua")
	require.Zero(t, status, stderr)
	for name, want := range map[string]string{
		"lua":   fmt.Sprintf("%d 10.1.0.104 10.1.0.7:9100 %d 10.1.0.7 10.1.0.7:9100\n", many, many),
		"go/a":  fmt.Sprintf("10.1.0.7:9100 %d", many),
		"jet/a": fmt.Sprint(many),
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.Equal(t, want, string(text), name)
	}
	out, stderr, status = w.ccm("history", "last")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "checked registrations ")

	w.write("x.j2", `{% for e in registrations("big", "*", "*", "10.1.0.7") %}{{ e.Address }}:{{ e.Port }} {{ e.Annotations }}{% endfor %}`)
	w.write("tiny.cm.yml", "file:\n  name: /tiny\n  ensure: contents\n  type: template\n  contents: x.j2\n")
	_, stderr, status = w.run("--root", root, "tiny.cm.yml")
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(filepath.Join(root, "tiny"))
	require.NoError(t, err)
	require.Contains(t, string(text), "10.1.0.7:9100")
	w.write("bad.yaml", "ccm:\n  resources:\n    - exec: [{x: {command: \"echo ${ registrations('>', '*', '*', '*') }\"}}]\n")
	_, stderr, status = w.plan("bad.yaml")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `registrations: cluster: expected a name of letters, digits, - and _, or * for any, got ">"`)
}

// TestUpstreamsStream: agents of Choria CCM send a header that only a stream with roll-ups accepts. Their entries are
// found here, and their removals are reported.
func TestUpstreamsStream(t *testing.T) {
	t.Parallel()
	w, js := registryWorld(t)
	ttl := "2s"
	publish := func() error {
		msg := nats.NewMsg("choria.ccm.registration.v1.production.http.web.10_0_0_5.d097567f5aa3133c")
		msg.Header = nats.Header{"Nats-TTL": {ttl}, "Nats-Rollup": {"sub"}, "Nats-Expected-Stream": {"REGISTRATION"}}
		msg.Data = []byte(`{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":8080,"priority":10,"ttl":"2s"}`)
		_, err := js.PublishMsg(t.Context(), msg)
		return err
	}
	require.ErrorContains(t, publish(), "rollup")
	out, stderr, status := w.ccm("registration", "init", "--upstream")
	require.Zero(t, status, stderr)
	require.Equal(t, "+ stream REGISTRATION: roll-ups: true instead of false\n+ stream REGISTRATION: delete marker TTL: 15m0s instead of 0s\n", out)
	out, _, status = w.ccm("registration", "init")
	require.Zero(t, status)
	require.Equal(t, "Nothing to do: stream REGISTRATION is up to date\n", out)
	require.NoError(t, publish())
	_, stderr, status = w.ccm("registration", "init", "--replicas", "3")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "(set --replicas to the number of servers that keep the stream, 1 for a single server)")

	lines := w.watch("registration", "watch", "production", "--json")
	require.Equal(t, `{"action":"register","entry":{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":8080,"priority":10,"ttl":"2s"}}`, <-lines)
	require.Contains(t, <-lines, `"action":"remove","entry":{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":8080,"priority":10,"ttl":"2s"},"reason":"MaxAge"}`)
	ttl = "1h"
	require.NoError(t, publish())
	require.Contains(t, <-lines, `"action":"register"`)
	_, stderr, status = w.ccm("registration", "rm", "--cluster", "production", "--service", "web", "--protocol", "http", "--address", "10.0.0.5", "--port", "8080", "--force")
	require.Zero(t, status, stderr)
	require.Contains(t, <-lines, `"action":"remove"`)

	out, stderr, status = w.ccm("registration", "init", "--upstream=false", "--max-age", "1h")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "roll-ups: false instead of true")
	require.ErrorContains(t, publish(), "rollup")
	out, _, status = w.ccm("registration", "init")
	require.Zero(t, status)
	require.Equal(t, "Nothing to do: stream REGISTRATION is up to date\n", out, "what nobody says here stays")
}

// TestWatch: a stream without deletion marks is polled.
func TestWatch(t *testing.T) {
	t.Parallel()
	w, _ := registryWorld(t)
	create := []string{"registration", "create", "--cluster", "c", "--service", "s", "--protocol", "p", "--address", "::1", "-A", "note=\x1b[31mred"}
	out, stderr, status := w.ccm(append(create, "--ttl", "1h")...)
	require.Zero(t, status, stderr)
	require.Equal(t, "Registered c/p/s at ::1, priority 100, ttl 1h0m0s\n", out)
	lines := w.watch("registration", "watch")
	require.Equal(t, "+ c/p/s at ::1: priority 100, ttl 1h0m0s", <-lines)
	_, stderr, status = w.ccm(append(create, "--ttl", "1s")...)
	require.Zero(t, status, stderr)
	require.Equal(t, "+ c/p/s at ::1: priority 100, ttl 1s", <-lines)
	require.Equal(t, "- c/p/s at ::1: removed (Gone)", <-lines)
	out, _, status = w.ccm("registration", "query", "c")
	require.Zero(t, status)
	require.Equal(t, "No results found\n", out)
}

// watch starts a command that reports changes, and returns its lines.
func (w *world) watch(args ...string) <-chan string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stderr = w.env, os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		cancel()
	})
	lines := make(chan string, 64)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// TestMistakesOfRegistrations: each mistake has one clear error.
func TestMistakesOfRegistrations(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.JetStream = false })
	w.context("CCM", map[string]any{})
	for want, args := range map[string]string{
		"expected 1 to 5 replicas, got 9":                                               "init --replicas 9",
		"expected a maximum age of at least 1s, got 1ms":                                "init --max-age 1ms",
		`cluster: expected a name of letters, digits, - and _, or * for any, got "a.b"`: "query a.b",
		"expected --service": "create --cluster x",
		`--address: expected an IP address or host name, got "a b"`:         "create --cluster x --service x --protocol x --address a\tb",
		`--ttl: expected a time such as "10m" or "1d", or "never", got "x"`: "create --cluster x --service x --protocol x --address ::1 --ttl x",
		"--annotation: expected NAME=TEXT, got \"x\"":                       "create --cluster x --service x --protocol x --address ::1 -A x",
		"ccm registration rm requires a terminal":                           "rm --cluster x --service x --protocol x --address ::1",
	} {
		var list []string
		for a := range strings.FieldsSeq(strings.ReplaceAll(args, "a\tb", "a_b")) {
			list = append(list, strings.ReplaceAll(a, "a_b", "a b"))
		}
		_, stderr, status := w.ccm(append([]string{"registration"}, list...)...)
		require.Equal(t, 1, status, args)
		require.Contains(t, stderr, want, args)
	}
}
