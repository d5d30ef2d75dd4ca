package signed_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/signers"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// A keyring has keys in a directory. They are derived from fixed seeds, so they are the same in each run.
type keyring struct {
	t   testing.TB
	dir string
}

func (k keyring) key(name string) signers.Key { return signers.Key{File: filepath.Join(k.dir, name)} }

// make makes a key pair and returns the public key.
func (k keyring) make(name string) string {
	seed := bytes.Repeat([]byte{name[0]}, ed25519.SeedSize)
	private := ed25519.NewKeyFromSeed(seed)
	block, err := ssh.MarshalPrivateKey(private, name)
	require.NoError(k.t, err)
	require.NoError(k.t, os.WriteFile(filepath.Join(k.dir, name), pem.EncodeToMemory(block), 0o600))
	public, err := ssh.NewPublicKey(private.Public())
	require.NoError(k.t, err)
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
}

// trust returns the trusted signers of a node in prod, from lines in which NAME stands for its public key.
func (k keyring) trust(lines ...string) *signed.Trust {
	var text strings.Builder
	for _, line := range lines {
		at := strings.LastIndex(line, " ")
		fmt.Fprintf(&text, "%s %s\n", line[:at], k.make(line[at+1:]))
	}
	list, err := signers.Parse("allowed_signers", text.String())
	require.NoError(k.t, err)
	return &signed.Trust{Environment: "prod", Signers: list}
}

func newKeyring(t testing.TB) keyring { return keyring{t, t.TempDir()} }

func release() *signed.Release {
	share, _ := signed.ParseShare("2%")
	return &signed.Release{
		Header:  signed.Header{Environment: "prod", CreateTime: now, Expires: now.AddDate(0, 3, 0)},
		Version: 42, Previous: 41, Bundle: "sha256:" + strings.Repeat("9f", 32),
		Stages: []string{`labels.role == "canary"`, "1%", "10%", "100%"}, Soak: signed.Duration(10 * time.Minute), MaxFailed: share, MaxSilent: share,
	}
}

func job() *signed.Job {
	nodes := []string{"web1", "web2"}
	return &signed.Job{
		Header: signed.Header{Environment: "prod", CreateTime: now, Expires: now.Add(15 * time.Minute)},
		ID:     "01KB3ZZZZZ0000000000000000", Verb: signed.VerbRun, Nodes: nodes, Name: signed.SetDigest(nodes), Count: 2, Reason: "CVE-2026-1234",
	}
}

func sign(t testing.TB, doc signed.Document, keys ...signers.Key) []byte {
	t.Helper()
	text, err := signed.Sign(context.Background(), doc, keys[0])
	require.NoError(t, err)
	for _, key := range keys[1:] {
		text, err = signed.AddSignature(context.Background(), text, &signed.Release{}, key)
		require.NoError(t, err)
	}
	return text
}

// A signed document is read unchanged.
func TestOpen(t *testing.T) {
	k := newKeyring(t)
	trust := k.trust("ann@example.org ann")
	want := release()
	text := sign(t, want, k.key("ann"))
	var got signed.Release
	who, err := trust.Open(text, now, &got)
	require.NoError(t, err)
	require.Equal(t, "ann@example.org", who[0].Principal)
	require.Equal(t, want, &got)

	var j signed.Job
	_, err = trust.Open(sign(t, job(), k.key("ann")), now, &j)
	require.NoError(t, err)
	require.Equal(t, job().ID, j.ID)
}

// Signatures are interchangeable with those of ssh-keygen.
func TestWithSSHKeygen(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("needs ssh-keygen")
	}
	k := newKeyring(t)
	trust := k.trust("ann@example.org ann")
	text := sign(t, release(), k.key("ann"))
	payload, err := signed.Payload(text)
	require.NoError(t, err)
	allowed, sig := filepath.Join(k.dir, "allowed"), filepath.Join(k.dir, "doc.sig")
	require.NoError(t, os.WriteFile(allowed, []byte("ann@example.org "+k.make("ann")+"\n"), 0o600))
	require.NoError(t, os.WriteFile(sig, text[len(payload):], 0o600))
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "ann@example.org", "-n", "ccm-release", "-s", sig)
	cmd.Stdin = bytes.NewReader(payload)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)

	cmd = exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", filepath.Join(k.dir, "ann"), "-n", "ccm-release")
	cmd.Stdin = bytes.NewReader(payload)
	signature, err := cmd.Output()
	require.NoError(t, err)
	_, err = trust.Open(append(payload[:len(payload):len(payload)], signature...), now, &signed.Release{})
	require.NoError(t, err)
}

