package identity

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// fleet makes a fleet with one environment, and signs a node.
func fleet(t *testing.T) (*Directory, NodeIdentity) {
	t.Helper()
	h := host.New(host.Options{Clock: host.RealClock{}})
	i, err := Plan(filepath.Join(t.TempDir(), "fleet"), Options{Servers: []string{"n1"}, Environments: []string{"prod"}, User: "ops"}, h, time.Now())
	require.NoError(t, err)
	require.NoError(t, i.Apply())
	d, err := Open(i.Directory.Path, h)
	require.NoError(t, err)
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	key, err := pair.PublicKey()
	require.NoError(t, err)
	n, err := d.Sign(NodeIdentity{Name: "web1", Environment: "prod", Key: key, Recipient: "age1" + strings.Repeat("q", 58), Tags: []string{"rack=7"}, Token: "t1"})
	require.NoError(t, err)
	return d, n
}

// A verified JWT is not verified again by the next command, but only as long as the fleet trusts its key.
func TestVerifiedNodesAreRemembered(t *testing.T) {
	d, n := fleet(t)
	cache := filepath.Join(t.TempDir(), "cache")
	d.KeepVerified(cache)
	first, err := d.ReadNode(n.JWT)
	require.NoError(t, err)
	require.NoError(t, d.SaveVerified())

	again, err := Open(d.Path, d.host)
	require.NoError(t, err)
	again.KeepVerified(cache)
	require.True(t, again.verified.has(sha256.Sum256([]byte(n.JWT))))
	second, err := again.ReadNode(n.JWT + "\n")
	require.NoError(t, err)
	require.Equal(t, first, second)

	again.Fleet.NodeKeys = nil
	_, err = again.ReadNode(n.JWT)
	require.ErrorContains(t, err, "is not a node signing key of this fleet")
	again.Fleet.NodeKeys, again.Fleet.Account = d.Fleet.NodeKeys, "other"
	_, err = again.ReadNode(n.JWT)
	require.ErrorContains(t, err, "belongs to another fleet")
}

// A changed JWT is verified again, and a file that others can write is ignored.
func TestVerifiedNodesAreNotBelievedBlindly(t *testing.T) {
	d, n := fleet(t)
	cache := t.TempDir()
	d.KeepVerified(cache)
	_, err := d.ReadNode(n.JWT)
	require.NoError(t, err)
	other, _ := fleet(t)
	parts := strings.Split(n.JWT, ".")
	forged := parts[0] + "." + parts[1] + "." + strings.Split(mustSign(t, other, n).JWT, ".")[2]
	_, err = d.ReadNode(forged)
	require.ErrorContains(t, err, "signature verification")
	require.NoError(t, d.SaveVerified())

	file := d.verified.file
	sum := sha256.Sum256([]byte(forged))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, slices.Concat(text, sum[:], []byte("cut short")), 0o600))
	for _, x := range []struct {
		spoil func()
		want  bool
	}{
		{func() {}, true}, // who can write as this user could run any code
		{func() { require.NoError(t, os.Chmod(file, 0o620)) }, false},
		{func() {
			require.NoError(t, os.Chmod(file, 0o600))
			require.NoError(t, os.Rename(file, file+".real"))
			require.NoError(t, os.Symlink(file+".real", file))
		}, false},
		{func() { require.NoError(t, os.Remove(file)) }, false},
	} {
		x.spoil()
		again, err := Open(d.Path, d.host)
		require.NoError(t, err)
		again.KeepVerified(cache)
		require.Equal(t, x.want, again.verified.has(sum))
	}
}

// The saved file keeps only JWTs that were used again.
func TestVerifiedNodesAreForgotten(t *testing.T) {
	d, n := fleet(t)
	cache := t.TempDir()
	d.KeepVerified(cache)
	_, err := d.ReadNode(n.JWT)
	require.NoError(t, err)
	require.NoError(t, d.SaveVerified())
	again, err := Open(d.Path, d.host)
	require.NoError(t, err)
	again.KeepVerified(cache)
	n.Tags = []string{"rack=8"}
	_, err = again.ReadNode(mustSign(t, again, n).JWT)
	require.NoError(t, err)
	require.NoError(t, again.SaveVerified())
	info, err := os.Stat(again.verified.file)
	require.NoError(t, err)
	require.EqualValues(t, sha256.Size, info.Size())
}

func mustSign(t *testing.T, d *Directory, n NodeIdentity) NodeIdentity {
	t.Helper()
	n, err := d.Sign(n)
	require.NoError(t, err)
	return n
}
