package fleet_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// A world is a server, and a directory with NATS contexts for it.
type world struct {
	t      *testing.T
	server *server.Server
	config string
	dir    string
	env    []string
}

const password = "s3cretpassw0rd"

func newWorld(t *testing.T, change func(*server.Options)) *world {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	go s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	w := &world{t: t, server: s, config: t.TempDir(), dir: t.TempDir()}
	w.env = append(os.Environ(), "XDG_CONFIG_HOME="+w.config, "NO_COLOR=1", "CCM_CACHE_DIR="+t.TempDir(), "CCM_STATE_DIR="+filepath.Join(t.TempDir(), "state"), "NATS_CONTEXT=")
	return w
}

// context writes a context.
func (w *world) context(name string, settings map[string]any) {
	w.t.Helper()
	if settings["url"] == nil {
		settings["url"] = w.server.ClientURL()
	}
	text, err := json.Marshal(settings)
	require.NoError(w.t, err)
	dir := filepath.Join(w.config, "nats", "context")
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600))
}

// write writes a file of a site.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644))
}

// ccm runs ccm in the directory of the world.
func (w *world) ccm(args ...string) (stdout, stderr string, status int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// plan plans a site on an empty root, and allows plain connections.
func (w *world) plan(args ...string) (string, string, int) {
	w.t.Helper()
	return w.ccm(append([]string{"plan", "--allow-insecure", "--root", w.t.TempDir(), "--diff", "full", "--diff-lines", "20"}, args...)...)
}

// fill stores data and a bundle on the server.
func (w *world) fill(options ...nats.Option) jetstream.JetStream {
	w.t.Helper()
	conn, err := nats.Connect(w.server.ClientURL(), options...)
	require.NoError(w.t, err)
	w.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(w.t, err)
	ctx := w.t.Context()
	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "CONF"})
	require.NoError(w.t, err)
	for key, val := range map[string]string{"motd": "from a key", "data": "data:\n  text: from kv data\n", "gone": "x", "web.json": `{"data": {"text": "from json"}}`} {
		_, err = kv.PutString(ctx, key, val)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, kv.Delete(ctx, "gone"))
	w.write("web/manifest.yaml", `
data: {text: own}
ccm:
  resources:
    - file:
        - /motd: {content: "${ Data.text } and ${ kvGet('CONF', 'motd') }\n", owner: root, group: root, mode: "0644"}
        - /x: {source: files/x, owner: root, group: root, mode: "0644"}
`)
	w.write("web/files/x", strings.Repeat("0123456789abcdef\n", 40_000))
	_, stderr, status := w.ccm("bundle", "web")
	require.Zero(w.t, status, stderr)
	text, err := os.ReadFile(filepath.Join(w.dir, "web.tar.gz"))
	require.NoError(w.t, err)
	store, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "SITES"})
	require.NoError(w.t, err)
	_, err = store.PutBytes(ctx, "web.tar.gz", text)
	require.NoError(w.t, err)
	_, err = store.PutString(ctx, "dir/data.yaml", "data: {text: from an object}\n")
	require.NoError(w.t, err)
	_, err = store.PutString(ctx, "alone.lua", `file { "/alone", content = "alone", owner = "root", group = "root", mode = "0644" }`)
	require.NoError(w.t, err)
	return js
}

// TestKeysAndObjects: kvGet(), data from keys, objects and manifests from an object store.
func TestKeysAndObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	w.fill()
	w.write("site.lua", `file { "/t", content = template.jet("t.jet") .. tostring(data and data.text), owner = "root", group = "root", mode = "0644" }`)
	w.write("t.jet", `[[ kvGet("CONF", "motd") ]] `)
	for name, x := range map[string]struct {
		args []string
		want []string
	}{
		"a bundle":            {[]string{"obj://SITES/web.tar.gz"}, []string{"own and from a key", "file#/x: Would have created the file (40000 lines"}},
		"data of a key":       {[]string{"obj://SITES/web.tar.gz", "--data", "kv://CONF/data"}, []string{"+from kv data and from a key"}},
		"data in JSON":        {[]string{"web/manifest.yaml", "--data", "kv://CONF/web.json"}, []string{"+from json and from a key"}},
		"data of an object":   {[]string{"web/manifest.yaml", "--data", "obj://SITES/dir/data.yaml"}, []string{"+from an object and from a key"}},
		"a script":            {[]string{"obj://SITES/alone.lua"}, []string{"file#/alone"}},
		"a context by a file": {[]string{"web/manifest.yaml", "--context", filepath.Join(w.config, "nats", "context", "CCM.json")}, []string{"+own and from a key"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr, status := w.plan(x.args...)
			require.Zero(t, status, stderr)
			for _, want := range x.want {
				require.Contains(t, out, want)
			}
		})
	}
	root := t.TempDir()
	out, stderr, status := w.ccm("run", "--allow-insecure", "--root", root, "obj://SITES/web.tar.gz")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "2 resources: 2 changed")
	text, err := os.ReadFile(filepath.Join(root, "motd"))
	require.NoError(t, err)
	require.Equal(t, "own and from a key\n", string(text))
	out, stderr, status = w.ccm("history", "last")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "checked bundle obj://SITES/web.tar.gz  sha256:")
	require.Contains(t, out, "checked kv kv://CONF/motd  ")
}

