// Package signers verifies SSH signatures (ssh-keygen -Y sign) against an allowed_signers file (ssh-keygen(1),
// ALLOWED SIGNERS). The format of signatures is described in PROTOCOL.sshsig of OpenSSH.
//
// Begin with [Parse] and [List.Verify].
package signers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/runtime/diag"
)

// A List is the content of an allowed_signers file.
type List struct {
	file  string
	lines []line
}

// A line is one line of the file.
type line struct {
	number        int
	principals    string // comma-separated patterns
	key           ssh.PublicKey
	authority     bool   // the key is a certificate authority for signers
	namespaces    string // comma-separated patterns; "" for all
	after, before time.Time
}

// A Signer is the author of a signature.
type Signer struct {
	Principal   string // as in the file or the certificate
	Fingerprint string // fingerprint of the key
}

// String returns the principal and the fingerprint.
func (s Signer) String() string { return s.Principal + " (" + s.Fingerprint + ")" }

// Parse parses an allowed_signers file. Times without a Z are local times.
func Parse(file, text string) (*List, error) {
	l := &List{file: file}
	number := 0
	for row := range strings.Lines(text) {
		number++
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		x, err := parseLine(row)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		x.number = number
		l.lines = append(l.lines, x)
	}
	if len(l.lines) == 0 {
		return nil, diag.None("signers in %s", file)
	}
	return l, nil
}

func parseLine(row string) (x line, err error) {
	var rest string
	if quoted, ok := strings.CutPrefix(row, `"`); ok {
		x.principals, rest, ok = strings.Cut(quoted, `"`)
		if !ok {
			return x, diag.Unterminated("quote")
		}
	} else {
		at := strings.IndexAny(row, " \t")
		if at < 0 {
			return x, diag.Expected("a signer and a public key")
		}
		x.principals, rest = row[:at], row[at:]
	}
	if x.principals == "" {
		return x, diag.Expected("a signer and a public key")
	}
	key, _, options, more, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if err != nil || len(more) > 0 {
		return x, diag.Expected("a public key after the signer, such as ann@example.org ssh-ed25519 AAAA...")
	}
	x.key = key
	for _, option := range options {
		if err := x.option(option); err != nil {
			return x, err
		}
	}
	return x, nil
}

// option parses one option of a line.
func (x *line) option(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	value = strings.Trim(value, `"`)
	switch strings.ToLower(name) {
	case "cert-authority":
		x.authority = true
	case "namespaces":
		if x.namespaces = value; value == "" {
			err = fmt.Errorf("namespaces: %w", diag.Expected("at least one"))
		}
	case "valid-after":
		x.after, err = parseTime(value)
	case "valid-before":
		x.before, err = parseTime(value)
	default:
		err = diag.Unknown("option", name, nil)
	}
	return err
}

// parseTime parses a time as ssh-keygen does: YYYYMMDD or YYYYMMDDHHMM[SS], with a Z for UTC.
func parseTime(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(strings.ToUpper(text), "Z")
	where := time.Local
	if utc {
		where = time.UTC
	}
	layout, ok := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}[len(digits)]
	if ok {
		if t, err := time.ParseInLocation(layout, digits, where); err == nil {
			return t, nil
		}
	}
	return time.Time{}, diag.Expected("a time such as 20261231 or 202612312359Z").Got("%q", text)
}

// MaxSignature limits the size of a signature in bytes. It is enough for an RSA key of 16384 bits in a certificate.
const MaxSignature = 64 << 10

// Verify returns the signer of a message in a namespace, and an error if the signature is wrong or its key is not
// allowed at the time now. signature is armored, as ssh-keygen writes it.
func (l *List) Verify(message io.Reader, signature []byte, namespace string, now time.Time) (Signer, error) {
	sig, err := check(message, signature, namespace)
	if err != nil {
		return Signer{}, err
	}
	fingerprint := ssh.FingerprintSHA256(signingKey(sig.PublicKey))
	var reason error
	for _, x := range l.lines {
		principal, err := x.allows(sig.PublicKey, namespace, now)
		if err == nil {
			return Signer{Principal: principal, Fingerprint: fingerprint}, nil
		}
		if !errors.Is(err, errOther) {
			reason = fmt.Errorf("%s:%d: %w", l.file, x.number, err)
		}
	}
	if reason == nil {
		reason = diag.Not("", "in %s", l.file)
	}
	return Signer{}, diag.Not(fmt.Sprintf("signing key %s", fingerprint), "allowed: %w", reason)
}

