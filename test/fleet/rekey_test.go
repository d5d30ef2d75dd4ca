package fleet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/node"
	"github.com/luaccm/ccm/fleet/subject"
)

// agents returns a fleet that starts agents of a lab's nodes.
func (l *lab) agents(t *testing.T, allowed string) *fleet {
	t.Helper()
	return &fleet{t: t, dir: t.TempDir(), nodes: map[string]*member{}, allowed: allowed}
}

// join starts the agent of a node.
func (f *fleet) join(l *lab, n *nodeIdentity, change ...func(*node.Options)) *member {
	return f.start(n.Name, append([]func(*node.Options){func(o *node.Options) {
		o.Servers, o.CA, o.Credentials, o.Host = l.directory(f.t).Fleet.URLs(), filepath.Join(l.dir, "ca.pem"), n.credentials, l.machine
	}}, change...)...)
}

// isRefused reports whether the servers refuse credentials.
func (l *lab) isRefused(t *testing.T, credentials, inbox string) bool {
	conn, err := l.access(t, credentials, inbox).Dial()
	if err == nil {
		conn.Close()
	}
	return err != nil
}

// A machine with a revoked key does not become a node again by a rekey, although the token of its request is still
// valid.
func TestRekeyKeepsRevoked(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	tokens, given := filepath.Join(dir, "tokens"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(given, []byte(l.must(t, "fleet", "enrol", "token", "--name", "web*", "--environment", "prod", "--uses", "3", "--token-file", tokens)), 0o600))
	text, err := os.ReadFile(tokens)
	require.NoError(t, err)
	list, err := enrol.ReadTokens(text)
	require.NoError(t, err)
	d := l.desk(t)
	approve := func() (said []string) {
		require.NoError(t, d.ApproveByToken(t.Context(), list, func(p enrol.OpenRequest, err error) { said = append(said, fmt.Sprint(p.Name, ": ", err)) }))
		return said
	}
	m := l.ask(t, "web1", "prod", "--token-file", given)
	waitFor(t, "the request", func() error {
		if said := approve(); !slices.Equal(said, []string{"web1: <nil>"}) {
			return fmt.Errorf("%q", said)
		}
		return nil
	})
	require.NoError(t, <-m.done)
	l.must(t, "fleet", "revoke", "web1")
	creds, err := os.ReadFile(m.dir + "/node.creds")
	require.NoError(t, err)
	l.must(t, "fleet", "rekey")
	d = l.desk(t) // which knows the new key
	require.Empty(t, approve())
	_, stderr, _ := l.ccm("fleet", "enrol")
	require.Contains(t, stderr, "No pending enrolment requests.")

	// It requests again, with the same key and token.
	pair, err := nkeys.ParseDecoratedUserNKey(creds)
	require.NoError(t, err)
	seed, err := pair.Seed()
	require.NoError(t, err)
	again := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(again, "node.nk"), seed, 0o600))
	l.ask(t, "web1", "prod", "--token-file", given, "--directory", again)
	waitFor(t, "the request to be refused", func() error {
		if said := approve(); !slices.Equal(said, []string{"web1: the requesting key is already revoked"}) {
			return fmt.Errorf("%q", said)
		}
		return nil
	})
	require.Empty(t, l.must(t, "fleet", "nodes", "--output", "names"))
}

