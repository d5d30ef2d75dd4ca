package fleet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// The allowed signers are changed for running nodes: from now on two must sign. Others cannot change them.
func TestFleetSigners(t *testing.T) {
	f := newFleet(t)
	f.start("web1")
	f.waitForNodes(1)
	ctx := context.Background()
	public, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize)).Public())
	require.NoError(t, err)
	second, both := f.stranger(), f.allowed+"second@example.org "+string(ssh.MarshalAuthorizedKey(public))
	_, err = f.controller().SetSigners(ctx, "allowed_signers", both, 3)
	require.ErrorContains(t, err, "the number of signers")

	refused := func(document string) func() bool {
		return func() bool {
			nodes, err := f.read()
			require.NoError(t, err)
			for _, p := range nodes[0].State.Problems {
				if p.Code == record.SignatureRefused && bytes.HasPrefix([]byte(p.Message), []byte(document)) {
					return true
				}
			}
			return false
		}
	}
	hostile := f.controller()
	hostile.Key = second
	_, err = hostile.SetSigners(ctx, "allowed_signers", both, 1)
	require.NoError(t, err)
	f.eventually(refused("prod.signers: "))

	s, err := f.controller().SetSigners(ctx, "allowed_signers", both, 2)
	require.NoError(t, err)
	require.Equal(t, int64(2), s.Version)
	f.eventually(func() bool { return !refused("prod.signers: ")() })
	r := &signed.Release{Bundle: "sha256:" + f.bundle(motd("one")), Stages: []string{"100%"}}
	require.NoError(t, f.controller().BeginRollout(ctx, r))
	f.eventually(refused("prod.release: "))
	require.Empty(t, f.motd("web1"), "one of two is not enough")
	r = &signed.Release{Bundle: r.Bundle, Stages: []string{"100%"}}
	require.NoError(t, f.controller().BeginRollout(ctx, r, second))
	f.eventually(func() bool { return !refused("prod.release: ")() }) // otherwise the last refusal would stop it
	require.Equal(t, signed.Done, f.advance().State)
	require.Equal(t, "one", f.motd("web1"))
}

// The command shows the stored signers, and refuses a list with which nobody could release.
func TestSignersCommand(t *testing.T) {
	l := newLab(t)
	key, allowed := l.operatorKey(t, "ops", 7)
	file := filepath.Join(t.TempDir(), "allowed_signers")
	require.NoError(t, os.WriteFile(file, []byte(allowed), 0o644))
	_, stderr, status := l.ccm("fleet", "signers", "test", file, "--threshold", "2", "--sign", key)
	require.NotZero(t, status)
	require.Contains(t, stderr, "the number of signers")
	require.Equal(t, "Signers 1 of test: 1 must sign a release\n", l.must(t, "fleet", "signers", "test", file, "--sign", key))
	require.Equal(t, allowed, l.must(t, "fleet", "signers", "test"))
	require.Contains(t, l.must(t, "fleet", "signers", "test", "--output", "json"), `"version":1,"threshold":1`)
	require.Contains(t, l.must(t, "__complete", "fleet", "signers", ""), "test")

	// If two must sign, the error says that one is missing; two can sign a rollback.
	second, more := l.operatorKey(t, "bob", 8)
	require.NoError(t, os.WriteFile(file, []byte(allowed+more), 0o644))
	l.must(t, "fleet", "signers", "prod", file, "--sign", key, "--threshold", "2")
	release := func(script string, args ...string) string {
		t.Helper()
		_, stderr, status := l.ccm(append([]string{"fleet", "release", "prod", l.site(t, script), "--no-check", "--sign", key}, args...)...)
		require.Zero(t, status, stderr)
		return stderr
	}
	const few = "! 2 signatures required, 1 given: nodes will refuse it. Add another with --also-sign KEY.\n"
	require.Contains(t, release("exec { 'true' }\n"), few)
	require.NotContains(t, release("exec { 'true' }\n", "--also-sign", second), few)
	_, stderr, status = l.ccm("fleet", "rollback", "prod", "--sign", key)
	require.NotZero(t, status)
	require.Contains(t, stderr, "to roll back to")
	l.must(t, "fleet", "rollout", "prod", "--watch", "--sign", key)
	stranger, _ := l.operatorKey(t, "eve", 9)
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "allowed_signers"), []byte(allowed+more), 0o644))
	_, stderr, status = l.ccm("fleet", "release", "prod", l.site(t, "exec { 'false' }\n"), "--no-check", "--sign", stranger)
	require.NotZero(t, status)
	require.Contains(t, stderr, "nodes of prod would refuse this: signing key SHA256:")
	web1 := l.addNode(t, "web1", "prod")
	l.says(t, web1, record.State{}, nil)
	for _, args := range [][]string{{"run", "web1"}, {"nodes", "--live"}} {
		_, stderr, status = l.ccm(append(append([]string{"fleet"}, args...), "--sign", stranger)...)
		require.NotZero(t, status, args)
		require.Contains(t, stderr, "nodes of prod would refuse this: signing key SHA256:", args)
	}
	release("exec { 'false' }\n", "--also-sign", second)
	_, stderr, _ = l.ccm("fleet", "rollback", "prod", "--sign", key, "--also-sign", second)
	require.NotContains(t, stderr, few)
	text, err := os.ReadFile(filepath.Join(l.dir, "releases", "prod", "000004.release"))
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(text, []byte("BEGIN SSH SIGNATURE")))

	// Servers do not bring signers back that were replaced here.
	require.NoError(t, os.WriteFile(file, []byte(more), 0o644))
	l.must(t, "fleet", "signers", "prod", file, "--sign", key, "--also-sign", second)
	old, err := os.ReadFile(filepath.Join(l.dir, "releases", "prod", "000001.signers"))
	require.NoError(t, err)
	_, err = direct.Publish(t.Context(), l.desk(t).Cluster.Conn, subject.KV(subject.Control, subject.SignersKey("prod")), old)
	require.NoError(t, err)
	stdout, _, _ := l.ccm("fleet", "check")
	require.Contains(t, stdout, "! prod.signers on the servers is not trusted: version 1 is older than version 2, which was seen here before\n")
	require.Equal(t, more, l.must(t, "fleet", "signers", "prod"))

	// What is behind it is stored again.
	require.Contains(t, l.must(t, "fleet", "release", "prod", "--again"), "signers 2")
	stdout, _, _ = l.ccm("fleet", "check")
	require.NotContains(t, stdout, "is not trusted")
	require.NotContains(t, l.must(t, "fleet", "release", "prod", "--again"), "signers")
}
