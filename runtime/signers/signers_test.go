package signers_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/test/tally"
)

func keygen(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("needs ssh-keygen")
	}
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%v: %s", args, &errs)
	return out.String()
}

// newKey makes a key pair and returns the public key.
func newKey(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	if args == nil {
		args = []string{"-t", "ed25519"}
	}
	keygen(t, dir, "", append(args, "-N", "", "-q", "-C", name, "-f", name)...)
	text, err := os.ReadFile(filepath.Join(dir, name+".pub"))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

const namespace, message = "ccm-bundle", "what is signed"

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// TestVerify: signatures are accepted and refused exactly as by ssh-keygen -Y verify.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	ann, bob := newKey(t, dir, "ann"), newKey(t, dir, "bob", "-t", "rsa", "-b", "2048")
	ec := newKey(t, dir, "ec", "-t", "ecdsa")
	sign := func(key, namespace string) []byte {
		return []byte(keygen(t, dir, message, "-Y", "sign", "-f", key, "-n", namespace))
	}
	byAnn, byBob, byEC := sign("ann", namespace), sign("bob", namespace), sign("ec", namespace)
	for name, x := range map[string]struct {
		signers   string
		signature []byte
		want      string // the signer, or the end of the error
	}{
		"ed25519":              {"ann@example.org " + ann, byAnn, "ann@example.org"},
		"rsa":                  {"bob@example.org " + bob, byBob, "bob@example.org"},
		"ecdsa":                {"ec " + ec, byEC, "ec"},
		"the second line":      {"# who\n\nbob " + bob + "\nann,anna " + ann, byAnn, "ann,anna"},
		"a quoted name":        {`"ann and more" ` + ann, byAnn, "ann and more"},
		"in the namespace":     {`ann namespaces="git,ccm-bundle" ` + ann, byAnn, "ann"},
		"by a pattern":         {`ann namespaces="git,ccm-*" ` + ann, byAnn, "ann"},
		"not in the pattern":   {`ann namespaces="ccm-*,!ccm-bundle" ` + ann, byAnn, "it cannot sign for the namespace ccm-bundle, only for ccm-*,!ccm-bundle"},
		"not in it":            {`ann namespaces="git" ` + ann, byAnn, "signers:1: it cannot sign for the namespace ccm-bundle, only for git"},
		"valid":                {`ann valid-after="20200101",valid-before="20300101Z" ` + ann, byAnn, "ann"},
		"not yet":              {`ann valid-after="20270101Z" ` + ann, byAnn, "it is not valid before 2027-01-01T00:00:00Z"},
		"no more":              {`ann valid-before="202611231159Z" ` + ann, byAnn, "expired at 2026-11-23T11:59:00Z"},
		"at that second":       {`ann valid-after="20261123120000Z",valid-before="20261123120000Z" ` + ann, byAnn, "ann"},
		"expired, and renewed": {`ann valid-before="20200101Z" ` + ann + "\nann2 " + ann, byAnn, "ann2"},
		"somebody else":        {"bob " + bob, byAnn, "is not allowed: not in signers"},
		"another namespace":    {"ann " + ann, sign("ann", "file"), `expected a signature for namespace "ccm-bundle", got one for "file" (ssh-keygen -Y sign -n ccm-bundle)`},
		"another text":         {"ann " + ann, []byte(keygen(t, dir, message+".", "-Y", "sign", "-f", "ann", "-n", namespace)), "signature does not match the content"},
		"no signature":         {"ann " + ann, []byte("hello"), "not a signature of ssh-keygen -Y sign"},
		"empty":                {"ann " + ann, nil, "not a signature of ssh-keygen -Y sign"},
		"long":                 {"ann " + ann, make([]byte, signers.MaxSignature+1), "signature exceeds the limit of"},
		"an authority's own":   {"ann cert-authority " + ann, byAnn, "is not allowed: not in signers"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := signers.Parse("signers", x.signers)
			require.NoError(t, err)
			who, err := list.Verify(strings.NewReader(message), x.signature, namespace, now)
			if err != nil {
				require.ErrorContains(t, err, x.want)
				return
			}
			require.Equal(t, x.want, who.Principal)
			require.Contains(t, who.Fingerprint, "SHA256:")
		})
	}
}

