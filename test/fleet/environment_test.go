package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
)

// operatorKey makes the SSH key of an operator, and returns its file and its allowed_signers.
func (l *lab) operatorKey(t *testing.T, name string, seed byte) (file, allowed string) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(private, name)
	require.NoError(t, err)
	file = filepath.Join(l.scratch, name)
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	public, err := ssh.NewPublicKey(private.Public())
	require.NoError(t, err)
	return file, name + "@example.org " + string(ssh.MarshalAuthorizedKey(public))
}

// site writes a site of one script, and returns its directory.
func (l *lab) site(t *testing.T, script string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(script), 0o644))
	return dir
}

// rollout returns the state of an environment's release.
func (l *lab) rollout(t *testing.T, environment string) (a release.Assessment) {
	t.Helper()
	text := l.must(t, "fleet", "rollout", environment, "--output", "json")
	require.NoError(t, json.Unmarshal([]byte(text), &a), text)
	return a
}

// A node of one environment does not become one of another by what it writes: neither in rollouts nor for jobs, for
// the operator who made the fleet and for one with a user's directory. The same holds for a revoked node.
func TestNodeCannotChangeEnvironment(t *testing.T) {
	l := newLab(t)
	key, _ := l.operatorKey(t, "ops", 7)
	honest, liar := l.addNode(t, "web1", "prod"), l.addNode(t, "liar", "test")
	l.says(t, honest, record.State{Outcome: "stable", RunID: "r1", Labels: map[string]string{"role": "web"}}, nil)
	asProd := *liar
	asProd.Environment = "prod" // in its state
	l.says(t, &asProd, record.State{Outcome: "failed", RunID: "r1", Release: 1, Stage: 1, Labels: map[string]string{"role": "web"}}, nil)
	l.must(t, "fleet", "user", "ann", "--role", "operator")
	site := l.site(t, "file { '/etc/motd', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n")
	l.must(t, "fleet", "release", "prod", site, "--sign", key, "--canary", `labels.role == "web"`, "--no-check")

	for _, dir := range []string{l.dir, filepath.Join(l.dir, "users", "ann")} {
		at := *l
		at.dir = dir
		a := at.rollout(t, "prod")
		require.Equal(t, []int{1, 0}, []int{a.Stages[0].Nodes, a.Stages[1].Nodes}, "%s: %+v", dir, a)
		require.Zero(t, a.Stages[0].Failed, "the failure of a node of test does not stop prod")
		_, stderr, status := at.ccm("fleet", "plan", "--environment", "prod", "liar", "--sign", key)
		require.NotZero(t, status)
		require.Contains(t, stderr, "no node liar in ")
		stdout, _, _ := at.ccm("fleet", "plan", "--environment", "prod", "--all", "--expires", "1s", "--sign", key, "--output", "names")
		require.Equal(t, "web1\n", stdout)
	}
	require.Contains(t, l.must(t, "fleet", "nodes", "liar", "--output", "json"), `expected the environment test`)

	l.must(t, "fleet", "revoke", "web1")
	for _, dir := range []string{l.dir, filepath.Join(l.dir, "users", "ann")} {
		at := *l
		at.dir = dir
		require.Zero(t, at.rollout(t, "prod").Stages[0].Nodes, "%s: a revoked node is none of the environment", dir)
	}
}
