// Package identity makes and keeps the identities of a fleet: the keys of the operator and the
// account of NATS, the signing keys of each role with their permissions, the certificates and
// configurations of the servers. All of them are in one directory, which [Open] reads and [Plan]
// and [Initialization.Apply] make.
//
// Formats are those of NATS: nkeys, JWTs and credentials files (docs.nats.io, "Decentralized
// Authentication").
package identity

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// Names of files in the directory of a fleet.
const (
	fleetFile       = "fleet.json"
	caFile          = "ca.pem"
	caKeyFile       = "keys/ca.key"
	accountFile     = "account.jwt"
	operatorFile    = "operator.jwt"
	systemFile      = "system.jwt"
	OperatorCreds   = "operator.creds"
	EnrolCreds      = "enrol.creds"
	SignersFile     = "allowed_signers"
	systemCreds     = "keys/system.creds"
	contextFile     = "ccm-fleet.json"
	operatorKeyFile = "keys/operator.nk"
	accountsKeyFile = "keys/accounts.nk" // the operator's signing key, for accounts
	accountKeyFile  = "keys/account.nk"
	systemKeyFile   = "keys/system.nk"
	nodesFolder     = "nodes"
	usersFolder     = "users"
)

// protocol is the protocol of fleet.json.
const protocol = "io.choria.ccm.v1.fleet"

// A Fleet has the addresses of a fleet's servers and its settings. It holds no secrets.
type Fleet struct {
	Protocol     string   `json:"protocol"`
	Servers      []string `json:"servers"`     // HOST or HOST:PORT, as given
	CA           string   `json:"ca"`          // file, relative to the directory
	Credentials  string   `json:"credentials"` // the same
	User         string   `json:"user"`
	Role         Role     `json:"role"`
	Account      string   `json:"account"`   // public key
	NodeKeys     []string `json:"node_keys"` // public keys that sign nodes, the present one first
	Environments []string `json:"environments,omitempty"`
	Registry     bool     `json:"allow_registry,omitempty"`
	Data         []string `json:"allow_data,omitempty"` // buckets that nodes may read
	Upstream     bool     `json:"upstream,omitempty"`   // its agents register services, too
	ConfigDir    string   `json:"config_dir,omitempty"` // on the servers
	StoreDir     string   `json:"store_dir,omitempty"`  // on the servers
	Sizes        Sizes    `json:"sizes,omitzero"`
}

// Sizes are the most bytes of streams on each server; 0 for the usual limits. The servers refuse a
// stream for which they lack room.
type Sizes struct {
	Events int64 `json:"events,omitempty"`
	Jobs   int64 `json:"jobs,omitempty"`
	Sites  int64 `json:"sites,omitempty"` // of each environment
}

// EventBytes returns the most bytes of the stream of events.
func (f *Fleet) EventBytes() int64 { return cmp.Or(f.Sizes.Events, 50<<30) }

// JobBytes returns the most bytes of the stream of jobs.
func (f *Fleet) JobBytes() int64 { return cmp.Or(f.Sizes.Jobs, 2<<30) }

// SiteBytes returns the most bytes of the store of bundles of an environment.
func (f *Fleet) SiteBytes() int64 { return cmp.Or(f.Sizes.Sites, 10<<30) }

// URLs returns the addresses of the servers.
func (f *Fleet) URLs() []string {
	var urls []string
	for _, s := range f.Servers {
		host, port, _ := splitServer(s)
		urls = append(urls, "tls://"+joinServer(host, port))
	}
	return urls
}

// Replicas returns the number of servers that store each message.
func (f *Fleet) Replicas() int { return min(len(f.Servers), 3) }

// A Directory is the directory of a fleet: the original one with all keys, or that of a user.
type Directory struct {
	Path  string
	Fleet Fleet
	host  *host.Host

	verified verifiedSet
}

// ErrNoFleet says that a directory belongs to no fleet.
var ErrNoFleet = diag.Not("", "a fleet directory: no such file "+fleetFile)

