package enrol

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// A Token approves a machine without a person: for images, and for cloud-init. Its secret is never
// sent, so that a server cannot use the token.
type Token struct {
	ID          string    `json:"id"`
	Secret      []byte    `json:"secret"`
	Name        string    `json:"name"` // pattern of names, for path.Match
	Environment string    `json:"environment"`
	Uses        int       `json:"uses"`
	Expires     time.Time `json:"expires"`
	Tags        []string  `json:"tags,omitempty"`
}

var tokenEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewToken makes a token.
func NewToken(t Token) (Token, error) {
	if err := subject.CheckName("environment", t.Environment); err != nil {
		return t, err
	}
	if _, err := path.Match(t.Name, "x"); err != nil || t.Name == "" {
		return t, diag.Expected("a pattern of names such as 'web*'").Got("%q", t.Name)
	}
	if t.Uses < 1 {
		return t, diag.Expected("at least one use").Got("%d", t.Uses)
	}
	for _, tag := range t.Tags {
		if err := identity.CheckTag(tag); err != nil {
			return t, err
		}
	}
	id := make([]byte, 10)
	t.Secret = make([]byte, 20)
	_, _ = rand.Read(id) // it never fails (Go 1.24)
	_, _ = rand.Read(t.Secret)
	t.ID = strings.ToLower(tokenEncoding.EncodeToString(id))
	return t, nil
}

// String returns the token in the form for a machine.
func (t Token) String() string {
	return t.ID + "." + strings.ToLower(tokenEncoding.EncodeToString(t.Secret))
}

// ParseToken parses the form of String.
func ParseToken(text string) (*Token, error) {
	id, secret, ok := strings.Cut(strings.TrimSpace(text), ".")
	bytes, err := tokenEncoding.DecodeString(strings.ToUpper(secret))
	if !ok || err != nil || len(bytes) != 20 || !isTokenID(id) {
		return nil, diag.Expected("a token as printed by ccm fleet enrol token")
	}
	t := &Token{ID: id, Secret: bytes}
	if t.String() != strings.TrimSpace(text) { // base 32 has several forms of the same bytes
		return nil, diag.Expected("a token in lower case, as printed by ccm fleet enrol token")
	}
	return t, nil
}

func isTokenID(s string) bool {
	b, err := tokenEncoding.DecodeString(strings.ToUpper(s))
	return err == nil && len(b) == 10 && s == strings.ToLower(s)
}

// proof returns the evidence that the author of a text has the secret.
func (t *Token) proof(text []byte) []byte {
	h := hmac.New(sha256.New, t.Secret)
	h.Write([]byte("ccm enrolment token\n"))
	h.Write(text)
	return h.Sum(nil)
}

// allows returns why a token may not approve a request, nil if it may.
func (t *Token) allows(r *SignedRequest, now time.Time) error {
	switch ok, _ := path.Match(t.Name, r.Name); {
	case !r.Proves(t):
		return diag.Invalid("proof", nil)
	case !ok:
		return diag.AppliesOnly("", "nodes named %s", t.Name)
	case t.Environment != r.Environment:
		return diag.AppliesOnly("", "the environment %s", t.Environment)
	case now.After(t.Expires):
		return fmt.Errorf("expired at %s", t.Expires.Format(time.RFC3339))
	}
	return nil
}

// ReadTokens reads a file with one token per line, as JSON.
func ReadTokens(text []byte) ([]Token, error) {
	var list []Token
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		var t Token
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if !isTokenID(t.ID) || len(t.Secret) != 20 {
			return nil, fmt.Errorf("line %d: %w", number, diag.Not("", "a token"))
		}
		list = append(list, t)
	}
	return list, nil
}

// uses is the record of a token's uses, with its keys. It is stored with the answers, and replaced
// only if unchanged since it was read, so that two desks count each other's uses.
type uses struct {
	Protocol string   `json:"protocol"`
	Keys     []string `json:"keys"`
	// Revoked are keys that were revoked: the token does not make them nodes again.
	Revoked []string `json:"revoked,omitempty"`
}

const usesProtocol = "io.choria.ccm.v1.enrol.token"
