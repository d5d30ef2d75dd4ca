// Package enrol makes a machine a node of a fleet. The machine makes a key that never leaves it,
// and sends a request with a name; an operator compares fingerprints and answers with a JWT for
// that key. [Machine] is the machine's side, [Desk] the operator's.
package enrol

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/tidwall/gjson"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// Protocols of the documents. The first one begins the signed text of a request: a node's key also
// signs the servers' challenges, and no challenge begins so.
const (
	requestProtocol = "io.choria.ccm.v1.enrol.request"
	answerProtocol  = "io.choria.ccm.v1.enrol.answer"
	signedPrefix    = "ccm enrolment request\n"
)

// maxRequest is the most bytes of a request, equal to the limit of the stream.
const maxRequest = 4 << 10

// A Request has a machine's claims about itself. Proven is only that its author has the key.
type Request struct {
	Protocol    string    `json:"protocol"`
	Name        string    `json:"name"`
	Environment string    `json:"environment"`
	Key         string    `json:"key"`       // public key of the node
	Recipient   string    `json:"recipient"` // of age
	HostKey     string    `json:"host_key,omitempty"`
	Host        string    `json:"host,omitempty"` // full host name
	Machine     string    `json:"machine_id,omitempty"`
	Address     string    `json:"address,omitempty"`
	Version     string    `json:"version"` // of ccm
	Time        time.Time `json:"time"`
	Token       string    `json:"token,omitempty"` // id of the token whose secret is proven
}

// Fingerprint returns the text that a person compares. It covers the key and the recipient of
// secrets, so that nobody on the way can exchange one of them.
func Fingerprint(key, recipient string) string {
	sum := sha256.Sum256([]byte("ccm node\n" + key + "\n" + recipient))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Fingerprint returns the fingerprint of a request.
func (r *Request) Fingerprint() string { return Fingerprint(r.Key, r.Recipient) }

// Encode returns the request in a line of JSON, a line with the key's signature, and with a token a
// line with its proof.
func (r Request) Encode(pair nkeys.KeyPair, token *Token) ([]byte, error) {
	r.Protocol = requestProtocol
	if token != nil {
		r.Token = token.ID
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	signature, err := pair.Sign(append([]byte(signedPrefix), text...))
	if err != nil {
		return nil, err
	}
	out := append(text, '\n')
	out = append(out, base64.StdEncoding.EncodeToString(signature)...)
	out = append(out, '\n')
	if token != nil {
		out = append(out, base64.StdEncoding.EncodeToString(token.proof(text))...)
		out = append(out, '\n')
	}
	if len(out) > maxRequest {
		return nil, diag.Exceeds("the request", "%d bytes, got %d", maxRequest, len(out))
	}
	return out, nil
}

// A SignedRequest is a request with a valid signature of its key.
type SignedRequest struct {
	Request
	text, proof []byte
	Sequence    uint64
	StoredAt    time.Time // by the servers' clock
}

// errUnsigned says that a request has no valid signature of its key.
var errUnsigned = diag.Not("", "signed by the key of its subject")

// Decode reads a request that was stored under a key. A request without that key's signature is an
// error.
func Decode(key string, body []byte) (*SignedRequest, error) {
	if len(body) > maxRequest {
		return nil, diag.Exceeds("request", "%d bytes, got %d", maxRequest, len(body))
	}
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	if len(lines) != 2 && len(lines) != 3 {
		return nil, errUnsigned
	}
	signature, err := base64.StdEncoding.DecodeString(string(lines[1]))
	if err != nil || !nkeys.IsValidPublicUserKey(key) {
		return nil, errUnsigned
	}
	pair, err := nkeys.FromPublicKey(key)
	if err != nil || pair.Verify(append([]byte(signedPrefix), lines[0]...), signature) != nil {
		return nil, errUnsigned
	}
	r := &SignedRequest{text: lines[0]}
	if err := json.Unmarshal(lines[0], &r.Request); err != nil {
		return nil, err
	}
	switch {
	case r.Protocol != requestProtocol:
		return nil, diag.Expected("the protocol %s", requestProtocol).Got("%q", r.Protocol)
	case r.Key != key:
		return nil, errUnsigned
	}
	if err := errors.Join(subject.CheckName("node", r.Name), subject.CheckName("environment", r.Environment)); err != nil {
		return nil, err
	}
	if len(lines) == 3 {
		if r.proof, err = base64.StdEncoding.DecodeString(string(lines[2])); err != nil {
			return nil, diag.Not("the proof of the token", "a valid proof")
		}
	}
	return r, nil
}

// Proves reports whether the author of the request had a token.
func (r *SignedRequest) Proves(t *Token) bool {
	return r.Token == t.ID && hmac.Equal(r.proof, t.proof(r.text))
}

// An answer is an operator's answer to a request.
type answer struct {
	Protocol string `json:"protocol"`
	JWT      string `json:"jwt,omitempty"`
	Denial   string `json:"denied,omitempty"` // reason of a denial
	// RevokedAt is when the node was revoked, for readers without the account's list.
	RevokedAt time.Time `json:"revoked,omitzero"`
}

func (a answer) encode() ([]byte, error) {
	a.Protocol = answerProtocol
	return json.Marshal(a)
}

func decodeAnswer(text []byte) (answer, error) {
	var a answer
	if !gjson.ValidBytes(text) {
		return a, diag.Expected("JSON")
	}
	var err error
	// gjson, because decoding with encoding/json takes half the time of a query about thousands of nodes.
	gjson.ParseBytes(text).ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "protocol":
			a.Protocol = value.Str
		case "jwt":
			a.JWT = value.Str
		case "denied":
			a.Denial = value.Str
		case "revoked":
			a.RevokedAt, err = time.Parse(time.RFC3339, value.Str)
		}
		return err == nil
	})
	if err != nil {
		return a, err
	}
	if a.Protocol != answerProtocol {
		return a, diag.Expected("the protocol %s", answerProtocol).Got("%q", a.Protocol)
	}
	return a, nil
}

// keyOf returns the key at the end of a subject.
func keyOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