// TestCertificates: a certificate may sign if the file has its authority.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, other := newKey(t, dir, "ca"), newKey(t, dir, "other")
	newKey(t, dir, "ann")
	keygen(t, dir, "", "-q", "-s", "ca", "-I", "id", "-n", "ann@example.org", "-V", "20260101:20270101", "ann.pub")
	signature := []byte(keygen(t, dir, message, "-Y", "sign", "-f", "ann-cert.pub", "-n", namespace))
	for name, x := range map[string]struct {
		signers string
		at      time.Time
		want    string
	}{
		"its authority":     {"*@example.org cert-authority " + ca, now, "ann@example.org"},
		"another one":       {"*@example.org cert-authority " + other, now, "is not allowed: not in signers"},
		"no authority":      {"*@example.org " + ca, now, "is not allowed: not in signers"},
		"another principal": {"*@example.net cert-authority " + ca, now, "certificate lacks principals"},
		"expired":           {"* cert-authority " + ca, now.AddDate(1, 0, 0), "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := signers.Parse("signers", x.signers)
			require.NoError(t, err)
			who, err := list.Verify(strings.NewReader(message), signature, namespace, x.at)
			if err != nil {
				require.ErrorContains(t, err, x.want)
				return
			}
			require.Equal(t, x.want, who.Principal)
		})
	}
}

func TestMistakesInTheFile(t *testing.T) {
	key := newKey(t, t.TempDir(), "key")
	for text, want := range map[string]string{
		"":                                  "no signers in signers",
		"# nobody\n":                        "no signers in signers",
		"ann":                               "signers:1: expected a signer and a public key",
		"\nann hello":                       "signers:2: expected a public key after the signer, such as ann@example.org ssh-ed25519 AAAA...",
		"ann ssh-ed25519 AAAA":              "signers:1: expected a public key",
		`"ann ` + key:                       "unterminated quote",
		"ann verify-required " + key:        `unknown option "verify-required"`,
		"ann namespaces=\"\" " + key:        "namespaces: expected at least one",
		"ann valid-after=\"2026\" " + key:   `expected a time such as 20261231 or 202612312359Z, got "2026"`,
		"ann valid-before=20261301Z " + key: `expected a time such as`,
	} {
		_, err := signers.Parse("signers", text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestTampered: a change of any byte of the signature or the message is refused.
func TestTampered(t *testing.T) {
	tries := tally.Of(t, "signatures and signed texts with another byte at each place", "refused, or the signature is the same")
	dir := t.TempDir()
	list, err := signers.Parse("signers", "ann "+newKey(t, dir, "ann"))
	require.NoError(t, err)
	good := []byte(keygen(t, dir, message, "-Y", "sign", "-f", "ann", "-n", namespace))
	taken := 0
	for i := range good {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			tries.Add(1)
			changed := bytes.Clone(good)
			changed[i] ^= flip
			if _, err := list.Verify(strings.NewReader(message), changed, namespace, now); err == nil {
				taken++ // other white space around the same bytes
			}
			tries.Add(1)
			_, err := list.Verify(strings.NewReader(message), good[:i], namespace, now)
			if i < len(good)-1 {
				require.Error(t, err, "cut at %d", i)
			}
		}
	}
	require.Less(t, taken, 30)
	for i := range message {
		tries.Add(1)
		changed := []byte(message)
		changed[i] ^= 1
		_, err := list.Verify(bytes.NewReader(changed), good, namespace, now)
		require.ErrorContains(t, err, "signature does not match the content")
	}
}

func FuzzParse(f *testing.F) {
	key := newKey(f, f.TempDir(), "key")
	f.Add("ann " + key)
	f.Add(`"a b" namespaces="git,!x",valid-after="20200101",cert-authority ` + key)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := signers.Parse("signers", text)
		if err != nil {
			return
		}
		_, err = list.Verify(strings.NewReader(message), []byte(text), namespace, now)
		require.Error(t, err)
	})
}

func FuzzSignature(f *testing.F) {
	dir := f.TempDir()
	list, err := signers.Parse("signers", "ann "+newKey(f, dir, "ann"))
	require.NoError(f, err)
	newKey(f, dir, "bob")
	for _, who := range []string{"bob"} {
		f.Add([]byte(keygen(f, dir, message, "-Y", "sign", "-f", who, "-n", namespace)))
	}
	f.Fuzz(func(t *testing.T, signature []byte) {
		_, err := list.Verify(strings.NewReader(message), signature, namespace, now)
		require.Error(t, err, "nobody has this key")
	})
}
