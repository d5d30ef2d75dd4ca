package enrol

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

func keyPair(t testing.TB) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	key, err := pair.PublicKey()
	require.NoError(t, err)
	return pair, key
}

func request(key string) Request {
	return Request{Name: "web1", Environment: "prod", Key: key, Recipient: "age1" + strings.Repeat("q", 58)}
}

func TestRequestIsWhatItsKeySigned(t *testing.T) {
	pair, key := keyPair(t)
	text, err := request(key).Encode(pair, nil)
	require.NoError(t, err)
	r, err := Decode(key, text)
	require.NoError(t, err)
	require.Equal(t, "web1", r.Name)

	_, other := keyPair(t)
	_, err = Decode(other, text)
	require.ErrorIs(t, err, errUnsigned, "under the key of somebody else")
	for i := range bytes.IndexByte(text, '\n') {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		_, err := Decode(key, changed)
		require.Error(t, err, "byte %d", i)
	}
	for _, bad := range []string{"", "{}", "{}\n", "{}\nAAAA\n", string(text) + "x\ny\n", strings.Repeat("x", 5000)} {
		_, err := Decode(key, []byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

// A node's key also signs the challenges of servers when it connects. Such a signature is not valid for a request.
func TestChallengeOfServerIsNoRequest(t *testing.T) {
	pair, key := keyPair(t)
	text, err := request(key).Encode(pair, nil)
	require.NoError(t, err)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	signature, err := pair.Sign(line)
	require.NoError(t, err)
	_, err = Decode(key, append(append(line, '\n'), signature...))
	require.ErrorIs(t, err, errUnsigned)
}

func TestFingerprintStandsForKeyAndRecipient(t *testing.T) {
	_, a := keyPair(t)
	_, b := keyPair(t)
	require.NotEqual(t, Fingerprint(a, "x"), Fingerprint(b, "x"))
	require.NotEqual(t, Fingerprint(a, "x"), Fingerprint(a, "y"))
	whole := Fingerprint(a, "x")
	for given, want := range map[string]bool{"": true, whole: true, whole[:19]: true, whole[7:20]: true, whole[:18]: false, "SHA256:": false, "SHA256:AAAAAAAAAAAAAAA": false, whole + "x": false} {
		require.Equal(t, want, fits(whole, given), "%q", given)
	}
}

func TestTokens(t *testing.T) {
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	token, err := NewToken(Token{Name: "web*", Environment: "prod", Uses: 2, Expires: now.Add(time.Hour)})
	require.NoError(t, err)
	back, err := ParseToken(token.String())
	require.NoError(t, err)
	require.Equal(t, token.ID, back.ID)

	pair, key := keyPair(t)
	text, err := request(key).Encode(pair, back)
	require.NoError(t, err)
	require.NotContains(t, string(text), token.String()[len(token.ID)+1:], "the secret stays")
	r, err := Decode(key, text)
	require.NoError(t, err)
	require.NoError(t, token.allows(r, now))
	require.ErrorContains(t, token.allows(r, now.Add(2*time.Hour)), "expired")
	other := token
	other.Secret = bytes.Repeat([]byte{1}, 20)
	require.ErrorContains(t, other.allows(r, now), "proof")
	other = token
	other.Name = "db*"
	require.ErrorContains(t, other.allows(r, now), "db*")
	other = token
	other.Environment = "test"
	require.ErrorContains(t, other.allows(r, now), "test")

	// A copied proof of a token is valid only for the key that made it.
	pair2, key2 := keyPair(t)
	text2, err := request(key2).Encode(pair2, &Token{ID: token.ID, Secret: bytes.Repeat([]byte{1}, 20)})
	require.NoError(t, err)
	lines := bytes.Split(text2, []byte("\n"))
	lines[2] = bytes.Split(text, []byte("\n"))[2]
	r2, err := Decode(key2, bytes.Join(lines, []byte("\n")))
	require.NoError(t, err)
	require.Error(t, token.allows(r2, now))

	for _, bad := range []string{"", "x", ".", "a.b", token.ID, token.String() + "a", strings.ToUpper(token.String())} {
		_, err := ParseToken(bad)
		require.Error(t, err, "%q", bad)
	}
}

func TestFindAsksForFingerprint(t *testing.T) {
	_, a := keyPair(t)
	_, b := keyPair(t)
	list := []OpenRequest{{SignedRequest: SignedRequest{Request: request(a)}}, {SignedRequest: SignedRequest{Request: request(b)}}}
	_, err := Find(list, "web1", "")
	require.ErrorIs(t, err, ErrTwice)
	p, err := Find(list, "web1", list[1].Fingerprint())
	require.NoError(t, err)
	require.Equal(t, b, p.Key)
	_, err = Find(list, "web1", "SHA256:0000000000000")
	require.ErrorContains(t, err, "the fingerprint does not match the request for web1")
	_, err = Find(list, "web2", "")
	require.ErrorIs(t, err, ErrNoRequest)
}

func FuzzDecodeRequest(f *testing.F) {
	pair, key := keyPair(f)
	text, _ := request(key).Encode(pair, nil)
	f.Add(text)
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := Decode(key, body); err == nil {
			require.Equal(t, key, r.Key)
		}
		_, _ = decodeAnswer(body)
		_, _ = ParseToken(string(body))
		_, _ = ReadTokens(body)
	})
}