// Open reads the directory of a fleet.
func Open(path string, h *host.Host) (*Directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: path, host: h}
	text, err := os.ReadFile(d.file(fleetFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNoFleet)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &d.Fleet); err != nil {
		return nil, fmt.Errorf("%s: %w", d.file(fleetFile), err)
	}
	return d, d.check()
}

// check returns the error in fleet.json.
func (d *Directory) check() error {
	f := &d.Fleet
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", d.file(fleetFile), fmt.Errorf(format, args...))
	}
	switch {
	case f.Protocol != protocol:
		return wrong("%w", diag.Expected("the protocol %s", protocol).Got("%q", f.Protocol))
	case len(f.Servers) == 0:
		return wrong("servers is empty")
	case !nkeys.IsValidPublicAccountKey(f.Account):
		return wrong("account: %w", diag.Expected("the public key of an account"))
	}
	for _, s := range f.Servers {
		if _, _, err := splitServer(s); err != nil {
			return wrong("servers: %s", err)
		}
	}
	for _, e := range f.Environments {
		if err := subject.CheckName("environment", e); err != nil {
			return wrong("%s", err)
		}
	}
	for _, name := range []string{f.CA, f.Credentials} {
		if !filepath.IsLocal(name) {
			return wrong("%w", diag.Expected("a file in this directory").Got("%q", name))
		}
	}
	return nil
}

func (d *Directory) file(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

// CA returns the path of the certificates that verify servers.
func (d *Directory) CA() string { return d.file(d.Fleet.CA) }

// Credentials returns the path of the credentials of the user of this directory.
func (d *Directory) Credentials() string { return d.file(d.Fleet.Credentials) }

// Signers returns the path of the file of those whose signatures the people of this fleet believe.
// It may be missing.
func (d *Directory) Signers() string { return d.file(SignersFile) }

// Certificate returns the path of the certificate of a server.
func (d *Directory) Certificate(server string) string { return d.file(server + "/cert.pem") }

// TokenFile returns the path of the file of tokens for new machines.
func (d *Directory) TokenFile() string { return d.file("tokens") }

// SystemCredentials returns the path of the credentials that can change accounts. Only the original
// directory of a fleet has this file.
func (d *Directory) SystemCredentials() string { return d.file(systemCreds) }

// save writes a file. Files with secrets have mode 0600.
func (d *Directory) save(name string, text []byte, mode uint32) error {
	path := d.file(name)
	folder := filepath.Dir(path)
	if err := d.host.SaveDirectory(folder); err != nil {
		return err
	}
	if mode == 0o600 {
		// Save keeps the mode of an existing file, which may have been opened to others.
		if info, err := os.Lstat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(path, 0o600); err != nil {
				return err
			}
		}
	}
	return d.host.Save(path, text, mode)
}

// saveFleet writes fleet.json.
func (d *Directory) saveFleet() error {
	text, err := json.MarshalIndent(d.Fleet, "", "  ")
	if err != nil {
		return err
	}
	return d.save(fleetFile, append(text, '\n'), 0o644)
}

// key reads a private key. A file that others may read is refused.
func (d *Directory) key(name string) (nkeys.KeyPair, error) {
	path := d.file(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w", path, diag.OthersCanRead("this private key", info.Mode()))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(text))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pair, nil
}

// account reads the JWT of the account, with its revocations.
func (d *Directory) account() (*jwt.AccountClaims, string, error) {
	text, err := os.ReadFile(d.file(accountFile))
	if err != nil {
		return nil, "", err
	}
	claims, err := jwt.DecodeAccountClaims(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", d.file(accountFile), err)
	}
	if claims.Subject != d.Fleet.Account {
		return nil, "", fmt.Errorf("%s: %w", d.file(accountFile), diag.Not("", "the account named in %s", fleetFile))
	}
	return claims, strings.TrimSpace(string(text)), nil
}

// HasEnvironment reports whether the fleet has an environment.
func (f *Fleet) HasEnvironment(name string) bool { return slices.Contains(f.Environments, name) }

// public returns the public half of a key.
func public(pair nkeys.KeyPair) string {
	text, err := pair.PublicKey()
	if err != nil { // made from a seed, so it is valid
		panic(err)
	}
	return text
}