// TestMistakes: each mistake has one clear error.
func TestMistakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	w.context("nowhere", map[string]any{"url": "nats://127.0.0.1:1"})
	js := w.fill()
	w.write("unknown.yaml", "ccm:\n  resources:\n    - exec: [{x: {command: \"echo ${ kvGet('CONF', 'nothing') }\"}}]\n")
	w.write("few.yaml", "ccm:\n  resources:\n    - exec: [{x: {command: \"echo ${ kvGet('CONF') }\"}}]\n")
	for name, x := range map[string]struct {
		args []string
		want string
	}{
		"no bucket":          {[]string{"obj://NONE/web.tar.gz"}, "obj://NONE/web.tar.gz: no bucket NONE\n"},
		"no object":          {[]string{"obj://SITES/none.tar.gz"}, "obj://SITES/none.tar.gz: no object none.tar.gz in bucket SITES\n"},
		"no key":             {[]string{"web/manifest.yaml", "--data", "kv://CONF/none"}, "kv://CONF/none: no key none in bucket CONF\n"},
		"a deleted key":      {[]string{"web/manifest.yaml", "--data", "kv://CONF/gone"}, "no key gone in bucket CONF\n"},
		"no bucket of keys":  {[]string{"web/manifest.yaml", "--data", "kv://NONE/x"}, "no bucket NONE\n"},
		"no key in the name": {[]string{"obj://SITES"}, `expected obj://BUCKET/KEY, got "obj://SITES"`},
		"kvGet of no key":    {[]string{"unknown.yaml"}, "kvGet: no key nothing in bucket CONF"},
		"kvGet of little":    {[]string{"few.yaml"}, "kvGet: expected a bucket and a key, got 1 values"},
		"no context":         {[]string{"obj://SITES/web.tar.gz", "--context", "other"}, `NATS context "other": file does not exist: ` + w.config + "/nats/context/other.json"},
		"a path as context":  {[]string{"obj://SITES/web.tar.gz", "--context", "../other"}, "expected the name of a context, or the absolute path of its file"},
		"no server":          {[]string{"obj://SITES/web.tar.gz", "--context", "nowhere"}, `NATS context "nowhere": no server answered`},
		"no signature":       {[]string{"obj://SITES/web.tar.gz", "--signers", "signers"}, "--signers"},
		"another digest":     {[]string{"obj://SITES/web.tar.gz", "--sha256", strings.Repeat("0", 64)}, "obj://SITES/web.tar.gz: expected the SHA-256 0000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, status := w.plan(x.args...)
			require.Equal(t, 1, status)
			require.Contains(t, stderr, x.want)
			require.LessOrEqual(t, strings.Count(stderr, "\n"), 4, stderr)
		})
	}
	// An object with a lost or replaced part is refused.
	stream, err := js.Stream(t.Context(), "OBJ_SITES")
	require.NoError(t, err)
	msg, err := stream.GetMsg(t.Context(), 1)
	require.NoError(t, err)
	if !strings.HasPrefix(msg.Subject, "$O.SITES.C.") {
		t.Fatal(msg.Subject)
	}
	require.NoError(t, stream.DeleteMsg(t.Context(), 1))
	began := time.Now()
	_, stderr, status := w.plan("obj://SITES/web.tar.gz")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "obj://SITES/web.tar.gz: object web.tar.gz in bucket SITES: ")
	t.Log(stderr, time.Since(began))

	w.server.Shutdown()
	_, stderr, status = w.plan("obj://SITES/web.tar.gz")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "no server answered")
}

