package fleet_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// newPair returns a key pair and its public key.
func newPair(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	return pair, public
}

// TestCredentialFile: a server with accounts and users signed by an operator, as nsc makes them, accepts the
// credentials file of a user.
func TestCredentialFile(t *testing.T) {
	operator, operatorKey := newPair(t, nkeys.CreateOperator)
	_, systemKey := newPair(t, nkeys.CreateAccount)
	account, accountKey := newPair(t, nkeys.CreateAccount)
	resolver := new(server.MemAccResolver)
	for key, name := range map[string]string{systemKey: "SYS", accountKey: "SITES"} {
		claims := jwt.NewAccountClaims(key)
		claims.Name = name
		if key == accountKey {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		text, err := claims.Encode(operator)
		require.NoError(t, err)
		require.NoError(t, resolver.Store(key, text))
	}
	claims := jwt.NewOperatorClaims(operatorKey)
	claims.SystemAccount = systemKey
	w := newWorld(t, func(o *server.Options) {
		o.TrustedOperators, o.SystemAccount, o.AccountResolver = []*jwt.OperatorClaims{claims}, systemKey, resolver
	})
	credentials := func(name string, change func(*jwt.UserClaims)) string {
		pair, public := newPair(t, nkeys.CreateUser)
		user := jwt.NewUserClaims(public)
		user.Name = name
		if change != nil {
			change(user)
		}
		text, err := user.Encode(account)
		require.NoError(t, err)
		seed, err := pair.Seed()
		require.NoError(t, err)
		file, err := jwt.FormatUserConfig(text, seed)
		require.NoError(t, err)
		path := filepath.Join(w.config, name+".creds")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		w.context(name, map[string]any{"creds": path})
		return path
	}
	w.fill(nats.UserCredentials(credentials("ann", nil)))
	credentials("expired", func(u *jwt.UserClaims) { u.Expires = time.Now().Add(-time.Hour).Unix() })
	credentials("stranger", func(u *jwt.UserClaims) { u.Pub.Allow.Add("none") })
	damaged := filepath.Join(w.config, "damaged.creds")
	require.NoError(t, os.WriteFile(damaged, []byte("-----BEGIN NATS USER JWT-----\nx\n"), 0o600))
	w.context("damaged", map[string]any{"creds": damaged})

	out, stderr, status := w.plan("obj://SITES/web.tar.gz", "--context", "ann")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "+own and from a key")
	w.write("x.yaml", "ccm:\n  resources:\n    - file:\n        - /x: {content: \"${ Data.text }\\n\", owner: root, group: root, mode: \"0644\"}\n")
	out, stderr, status = w.plan("x.yaml", "--data", "kv://CONF/data", "--context", "ann")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "+from kv data")
	for name, want := range map[string]string{
		"expired":  `NATS context "expired": server rejected the credentials of the context`,
		"stranger": "bucket SITES: permission denied for the credentials of the context",
		"damaged":  `NATS context "damaged": `,
	} {
		_, stderr, status := w.plan("obj://SITES/web.tar.gz", "--context", name)
		require.Equal(t, 1, status, name)
		require.Contains(t, stderr, "obj://SITES/web.tar.gz: "+want)
		require.NotContains(t, stderr, "SEED")
	}
}
