package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// An AccountChange collects changes of the account.
type AccountChange struct{ claims *jwt.AccountClaims }

// Revoke revokes all credentials of a key that were made until now.
func (c *AccountChange) Revoke(key string, now time.Time) {
	// JWTs count seconds: this covers a JWT of this very second.
	c.claims.RevokeAt(key, now.Add(time.Second))
}

// Revoked returns the revoked keys.
func (d *Directory) Revoked() (map[string]bool, error) {
	claims, _, err := d.account()
	if errors.Is(err, fs.ErrNotExist) { // the directory of a user, which has no account
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for key := range claims.Revocations {
		keys[key] = true
	}
	return keys, nil
}

// CompareAccount compares the servers' account with that of this directory. forgotten is the number
// of keys that are revoked here but not there; newer reports that the servers have a later change by
// somebody else.
func (d *Directory) CompareAccount(there string) (same, newer bool, forgotten int, err error) {
	have, token, err := d.account()
	if err != nil || token == there {
		return err == nil, false, 0, err
	}
	other, err := jwt.DecodeAccountClaims(there)
	if err != nil {
		return false, false, 0, fmt.Errorf("account on the servers: %w", err)
	}
	for key, at := range have.Revocations {
		if other.Revocations[key] < at {
			forgotten++
		}
	}
	return false, other.IssuedAt > have.IssuedAt, forgotten, nil
}

// AccountToken returns the JWT of the account.
func (d *Directory) AccountToken() (string, error) {
	_, token, err := d.account()
	return token, err
}

// ChangeAccount changes the account, and returns its JWT. there is the servers' JWT, "" if unknown:
// its revocations stay. Permissions are those of this program.
func (d *Directory) ChangeAccount(there string, f func(*AccountChange)) (string, error) {
	have, _, err := d.account()
	if err != nil {
		return "", err
	}
	signer, err := d.key(accountsKeyFile)
	if err != nil {
		return "", diag.Requires("changing the account", "its signing key: %w", err)
	}
	keys, err := d.scopeKeys()
	if err != nil {
		return "", err
	}
	revoked := jwt.RevocationList{}
	maps.Copy(revoked, have.Revocations)
	if there != "" {
		other, err := jwt.DecodeAccountClaims(there)
		if err != nil {
			return "", fmt.Errorf("account on the servers: %w", err)
		}
		for key, at := range other.Revocations {
			revoked[key] = max(at, revoked[key])
		}
	}
	claims := d.Fleet.accountClaims(keys, revoked)
	f(&AccountChange{claims})
	if sameAccount(have, claims) {
		_, token, err := d.account()
		return token, err
	}
	token, err := claims.Encode(signer)
	if err != nil {
		return "", err
	}
	return token, d.save(accountFile, []byte(token+"\n"), 0o644)
}

// scopeKeys returns the public keys of the roles: of nodes all trusted ones.
func (d *Directory) scopeKeys() (map[Role][]string, error) {
	keys := map[Role][]string{Node: d.Fleet.NodeKeys}
	for _, role := range roles[1:] {
		pair, err := d.key(role.keyFile())
		if err != nil {
			return nil, err
		}
		keys[role] = []string{public(pair)}
	}
	return keys, nil
}

// SaveNode keeps a copy of a node's JWT.
func (d *Directory) SaveNode(n NodeIdentity) error {
	return d.save(path.Join(nodesFolder, n.Name+".jwt"), []byte(n.JWT+"\n"), 0o644)
}

// SavedNodes returns the nodes with a saved copy.
func (d *Directory) SavedNodes() ([]NodeIdentity, error) {
	entries, err := os.ReadDir(d.file(nodesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []NodeIdentity
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jwt" {
			continue
		}
		name := path.Join(nodesFolder, e.Name())
		text, err := os.ReadFile(d.file(name))
		if err != nil {
			return nil, err
		}
		n, err := d.Fleet.ReadNode(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.file(name), err)
		}
		list = append(list, n)
	}
	return list, nil
}

// AddUser makes a directory with all that a person needs, and returns its path. It has to be given
// to that person alone: it holds a private key.
func (d *Directory) AddUser(name string, role Role) (string, error) {
	if err := d.CheckOrigin(); err != nil {
		return "", err
	}
	if err := subject.CheckName("user", name); err != nil {
		return "", err
	}
	if !slices.Contains([]Role{Viewer, Operator, Admin}, role) {
		return "", diag.Expected("the role viewer, operator or admin").Got("%q", role)
	}
	folder := path.Join(usersFolder, name)
	if _, err := os.Lstat(d.file(folder)); err == nil {
		return "", diag.Exists(d.file(folder), "")
	}
	signer, err := d.key(role.keyFile())
	if err != nil {
		return "", err
	}
	creds, key, err := d.Fleet.newUser(name, signer)
	if err != nil {
		return "", err
	}
	ca, err := os.ReadFile(d.CA())
	if err != nil {
		return "", err
	}
	who, err := os.ReadFile(d.Signers())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	own := &Directory{Path: d.file(folder), host: d.host, Fleet: d.Fleet}
	own.Fleet.User, own.Fleet.Role, own.Fleet.Credentials, own.Fleet.CA = name, role, "user.creds", caFile
	err = errors.Join(own.save(own.Fleet.Credentials, creds, 0o600), own.save(caFile, ca, 0o644), own.saveFleet(),
		d.save(path.Join(usersFolder, name+".key"), []byte(key+"\n"), 0o644))
	if who != nil {
		err = errors.Join(err, own.save(SignersFile, who, 0o644))
	}
	return own.Path, err
}

// Users returns the names of the people that AddUser made.
func (d *Directory) Users() (names []string) {
	files, _ := filepath.Glob(d.file(path.Join(usersFolder, "*.key"))) // the pattern is well formed
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".key"))
	}
	return names
}

// CheckOrigin returns an error for a person's directory, which has none of the keys of the fleet.
func (d *Directory) CheckOrigin() error {
	if d.Fleet.User != "" && d.Fleet.Credentials != OperatorCreds {
		return diag.Not(d.Path, "the directory that created the fleet, but that of the user %s", d.Fleet.User)
	}
	return nil
}

// UserKey returns the public key of a person that AddUser made.
func (d *Directory) UserKey(name string) (string, error) {
	if err := subject.CheckName("user", name); err != nil {
		return "", err
	}
	text, err := os.ReadFile(d.file(path.Join(usersFolder, name+".key")))
	if errors.Is(err, fs.ErrNotExist) {
		return "", diag.Not("", "found in this fleet")
	}
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	if !nkeys.IsValidPublicUserKey(key) {
		return "", fmt.Errorf("users/%s.key: %w", name, diag.Expected("the public key of a user"))
	}
	return key, nil
}