// TestWhoAsks: the kinds of credentials in a context.
func TestWhoAsks(t *testing.T) {
	t.Parallel()
	user, err := nkeys.CreateUser()
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	public, err := user.PublicKey()
	require.NoError(t, err)
	w := newWorld(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "ann", Password: password}}
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
	})
	w.fill(nats.UserInfo("ann", password))
	keyFile := filepath.Join(w.config, "ann.nk")
	require.NoError(t, os.WriteFile(keyFile, seed, 0o600))
	w.context("user", map[string]any{"user": "ann", "password": password})
	w.context("nkey", map[string]any{"nkey": keyFile})
	w.context("inurl", map[string]any{"url": strings.Replace(w.server.ClientURL(), "nats://", "nats://ann:"+password+"@", 1)})
	w.context("wrong", map[string]any{"user": "ann", "password": "wrong"})
	w.context("nobody", map[string]any{})
	w.context("nofile", map[string]any{"creds": filepath.Join(w.config, "none.creds")})
	for _, name := range []string{"user", "nkey", "inurl"} {
		out, stderr, status := w.plan("obj://SITES/web.tar.gz", "--context", name)
		require.Zero(t, status, "%s: %s", name, stderr)
		require.Contains(t, out, "+own and from a key")
	}
	for name, want := range map[string]string{
		"wrong":  "server rejected the credentials of the context",
		"nobody": "server rejected the credentials of the context",
		"nofile": "none.creds",
	} {
		_, stderr, status := w.plan("obj://SITES/web.tar.gz", "--context", name)
		require.Equal(t, 1, status)
		require.Contains(t, stderr, `obj://SITES/web.tar.gz: NATS context "`+name+`": `)
		require.Contains(t, stderr, want)
		require.NotContains(t, stderr, password)
	}
	// NATS_CONTEXT names the context, and --context another one.
	w.env = append(w.env, "NATS_CONTEXT=user")
	_, stderr, status := w.plan("obj://SITES/web.tar.gz")
	require.Zero(t, status, stderr)
	_, _, status = w.plan("obj://SITES/web.tar.gz", "--context", "wrong")
	require.Equal(t, 1, status)
}

// TestTLS: root requires TLS, and the certificate must be signed by the authority in the context.
func TestTLS(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, who is asked for TLS")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	require.NoError(t, err)
	w := newWorld(t, func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
		o.AllowNonTLS = true
	})
	ca := filepath.Join(w.config, "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	w.fill(nats.RootCAs(ca), nats.Secure())
	address := w.server.Addr().String()
	w.context("CCM", map[string]any{"url": "tls://" + address, "ca": ca})
	w.context("plain", map[string]any{"url": "nats://" + address})
	w.context("strange", map[string]any{"url": "tls://" + address})
	out, stderr, status := w.ccm("plan", "--root", t.TempDir(), "obj://SITES/web.tar.gz")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "file#/motd")
	_, stderr, status = w.ccm("plan", "--root", t.TempDir(), "obj://SITES/web.tar.gz", "--context", "strange")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "certificate signed by unknown authority")
	plain := func(args ...string) string {
		_, stderr, status := w.ccm(append([]string{"plan", "--root", t.TempDir(), "--context", "plain"}, args...)...)
		require.Equal(t, 1, status, stderr)
		return stderr
	}
	want := "not trusted as root: NATS context \"plain\": connection without TLS is not protected against tampering (use tls:// in the URL of the context, or --allow-insecure)\n"
	require.Contains(t, plain("obj://SITES/web.tar.gz"), want)
	require.Contains(t, plain("web/manifest.yaml", "--data", "kv://CONF/data"), want)
	require.Contains(t, plain("web/manifest.yaml"), "connection without TLS is not protected against tampering")
}

// TestServerGoes: a server that goes away during the download of an object is one error, without a long wait.
func TestServerGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.context("CCM", map[string]any{})
	js := w.fill()
	store, err := js.ObjectStore(t.Context(), "SITES")
	require.NoError(t, err)
	_, err = store.Put(t.Context(), jetstream.ObjectMeta{Name: "large.tar.gz"}, &zeros{left: 300 << 20})
	require.NoError(t, err)
	timer := time.AfterFunc(300*time.Millisecond, w.server.Shutdown)
	defer timer.Stop()
	began := time.Now()
	_, stderr, status := w.plan("obj://SITES/large.tar.gz")
	require.Equal(t, 1, status)
	require.Less(t, time.Since(began), 2*time.Minute)
	t.Log(fmt.Sprint(time.Since(began)), stderr)
}

// zeros is a long stream of zero bytes.
type zeros struct{ left int }

// Read implements io.Reader.
func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	clear(p[:n])
	z.left -= n
	return n, nil
}