// A document that nodes must not trust is refused, with the right reason.
func TestRefused(t *testing.T) {
	k := newKeyring(t)
	usual := k.trust("ann@example.org ann", "bob@example.org bob")
	two := *usual
	two.Threshold = 2
	good := sign(t, release(), k.key("ann"))
	payload, err := signed.Payload(good)
	require.NoError(t, err)
	signature := good[len(payload):]
	// with signs any text as a release.
	with := func(payload string) []byte {
		s, err := k.key("ann").Sign(context.Background(), strings.NewReader(payload), "ccm-release")
		require.NoError(t, err)
		return append([]byte(payload), s...)
	}
	changed := func(from, to string) []byte { return with(strings.Replace(string(payload), from, to, 1)) }
	test := release()
	test.Environment = "test"
	k.make("mallory")
	twoOfAnn := k.trust("ann@example.org ann", "ann@example.org bob")
	twoOfAnn.Threshold = 2

	for name, x := range map[string]struct {
		trust  *signed.Trust
		text   []byte
		doc    signed.Document
		reason signed.Reason
		says   string
	}{
		"empty":                     {text: nil, reason: signed.Malformed, says: "no signature"},
		"without a signature":       {text: payload, reason: signed.Malformed, says: "no signature"},
		"another kind":              {text: good, doc: &signed.Job{}, reason: signed.SignatureRefused, says: `expected a signature for namespace "ccm-job", got one for "ccm-release"`},
		"a job as a release":        {text: sign(t, job(), k.key("ann")), reason: signed.SignatureRefused, says: `expected a signature for namespace "ccm-release", got one for "ccm-job"`},
		"protocol of another":       {text: changed("v1.release", "v1.job"), reason: signed.WrongKind, says: "v1.job"},
		"another environment":       {text: sign(t, test, k.key("ann")), reason: signed.WrongEnvironment, says: `for the environment "test", this node is in "prod"`},
		"unknown signer":            {text: sign(t, release(), k.key("mallory")), reason: signed.SignatureRefused, says: "is not allowed: not in allowed_signers"},
		"one unknown of two":        {text: sign(t, release(), k.key("ann"), k.key("mallory")), reason: signed.SignatureRefused, says: "is not allowed: not in allowed_signers"},
		"signer expired":            {trust: k.trust(`ann@example.org valid-before="20261101Z" ann`), text: good, reason: signed.SignatureRefused, says: "expired at"},
		"signer not yet valid":      {trust: k.trust(`ann@example.org valid-after="20270101Z" ann`), text: good, reason: signed.SignatureRefused, says: "not valid before"},
		"signer of others":          {trust: k.trust(`ann@example.org namespaces="ccm-job" ann`), text: good, reason: signed.SignatureRefused, says: "only for ccm-job"},
		"thresholsigned by d short": {trust: &two, text: good, reason: signed.ThresholdShort, says: "1 of the signers, 2 required"},
		"one signer twice":          {trust: &two, text: append(bytes.Clone(good), signature...), reason: signed.ThresholdShort, says: "1 of the signers"},
		"two keys of one":           {trust: twoOfAnn, text: sign(t, release(), k.key("ann"), k.key("bob")), reason: signed.ThresholdShort, says: "1 of the signers"},
		"17 signatures":             {text: append(bytes.Clone(good), bytes.Repeat(signature, 16)...), reason: signed.Malformed, says: "more than 16"},
		"10 MiB":                    {text: append(bytes.Repeat([]byte(" "), 10<<20), good...), reason: signed.Malformed, says: "the limit is 65536"},
		"behind signatures":         {text: append(bytes.Clone(good), "more"...), reason: signed.Malformed, says: "text after the signatures"},
		"deep":                      {text: with(strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n"), reason: signed.Malformed, says: "limit of 6 levels"},
		"duplicate key":             {text: changed(`"version":42`, `"version":42,"version":43`), reason: signed.Malformed, says: `duplicate key "version"`},
		"other spelling":            {text: changed(`"version":42`, `"version":42,"Version":43`), reason: signed.Malformed, says: `unknown key "Version"`},
		"fold of Unicode":           {text: changed(`"version":42`, `"version":42,"ver\u017fion":43`), reason: signed.Malformed, says: "unknown key"},
		"unknown key":               {text: changed(`"version":42`, `"version":42,"more":1`), reason: signed.Malformed, says: `unknown field "more"`},
		"two values":                {text: with(string(payload) + "{}\n"), reason: signed.Malformed, says: "unexpected text at the end"},
		"no UTF-8":                  {text: changed("canary", "c\xff"), reason: signed.Malformed, says: "UTF-8"},
		"null":                      {text: with("null\n"), reason: signed.WrongKind},
		"list":                      {text: with("[]\n"), reason: signed.Malformed},
		"no version":                {text: changed(`"version":42`, `"version":0`), reason: signed.Malformed, says: "version"},
		"negative version":          {text: changed(`"version":42`, `"version":-1`), reason: signed.Malformed},
		"no digest":                 {text: changed("sha256:9f", "sha256:9g"), reason: signed.Malformed, says: "bundle"},
		"path as a digest":          {text: changed("sha256:9f", "sha256:.."), reason: signed.Malformed, says: "bundle"},
		"last stage":                {text: changed(`,"100%"]`, `]`), reason: signed.Malformed, says: "expected 100% as the last stage"},
		"stages that shrink":        {text: changed(`"10%"`, `"0.5%"`), reason: signed.Malformed, says: "must be higher than the stage before it"},
		"no expiry":                 {text: changed(`"expires":"2027-02-23T12:00:00Z"`, `"expires":"2026-11-23T12:00:00Z"`), reason: signed.Malformed, says: "expiry"},
	} {
		t.Run(name, func(t *testing.T) {
			trust, doc := x.trust, x.doc
			if trust == nil {
				trust = usual
			}
			if doc == nil {
				doc = new(signed.Release)
			}
			_, err := trust.Open(x.text, now, doc)
			require.ErrorContains(t, err, x.says)
			require.Equal(t, x.reason, signed.ReasonOf(err), "%v", err)
		})
	}
}

// A change of any byte of a document is refused, and so is a cut at any place.
func TestDamaged(t *testing.T) {
	k := newKeyring(t)
	trust := k.trust("ann@example.org ann")
	good := sign(t, release(), k.key("ann"))
	for i := range good {
		for _, bit := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			_, err := trust.Open(bad, now, new(signed.Release))
			require.NotEmpty(t, signed.ReasonOf(err), "byte %d (%q) changed by %#x", i, good[i], bit)
		}
		_, err := trust.Open(good[:i], now, new(signed.Release))
		require.NotEmpty(t, signed.ReasonOf(err), "cut at %d", i)
	}
}

// A version must be higher than the highest one seen.
func TestNewer(t *testing.T) {
	require.NoError(t, signed.Newer(43, 42))
	for _, v := range []int64{42, 41} {
		require.Equal(t, signed.RollbackRefused, signed.ReasonOf(signed.Newer(v, 42)))
	}
}

// A job is accepted between its times, with a tolerance of five minutes, even if the clock is behind.
func TestJobTimes(t *testing.T) {
	j := job()
	for name, x := range map[string]struct {
		clock, newest time.Time
		want          signed.Reason
	}{
		"in time":                       {clock: now.Add(time.Minute)},
		"clock four minutes behind":     {clock: now.Add(-4 * time.Minute)},
		"clock a day behind":            {clock: now.AddDate(0, 0, -1), want: signed.ClockSkew},
		"just over":                     {clock: now.Add(19 * time.Minute)},
		"over":                          {clock: now.Add(21 * time.Minute), want: signed.Expired},
		"clock a day ahead":             {clock: now.AddDate(0, 0, 1), want: signed.Expired},
		"1970, and newer things seen":   {clock: time.Unix(0, 0), newest: now.Add(time.Hour), want: signed.Expired},
		"1970, and nothing newer seen":  {clock: time.Unix(0, 0), newest: now.Add(-time.Minute)},
		"1970, and nothing seen at all": {clock: time.Unix(0, 0), want: signed.ClockSkew},
	} {
		tm := signed.Time{Clock: func() time.Time { return x.clock }, Newest: x.newest}
		require.Equal(t, x.want, signed.ReasonOf(j.Check(tm.Now())), name)
	}
	r := release()
	require.NoError(t, r.Begins(now.AddDate(0, 2, 0)))
	require.Equal(t, signed.Expired, signed.ReasonOf(r.Begins(now.AddDate(0, 4, 0))))
}

// The set of nodes of a job cannot be replaced by another set.
func TestJobSet(t *testing.T) {
	k := newKeyring(t)
	j := job()
	require.NoError(t, j.Means("web1", nil))
	require.Equal(t, signed.NotMeant, signed.ReasonOf(j.Means("web3", nil)))
	j.Name = signed.SetDigest([]string{"web1"})
	_, err := signed.Sign(context.Background(), j, k.key("ann"))
	require.ErrorContains(t, err, "not the digest of the nodes")

	j.Nodes, j.Condition = nil, "role == 'web'"
	require.NoError(t, j.Means("web9", func(c string) (bool, error) { return c == j.Condition, nil }))
	require.Equal(t, signed.NotMeant, signed.ReasonOf(j.Means("db1", func(string) (bool, error) { return false, nil })))
}

// Later stages include earlier ones, each release begins with other nodes, and the shares are close to the
// percentages.
func TestStages(t *testing.T) {
	r := release()
	no := func(string) (bool, error) { return false, nil }
	counts := make([]int, len(r.Stages))
	other := release()
	other.Version = 43
	both := 0
	for i := range 10000 {
		node := fmt.Sprintf("node%05d", i)
		counts[r.StageOf(node, no)]++
		require.False(t, r.InPercent(node, 1) && !r.InPercent(node, 10))
		if r.InPercent(node, 10) && other.InPercent(node, 10) {
			both++
		}
	}
	require.InDelta(t, 100, counts[1], 40)
	require.InDelta(t, 900, counts[2], 120)
	require.Equal(t, 0, counts[0])
	require.InDelta(t, 100, both, 50)
	require.Equal(t, 0, r.StageOf("node1", func(c string) (bool, error) { return c == r.Stages[0], nil }))
}

// Shares and durations are written as they were read.
func TestValues(t *testing.T) {
	for text, of := range map[string]int{"0": 0, "3": 3, "2%": 18, "0.5%": 4, "100%": 912} {
		s, err := signed.ParseShare(text)
		require.NoError(t, err)
		require.Equal(t, text, s.String())
		require.Equal(t, of, s.Of(912))
	}
	for _, text := range []string{"", "-1", "%", "101%", "NaN%", "1e1%", "x"} {
		_, err := signed.ParseShare(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{"10m", "1h", "1h30m", "90s"} {
		var d signed.Duration
		require.NoError(t, d.UnmarshalText([]byte(text)))
		require.Equal(t, map[string]string{"90s": "1m30s"}[text]+strings.TrimPrefix(text, "90s"), d.String())
	}
}

// No text without a valid signature is accepted, and none causes a panic.
func FuzzSigned(f *testing.F) {
	k := newKeyring(f)
	trust := k.trust("ann@example.org ann")
	good := sign(f, release(), k.key("ann"))
	for _, seed := range [][]byte{good, sign(f, job(), k.key("ann")), good[:len(good)-40], nil, []byte("{}\n-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n")} {
		f.Add(seed)
	}
	payload, err := signed.Payload(good)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		var r signed.Release
		if _, err := trust.Open(text, now, &r); err == nil {
			got, _ := signed.Payload(text)
			require.Equal(t, payload, got)
		} else {
			require.NotEmpty(t, signed.ReasonOf(err), "%v", err)
		}
		_ = signed.Read(text, new(signed.Job))
		_ = signed.Read(text, new(signed.Signers))
		_ = signed.Read(text, new(signed.Rollout))
	})
}