// After a rekey only nodes with new JWTs are admitted; revoked nodes stay out and leave the list of revocations, and
// other revocations stay on it.
func TestRekey(t *testing.T) {
	l := newLab(t)
	_, allowed := l.operatorKey(t, "ops", 7)
	f := l.agents(t, allowed)
	web1, web2, away, gone := l.addNode(t, "web1", "prod"), l.addNode(t, "web2", "test"), l.addNode(t, "web3", "prod"), l.addNode(t, "gone", "prod")
	for _, n := range []*nodeIdentity{web1, web2} {
		f.join(l, n)
	}
	for _, person := range []string{"ann", "bob"} {
		l.must(t, "fleet", "user", person, "--role", "viewer")
	}
	l.must(t, "fleet", "revoke", "gone")
	l.must(t, "fleet", "revoke", "--user", "bob")
	stolen := filepath.Join(t.TempDir(), "stolen.creds") // a copy of the present credentials of web1
	text, err := os.ReadFile(web1.credentials)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(stolen, text, 0o600))
	old := l.directory(t).Fleet.NodeKeys[0]

	// One node is down: the others get new JWTs, and nothing is taken from anybody.
	stdout, stderr, status := l.ccm("fleet", "rekey", "--wait", "15s")
	require.Equal(t, 4, status, stderr)
	require.Contains(t, stdout, "~ 3 nodes signed by the new key")
	require.Contains(t, stderr, "1 of 3 nodes do not use the new key: web3. Both keys are trusted. Run this again when they are online, or revoke them")
	require.Len(t, l.directory(t).Fleet.NodeKeys, 2)
	for _, n := range []*nodeIdentity{web1, web2} {
		now, err := identity.ReadCredentials(n.credentials)
		require.NoError(t, err)
		require.NotEqual(t, old, now.Issuer)
		require.Equal(t, []string{n.Name, n.Environment, n.Key, n.Recipient}, []string{now.Name, now.Environment, now.Key, now.Recipient})
	}
	require.False(t, l.isRefused(t, away.credentials, subject.Inbox("web3")), "it can still fetch what is for it")

	l.must(t, "fleet", "revoke", "web3")
	stdout, stderr, status = l.ccm("fleet", "rekey", "--output", "json")
	require.Zero(t, status, stderr)
	require.JSONEq(t, `{"signed":2,"waiting":[],"revoked":1,"done":true}`, stdout)
	d := l.directory(t)
	require.Len(t, d.Fleet.NodeKeys, 1)
	require.NotEqual(t, old, d.Fleet.NodeKeys[0])
	revoked, err := d.Revoked()
	require.NoError(t, err)
	bob, err := d.UserKey("bob")
	require.NoError(t, err)
	require.Equal(t, map[string]bool{away.Key: true, bob: true}, revoked, "web3 has a JWT of the new key; gone has none")
	for name, creds := range map[string]string{"gone": gone.credentials, "web3": away.credentials, "web1": stolen} {
		require.True(t, l.isRefused(t, creds, subject.Inbox(name)), name)
	}
	require.True(t, l.isRefused(t, l.dir+"/users/bob/user.creds", subject.UserInbox("bob")))
	require.False(t, l.isRefused(t, web1.credentials, subject.Inbox("web1")))

	// Everything works: for the operator, for other people, and after the servers have lost everything.
	ann := *l
	ann.dir = l.dir + "/users/ann"
	for _, at := range []*lab{l, &ann} {
		waitFor(t, "both nodes", func() error {
			if out := at.must(t, "fleet", "nodes", "--where", `seen < duration("1m")`, "--output", "names"); out != "web1\nweb2\n" {
				return fmt.Errorf("it lists %q", out)
			}
			return nil
		})
	}
	require.Empty(t, l.must(t, "fleet", "init", l.dir, "--apply"))
	l.addNode(t, "web4", "prod")
	stdout, _, status = l.ccm("fleet", "rekey", "--wait", "2s", "--leave-silent")
	require.Equal(t, 4, status)
	require.Contains(t, stdout, "~ 3 nodes signed by the new key")
	require.Len(t, l.directory(t).Fleet.NodeKeys, 1)
}

// A rekey that waits for nodes goes on when the servers were away meanwhile.
func TestRekeyOutlivesServers(t *testing.T) {
	l := newLab(t)
	_, allowed := l.operatorKey(t, "ops", 7)
	web1 := l.addNode(t, "web1", "prod")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr syncBuffer
	cmd := l.command(ctx, "fleet", "rekey", "--output", "json")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	prints := func(text string) {
		t.Helper()
		waitFor(t, text, func() error {
			if !strings.Contains(stderr.String(), text) {
				return fmt.Errorf("it printed %q", stderr.String())
			}
			return nil
		})
	}
	prints("Waiting for 1 of 1 nodes: web1\n")
	l.killAll()
	prints("Servers are not responding, retrying: ")
	l.startAll(t)
	l.agents(t, allowed).join(l, web1)
	require.NoError(t, cmd.Wait(), stderr.String())
	require.JSONEq(t, `{"signed":1,"waiting":[],"revoked":0,"done":true}`, stdout.String())
}
