package identity

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// Options are the options of Plan. For an empty field the fleet keeps its value.
type Options struct {
	Servers      []string // HOST or HOST:PORT
	Environments []string // to add
	Registry     bool     // nodes may read the registry of services
	Data         []string // buckets that nodes may read, to add
	Upstream     bool     // agents of upstream register services, too
	User         string   // name of the first operator
	ConfigDir    string   // directory of the servers' configuration
	StoreDir     string   // directory of the servers' data
	Sizes        Sizes    // of streams
	Signers      string   // text of allowed_signers: whose signatures the people of the fleet believe
}

// Default directories of the servers.
const (
	defaultConfigDir = "/etc/nats"
	defaultStoreDir  = "/var/lib/nats"
)

// A Change is a file that Apply writes.
type Change struct {
	Path   string // relative to the directory
	New    bool   // else the file exists and changes
	Reason string // content of the file, or why it changes
	text   []byte
	mode   uint32
}

// An Initialization has the files to write so that a directory is that of a fleet.
type Initialization struct {
	Directory *Directory
	Changes   []Change
}

// Plan returns the files to write so that a directory holds all that the servers of a fleet need.
// It writes nothing. Existing keys stay.
func Plan(path string, o Options, h *host.Host, now time.Time) (*Initialization, error) {
	d, err := Open(path, h)
	if errors.Is(err, ErrNoFleet) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		d = &Directory{Path: abs, host: h, Fleet: Fleet{Protocol: protocol, CA: caFile, Credentials: OperatorCreds, Role: Admin}}
	} else if err != nil {
		return nil, err
	}
	if err := d.CheckOrigin(); err != nil {
		return nil, err
	}
	if err := d.Fleet.merge(o); err != nil {
		return nil, err
	}
	p := &planner{Initialization: Initialization{Directory: d}, now: now}
	if o.Signers != "" {
		p.put(SignersFile, []byte(o.Signers), 0o644, "keys whose signatures are trusted here")
	}
	return &p.Initialization, p.planAll()
}

// merge takes over the values of options.
func (f *Fleet) merge(o Options) error {
	if len(o.Servers) > 0 {
		f.Servers = o.Servers
	}
	switch len(f.Servers) {
	case 1, 3, 5:
	case 0:
		return diag.Expected("--server HOST for each nats-server: three, or one for testing")
	default:
		return diag.Expected("1, 3 or 5 servers").Got("%d (an even number tolerates no more failures than one less)", len(f.Servers))
	}
	for _, s := range f.Servers {
		if _, _, err := splitServer(s); err != nil {
			return err
		}
	}
	if sorted := slices.Sorted(slices.Values(f.ServerNames())); len(slices.Compact(sorted)) < len(f.Servers) {
		return diag.Duplicate("host and port of two servers")
	}
	for _, e := range o.Environments {
		if err := subject.CheckName("environment", e); err != nil {
			return err
		}
		if !f.HasEnvironment(e) {
			f.Environments = append(f.Environments, e)
		}
	}
	for _, b := range o.Data {
		if !isBucket(b) {
			return fmt.Errorf("bucket %q: %w", b, diag.Expected("letters, digits, - and _"))
		}
		if strings.HasPrefix(b, "CCM_") {
			return fmt.Errorf("bucket %q: %w", b, diag.SubjectCannot("the buckets of ccm itself", "be opened to all nodes"))
		}
		if !slices.Contains(f.Data, b) {
			f.Data = append(f.Data, b)
		}
	}
	f.Registry, f.Upstream = f.Registry || o.Registry, f.Upstream || o.Upstream
	f.User = cmp.Or(f.User, o.User, "operator")
	f.Sizes.Events, f.Sizes.Jobs, f.Sizes.Sites = cmp.Or(o.Sizes.Events, f.Sizes.Events), cmp.Or(o.Sizes.Jobs, f.Sizes.Jobs), cmp.Or(o.Sizes.Sites, f.Sizes.Sites)
	f.ConfigDir, f.StoreDir = cmp.Or(o.ConfigDir, f.ConfigDir, defaultConfigDir), cmp.Or(o.StoreDir, f.StoreDir, defaultStoreDir)
	if !filepath.IsAbs(f.ConfigDir) || !filepath.IsAbs(f.StoreDir) {
		return diag.Expected("absolute paths for the directories on the servers")
	}
	return nil
}

