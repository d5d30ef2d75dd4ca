package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/runtime/diag"
)

// NewIdentity returns the text of a file with a new identity, and its public key. created is the time for its
// comment.
func NewIdentity(created string) (text, public string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	public = id.Recipient().String()
	return fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", created, public, id), public, nil
}

// Lock encrypts the text of a file of identities with a passphrase. work is the binary logarithm of scrypt's work
// factor; 0 chooses one that takes about a second.
func Lock(text, passphrase string, work int) ([]byte, error) {
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	if work > 0 {
		r.SetWorkFactor(work)
	}
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, r)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(w, text)
	err = errors.Join(err, w.Close(), a.Close())
	return out.Bytes(), err
}

// PublicKeys returns the public keys of the identities in a text, for SSH keys and keys of age.
func PublicKeys(text []byte) ([]string, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("-----BEGIN")) && !IsFile(text) {
		signer, err := ssh.ParsePrivateKey(text)
		missing, ok := errors.AsType[*ssh.PassphraseMissingError](err)
		switch {
		case err == nil:
			return []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))}, nil
		case ok && missing.PublicKey != nil:
			return []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(missing.PublicKey)))}, nil
		}
		return nil, diag.Expected("an SSH key that includes its public key")
	}
	var keys []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := parseIdentity(line)
		if err != nil {
			return nil, err
		}
		switch id := id.(type) {
		case *age.X25519Identity:
			keys = append(keys, id.Recipient().String())
		case *age.HybridIdentity:
			keys = append(keys, id.Recipient().String())
		}
	}
	return keys, nil
}
