package author_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/signers"
)

var made = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// key makes a key in a file, and returns its line of allowed_signers.
func key(t *testing.T, name string) (signers.Key, string) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{name[0]}, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(private, name)
	require.NoError(t, err)
	k := signers.Key{File: filepath.Join(t.TempDir(), name)}
	require.NoError(t, os.WriteFile(k.File, pem.EncodeToMemory(block), 0o600))
	public, err := ssh.NewPublicKey(private.Public())
	require.NoError(t, err)
	return k, name + "@example.org " + string(ssh.MarshalAuthorizedKey(public))
}

func header(at time.Time) signed.Header {
	return signed.Header{Environment: "prod", CreateTime: at, Expires: at.Add(time.Hour)}
}

func rollout(t *testing.T, by signers.Key, at time.Time) []byte {
	text, err := signed.Sign(context.Background(), &signed.Rollout{Header: header(at), Version: 7, Release: 1, State: signed.Rolling}, by)
	require.NoError(t, err)
	return text
}

// A document is believed if the operator's file names who has signed it, or if it was made here.
func TestLook(t *testing.T) {
	ann, annLine := key(t, "ann")
	eve, _ := key(t, "eve")
	dir := t.TempDir()
	file, archive := filepath.Join(dir, "allowed_signers"), filepath.Join(dir, "releases")
	open := func() *author.Book {
		b, err := author.Open(file, archive, "prod", func() time.Time { return made.Add(100 * 24 * time.Hour) })
		require.NoError(t, err)
		return b
	}
	good, bad := rollout(t, ann, made), rollout(t, eve, made)
	broken := bytes.Replace(good, []byte(`"stage":0`), []byte(`"stage":1`), 1)

	b := open()
	require.True(t, b.IsEmpty())
	a := b.Look(good, new(signed.Rollout))
	require.False(t, a.Verified)
	require.True(t, b.Believes(a), "without a file any signature will do")
	require.True(t, strings.HasPrefix(a.Names(), "SHA256:"))
	require.Contains(t, a.Doubt, "no trusted signers")
	a = b.Look(broken, new(signed.Rollout))
	require.True(t, a.Forged)
	require.False(t, b.Believes(a))

	// Ann's key has expired since, but not when she signed it.
	name, rest, _ := strings.Cut(annLine, " ")
	require.NoError(t, os.WriteFile(file, []byte(name+` valid-before="20261201" `+rest), 0o600))
	b = open()
	r := new(signed.Rollout)
	a = b.Look(good, r)
	require.True(t, a.Verified, a.Doubt)
	require.Equal(t, "ann@example.org", a.Names())
	require.Equal(t, int64(7), r.Version)
	a = b.Look(bad, new(signed.Rollout))
	require.False(t, b.Believes(a))
	require.Contains(t, a.Doubt, "is not allowed: not in")
	require.False(t, b.Believes(b.Look(rollout(t, ann, made.Add(30*24*time.Hour)), new(signed.Rollout))), "she may not sign then")
	other, err := author.Open(file, archive, "test", time.Now)
	require.NoError(t, err)
	require.Contains(t, other.Look(good, new(signed.Rollout)).Doubt, "got one for prod")

	// Nothing is made that nodes would refuse.
	then, err := author.Open(file, archive, "prod", func() time.Time { return made })
	require.NoError(t, err)
	require.NoError(t, then.Recognizes(good, new(signed.Rollout)))
	require.ErrorContains(t, then.Recognizes(bad, new(signed.Rollout)), "nodes of prod would refuse this: ")
	require.ErrorContains(t, b.Recognizes(good, new(signed.Rollout)), "expired at", "her key has expired")

	require.NoError(t, os.MkdirAll(archive, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(archive, author.FileName("rollout", 7)), bad, 0o600))
	require.True(t, open().Look(bad, new(signed.Rollout)).Verified, "it was made here")
	require.Equal(t, int64(7), open().Highest(new(signed.Rollout)))
	require.Zero(t, open().Highest(new(signed.Release)))

	require.NoError(t, os.WriteFile(file, []byte("ann ssh-ed25519 x"), 0o600))
	_, err = author.Open(file, archive, "prod", time.Now)
	require.ErrorContains(t, err, "allowed_signers:1")
}

// New signers are believed if the present ones have signed that, and then these no more, but for what
// they signed before.
func TestTake(t *testing.T) {
	ann, annLine := key(t, "ann")
	bob, bobLine := key(t, "bob")
	eve, eveLine := key(t, "eve")
	file := filepath.Join(t.TempDir(), "allowed_signers")
	require.NoError(t, os.WriteFile(file, []byte(annLine), 0o600))
	b, err := author.Open(file, "", "prod", func() time.Time { return made.Add(48 * time.Hour) })
	require.NoError(t, err)
	change := func(line string, by signers.Key) []byte {
		text, err := signed.Sign(context.Background(), &signed.Signers{Header: header(made), Version: 1, Threshold: 1, Signers: line}, by)
		require.NoError(t, err)
		return text
	}
	believes := func(by signers.Key, at time.Time) bool {
		return b.Believes(b.Look(rollout(t, by, at), new(signed.Rollout)))
	}
	require.False(t, b.Take(change(eveLine, eve)).Verified)
	require.False(t, believes(eve, made.Add(time.Hour)))
	require.False(t, b.Take(change("nonsense", ann)).Verified)
	require.True(t, believes(ann, made.Add(time.Hour)))

	require.True(t, b.Take(change(bobLine, ann)).Verified)
	require.True(t, believes(bob, made.Add(time.Hour)))
	require.False(t, believes(ann, made.Add(time.Hour)), "she is not among them")
	require.True(t, believes(ann, made.Add(-time.Hour)))
}

// Signers that were replaced here stay replaced, whether the servers have the document about it, an older one, or none.
func TestReplacedHere(t *testing.T) {
	ann, annLine := key(t, "ann")
	bob, bobLine := key(t, "bob")
	dir := t.TempDir()
	file, archive := filepath.Join(dir, "allowed_signers"), filepath.Join(dir, "releases")
	require.NoError(t, os.WriteFile(file, []byte(annLine), 0o600))
	change := func(version int64, at time.Time, line string, by signers.Key) []byte {
		text, err := signed.Sign(context.Background(), &signed.Signers{Header: header(at), Version: version, Threshold: 1, Signers: line}, by)
		require.NoError(t, err)
		return text
	}
	first, second := change(1, made.Add(-time.Hour), annLine, ann), change(2, made, bobLine, ann)
	require.NoError(t, os.MkdirAll(archive, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(archive, author.FileName("signers", 2)), second, 0o600))
	b, err := author.Open(file, archive, "prod", func() time.Time { return made.Add(48 * time.Hour) })
	require.NoError(t, err)
	check := func() {
		t.Helper()
		believes := func(by signers.Key, at time.Time) bool {
			return b.Believes(b.Look(rollout(t, by, at), new(signed.Rollout)))
		}
		require.True(t, believes(bob, made.Add(time.Hour)))
		require.False(t, believes(ann, made.Add(time.Hour)))
		require.True(t, believes(ann, made.Add(-time.Hour)), "she might sign then")
	}
	check()
	a := b.Take(first)
	require.False(t, a.Verified)
	require.Equal(t, "version 1 is older than version 2, which was seen here before", a.Doubt)
	check()
	require.True(t, b.Take(second).Verified)
	check()
	require.True(t, b.Take(change(3, made.Add(time.Minute), bobLine, bob)).Verified)
	check()
}