// StillNames reports whether a list still has an earlier signer, given as the text of [Signer.String]: the key with
// the principal, or a certificate authority for the principal.
func (l *List) StillNames(signer string) bool {
	return slices.ContainsFunc(l.lines, func(x line) bool {
		if !x.authority {
			return signer == Signer{x.principals, ssh.FingerprintSHA256(x.key)}.String()
		}
		principal, _, _ := strings.Cut(signer, " (")
		return matchesList(x.principals, principal)
	})
}

// Check returns an error unless a signature is valid for the message and namespace, whoever made it.
func Check(message io.Reader, signature []byte, namespace string) error {
	_, err := check(message, signature, namespace)
	return err
}

// KeyOf returns the fingerprint of the key that has signed a message for the namespace, whoever has it.
func KeyOf(message io.Reader, signature []byte, namespace string) (fingerprint string, err error) {
	sig, err := check(message, signature, namespace)
	if err != nil {
		return "", err
	}
	return ssh.FingerprintSHA256(signingKey(sig.PublicKey)), nil
}

func check(message io.Reader, signature []byte, namespace string) (*sshsig.Signature, error) {
	if len(signature) > MaxSignature {
		return nil, diag.Exceeds("signature", "%d bytes", MaxSignature)
	}
	sig, err := sshsig.Unarmor(signature)
	if err != nil {
		return nil, diag.Not("", "a signature of ssh-keygen -Y sign")
	}
	if sig.Signature.Format == ssh.KeyAlgoRSA { // this format means RSA with SHA-1
		return nil, diag.Expected("a signature with SHA-256 or SHA-512").Got("one with SHA-1, which is insecure")
	}
	switch err := sshsig.Verify(message, sig, sig.PublicKey, sig.HashAlgorithm, namespace); {
	case errors.Is(err, sshsig.ErrNamespaceMismatch):
		return nil, diag.Expected("a signature for namespace %q", namespace).Got("one for %q (ssh-keygen -Y sign -n %s)", sig.Namespace, namespace)
	case err != nil:
		return nil, diag.Mismatch("signature", "the content")
	}
	return sig, nil
}

// signingKey returns the key of a certificate, or the key itself.
func signingKey(key ssh.PublicKey) ssh.PublicKey {
	if c, ok := key.(*ssh.Certificate); ok {
		return c.Key
	}
	return key
}

// errOther is returned for a line with another key.
var errOther = diag.OfAnother("it", "key")

// allows returns the principal for whom a key may sign according to this line.
func (x *line) allows(key ssh.PublicKey, namespace string, now time.Time) (principal string, err error) {
	c, certified := key.(*ssh.Certificate)
	switch {
	case certified != x.authority:
		return "", errOther
	case certified && !bytes.Equal(c.SignatureKey.Marshal(), x.key.Marshal()):
		return "", errOther
	case !certified && !bytes.Equal(key.Marshal(), x.key.Marshal()):
		return "", errOther
	case x.namespaces != "" && !matchesList(x.namespaces, namespace):
		return "", diag.SubjectCannot("it", "sign for the namespace %s, only for %s", namespace, x.namespaces)
	case !x.after.IsZero() && now.Before(x.after):
		return "", diag.Not("it", "valid before %s", x.after.Format(time.RFC3339))
	case !x.before.IsZero() && now.After(x.before):
		return "", fmt.Errorf("expired at %s", x.before.Format(time.RFC3339))
	case !certified:
		return x.principals, nil
	}
	checker := ssh.CertChecker{Clock: func() time.Time { return now }}
	err = diag.Lacks("certificate", "principals")
	for _, name := range c.ValidPrincipals {
		if !matchesList(x.principals, name) {
			continue
		}
		if c.CertType != ssh.UserCert {
			return "", diag.Expected("a certificate of a user").Got("one of a host")
		}
		if err = checker.CheckCert(name, c); err == nil {
			return name, nil
		}
	}
	return "", err
}

// matchesList reports whether a text matches comma-separated patterns: one of them must match, and none with a ! in
// front. * stands for any text and ? for any character (PATTERNS in ssh_config(5)).
func matchesList(patterns, text string) bool {
	found := false
	for p := range strings.SplitSeq(patterns, ",") {
		p, not := strings.CutPrefix(p, "!")
		if matches(p, text) {
			if not {
				return false
			}
			found = true
		}
	}
	return found
}

// matches is matchesList for one pattern.
func matches(pattern, text string) bool {
	star, from, at := -1, 0, 0 // last *, start of the text that it matched, current position
	for i := 0; ; {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, from = i, at
			i++
		case at == len(text):
			return i == len(pattern)
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == text[at]):
			i, at = i+1, at+1
		case star < 0:
			return false
		default: // let the last * match one more byte
			from++
			i, at = star+1, from
		}
	}
}
