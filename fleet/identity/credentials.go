package identity

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// Names of the tags of a node's JWT that ccm uses. All others belong to the operators.
const (
	environmentTag = "env"
	registryTag    = "reg"
	recipientTag   = "recipient"
	tokenTag       = "token"
)

// registrations is the number of services of one kind that a node can register.
const registrations = 4

// A NodeIdentity is an operator's statement about a node, with its JWT.
type NodeIdentity struct {
	Name        string
	Environment string
	Key         string   // public
	Recipient   string   // of age: secrets are encrypted to it
	Tags        []string // NAME=VALUE, from operators
	Token       string   // id of the token by which it was approved, or ""
	Issuer      string   // the public key that signed it
	IssuedAt    int64    // Unix time
	JWT         string
}

// Sign returns a JWT for a node, signed by the node signing key of the directory.
func (d *Directory) Sign(n NodeIdentity) (NodeIdentity, error) {
	pair, err := d.key(Node.keyFile())
	if err != nil {
		return n, diag.Requires("approving nodes", "the node signing key: %w", err)
	}
	if err := n.check(); err != nil {
		return n, err
	}
	if !d.Fleet.HasEnvironment(n.Environment) {
		return n, fmt.Errorf("%w (known: %s)", diag.NotFound("environment", n.Environment, nil), orNone(d.Fleet.Environments))
	}
	c := jwt.NewUserClaims(n.Key)
	c.Name, c.IssuerAccount = n.Name, d.Fleet.Account
	c.UserPermissionLimits = jwt.UserPermissionLimits{} // the limits of the signing key apply
	c.Tags.Add(environmentTag+":"+n.Environment, registryTag+":"+n.Name)
	for i := 2; i <= registrations; i++ {
		c.Tags.Add(fmt.Sprintf("%s:%s_%d", registryTag, n.Name, i))
	}
	if n.Recipient != "" {
		c.Tags.Add(recipientTag + ":" + n.Recipient)
	}
	if n.Token != "" {
		c.Tags.Add(tokenTag + ":" + n.Token)
	}
	for _, tag := range n.Tags {
		key, value, _ := strings.Cut(tag, "=")
		c.Tags.Add(key + ":" + value)
	}
	if n.JWT, err = c.Encode(pair); err != nil {
		return n, err
	}
	n.Issuer = public(pair)
	return n, nil
}

// check returns why an identity is not valid.
func (n *NodeIdentity) check() error {
	if err := errors.Join(subject.CheckName("node", n.Name), subject.CheckName("environment", n.Environment)); err != nil {
		return err
	}
	if !nkeys.IsValidPublicUserKey(n.Key) {
		return diag.Expected("the public key of a user").Got("%q", n.Key)
	}
	if n.Recipient != "" && !isRecipient(n.Recipient) {
		return diag.Expected("an age recipient (age1...)").Got("%q", n.Recipient)
	}
	for _, tag := range n.Tags {
		if err := CheckTag(tag); err != nil {
			return err
		}
	}
	return nil
}

// isRecipient reports whether a text has the form of a native recipient of age: Bech32 of 32 bytes.
func isRecipient(s string) bool {
	if len(s) != 62 || !strings.HasPrefix(s, "age1") {
		return false
	}
	for _, c := range []byte(s[4:]) {
		if !strings.ContainsRune("qpzry9x8gf2tvdw0s3jn54khce6mua7l", rune(c)) {
			return false
		}
	}
	return true
}

// CheckTag returns why a text is not a tag NAME=VALUE. Tags of JWTs are in small letters.
func CheckTag(tag string) error {
	key, value, ok := strings.Cut(tag, "=")
	if !ok || key == "" || value == "" {
		return fmt.Errorf("tag %q: %w", tag, diag.Expected("NAME=VALUE"))
	}
	if slices.Contains([]string{environmentTag, registryTag, recipientTag, tokenTag}, key) {
		return fmt.Errorf("tag %q: %q is reserved by ccm", tag, key)
	}
	for _, c := range []byte(key + value) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("._-", c) >= 0) {
			return fmt.Errorf("tag %q: %w", tag, diag.Expected("lower-case letters, digits and . _ -"))
		}
	}
	return nil
}

// ReadNode returns the identity in a node's JWT. A JWT that no key of the fleet signed, or that
// [Directory.Sign] could not have made, is an error.
func (f *Fleet) ReadNode(text string) (NodeIdentity, error) {
	n, issuerAccount, err := decodeNode(text)
	if err != nil {
		return n, err
	}
	return n, f.believes(n, issuerAccount)
}

// believes returns why a signed identity does not belong to this fleet.
func (f *Fleet) believes(n NodeIdentity, issuerAccount string) error {
	switch {
	case issuerAccount != f.Account:
		return diag.OfAnother("", "fleet")
	case !slices.Contains(f.NodeKeys, n.Issuer):
		return diag.Not("its issuer "+n.Issuer, "a node signing key of this fleet")
	}
	return nil
}

// DecodeNode returns the identity in a node's JWT without a check of the signature: for the node
// itself, whose servers check that.
func DecodeNode(text string) (NodeIdentity, error) {
	n, _, err := decodeNode(text)
	return n, err
}

func decodeNode(text string) (NodeIdentity, string, error) {
	c, err := jwt.DecodeUserClaims(strings.TrimSpace(text))
	if err != nil {
		return NodeIdentity{}, "", err
	}
	n := NodeIdentity{Name: c.Name, Key: c.Subject, Issuer: c.Issuer, IssuedAt: c.IssuedAt, JWT: strings.TrimSpace(text)}
	n.addTags(c.Tags)
	return n, c.IssuerAccount, n.check()
}

// addTags adds the values of a JWT's tags.
func (n *NodeIdentity) addTags(tags []string) {
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, ":")
		switch key {
		case environmentTag:
			n.Environment = value
		case registryTag:
		case recipientTag:
			n.Recipient = value
		case tokenTag:
			n.Token = value
		default:
			n.Tags = append(n.Tags, key+"="+value)
		}
	}
}

// ReadCredentials returns the identity of the holder of a node's credentials file.
func ReadCredentials(path string) (NodeIdentity, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return NodeIdentity{}, err
	}
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		return NodeIdentity{}, fmt.Errorf("%s: %w", path, err)
	}
	n, err := DecodeNode(token)
	if err != nil {
		return n, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// Credentials returns the credentials file of a user: its JWT, and its seed.
func Credentials(token string, pair nkeys.KeyPair) ([]byte, error) {
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return jwt.FormatUserConfig(token, seed)
}

// newUser makes a key and its credentials for a role.
func (f *Fleet) newUser(name string, signer nkeys.KeyPair) (creds []byte, key string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	c := jwt.NewUserClaims(public(pair))
	c.Name, c.IssuerAccount = name, f.Account
	c.UserPermissionLimits = jwt.UserPermissionLimits{}
	token, err := c.Encode(signer)
	if err != nil {
		return nil, "", err
	}
	creds, err = Credentials(token, pair)
	return creds, c.Subject, err
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