func isBucket(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}

// Apply writes the planned files.
func (i *Initialization) Apply() error {
	d := i.Directory
	if err := d.host.SaveDirectory(d.Path); err != nil {
		return err
	}
	if err := d.host.SaveDirectory(d.file("keys")); err != nil {
		return err
	}
	if err := os.Chmod(d.file("keys"), 0o700); err != nil {
		return err
	}
	for _, c := range i.Changes {
		if err := d.save(c.Path, c.text, c.mode); err != nil {
			return err
		}
	}
	return nil
}

// A planner compares existing files with the wanted ones.
type planner struct {
	Initialization
	now time.Time
}

// put plans to write a file if its text differs.
func (p *planner) put(name string, text []byte, mode uint32, why string) {
	have, err := os.ReadFile(p.Directory.file(name))
	if err == nil && string(have) == string(text) {
		return
	}
	p.Changes = append(p.Changes, Change{Path: name, New: errors.Is(err, fs.ErrNotExist), Reason: why, text: text, mode: mode})
}

// keyPair returns the key of a file, or a new one.
func (p *planner) keyPair(name, why string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	pair, err := p.Directory.key(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return pair, err
	}
	if pair, err = create(); err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	p.put(name, append(seed, '\n'), 0o600, why)
	return pair, nil
}

// planAll plans all files.
func (p *planner) planAll() error {
	f := &p.Directory.Fleet
	operator, err := p.keyPair(operatorKeyFile, "the operator; keep it offline", nkeys.CreateOperator)
	if err != nil {
		return err
	}
	account, err := p.keyPair(accountKeyFile, "the account; keep it offline", nkeys.CreateAccount)
	if err != nil {
		return err
	}
	accounts, err := p.keyPair(accountsKeyFile, "signs the account: permissions and revocations", nkeys.CreateOperator)
	if err != nil {
		return err
	}
	system, err := p.keyPair(systemKeyFile, "the system account of the servers", nkeys.CreateAccount)
	if err != nil {
		return err
	}
	if f.Account != "" && f.Account != public(account) {
		return fmt.Errorf("%s: %w", p.Directory.file(accountKeyFile),
			diag.Not("", "the key of the account in %s", fleetFile))
	}
	f.Account = public(account)
	signers := map[Role]nkeys.KeyPair{}
	keys := map[Role][]string{}
	for _, role := range roles {
		why := "signs people with the role " + string(role)
		switch role {
		case Node:
			why = `signs nodes ("ccm fleet enrol approve")`
		case Enrol:
			why = "signs the credentials of new machines"
		}
		if signers[role], err = p.keyPair(role.keyFile(), why, nkeys.CreateAccount); err != nil {
			return err
		}
		keys[role] = []string{public(signers[role])}
	}
	f.NodeKeys = withFirst(f.NodeKeys, keys[Node][0])
	keys[Node] = f.NodeKeys
	operatorJWT, systemJWT, err := p.planOperator(operator, accounts, system)
	if err != nil {
		return err
	}
	accountJWT, err := p.planAccount(keys, accounts)
	if err != nil {
		return err
	}
	if err := p.planUsers(signers, system); err != nil {
		return err
	}
	return p.planServers(operatorJWT, public(system), systemJWT, accountJWT)
}

// withFirst returns a list with an item at its beginning, once.
func withFirst(list []string, item string) []string {
	return append([]string{item}, slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })...)
}
