package identity

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/runtime/diag"
)

// BeginRekey makes a new signing key for nodes, unless an exchange is under way already: then
// several keys for nodes are trusted, and the first one signs. The old keys are trusted until
// EndRekey.
func (d *Directory) BeginRekey() error {
	if len(d.Fleet.NodeKeys) > 1 {
		return nil
	}
	// If an earlier try ended between the writes of the two files the new key exists, and only
	// fleet.json lacks it.
	pair, err := d.key(Node.keyFile())
	if err != nil {
		return diag.Requires("signing the nodes again", "their signing key: %w", err)
	}
	if slices.Contains(d.Fleet.NodeKeys, public(pair)) {
		if pair, err = nkeys.CreateAccount(); err != nil {
			return err
		}
		seed, err := pair.Seed()
		if err != nil {
			return err
		}
		if err := d.save(Node.keyFile(), append(seed, '\n'), 0o600); err != nil {
			return err
		}
	}
	d.Fleet.NodeKeys = withFirst(d.Fleet.NodeKeys, public(pair))
	return errors.Join(d.saveFleet(), d.shareNodeKeys())
}

// EndRekey makes the first key the only trusted one. The caller has to change the account
// afterwards.
func (d *Directory) EndRekey() error {
	d.Fleet.NodeKeys = d.Fleet.NodeKeys[:1]
	return errors.Join(d.saveFleet(), d.shareNodeKeys())
}

// shareNodeKeys writes the keys that sign nodes into the directories of people that are still in
// this one.
func (d *Directory) shareNodeKeys() error {
	entries, err := os.ReadDir(d.file(usersFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		own, err := Open(d.file(path.Join(usersFolder, e.Name())), d.host)
		if errors.Is(err, ErrNoFleet) {
			continue
		}
		if err != nil {
			return err
		}
		own.Fleet.NodeKeys = d.Fleet.NodeKeys
		if err := own.saveFleet(); err != nil {
			return err
		}
	}
	return nil
}

// Signs reports whether a key is the present one that signs nodes.
func (f *Fleet) Signs(key string) bool { return len(f.NodeKeys) > 0 && f.NodeKeys[0] == key }

// Forget removes keys from the list of revocations: for nodes whose JWTs are no longer trusted.
func (c *AccountChange) Forget(keys []string) {
	for _, key := range keys {
		delete(c.claims.Revocations, key)
	}
}

// ForgetNode removes the copy of a node's JWT, if the JWT is for this key.
func (d *Directory) ForgetNode(name, key string) error {
	file := path.Join(nodesFolder, name+".jwt")
	text, err := os.ReadFile(d.file(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := DecodeNode(string(text))
	if err != nil || n.Key != key {
		return nil // JWT of the node that replaced this one
	}
	return os.Remove(d.file(file))
}
