package encryption

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// The variables that name an identity. If one is set, no other identity is used.
const (
	IdentityVariable     = "CCM_AGE_IDENTITY"      // the text of one or more
	IdentityFileVariable = "CCM_AGE_IDENTITY_FILE" // their file
)

// IdentityFile is the name of a file of identities in a directory of configuration.
const IdentityFile = "age.key"

// HostKey is the SSH key of a host, by which secrets can be encrypted to it.
const HostKey = "/etc/ssh/ssh_host_ed25519_key"

// SystemDir is the directory of configuration of the whole machine.
const SystemDir = "/etc/ccm"

// Identities are the private keys of this process. They are read when one is first needed, once.
type Identities struct {
	// Getenv looks up a variable.
	Getenv func(name string) string
	// ConfigDir is the directory of configuration of the user, that has ccm/age.key; "" for none.
	ConfigDir string
	// SystemDir and HostKey are as the constants, unless a test says otherwise.
	SystemDir, HostKey string
	// ReadFile reads a file of the user, if it is trusted.
	ReadFile func(path string) ([]byte, error)
	// Passphrase asks for that of a file. It is called once for each. Nil asks nobody.
	Passphrase func(file string) ([]byte, error)
	// Asking is told before somebody may be asked on the terminal, for a passphrase or by the program of
	// a plugin, and done afterwards. May be nil.
	Asking func() (done func())
	// Warn is told what is unsafe. May be nil.
	Warn func(text string)

	mu     sync.Mutex
	read   bool
	list   []age.Identity
	looked []string // where it looked, for messages
	err    error
	reads  int
}

// Reads is how often identities were read.
func (ids *Identities) Reads() int {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return ids.reads
}

// get returns the identities, and where they were looked for.
func (ids *Identities) get() ([]age.Identity, error) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if !ids.read {
		ids.read = true
		ids.reads++
		ids.list, ids.err = ids.load()
	}
	return ids.list, ids.err
}

// Looked returns the places at which identities were looked for.
func (ids *Identities) Looked() []string {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return ids.looked
}

// Files returns the files that are looked at, unless a variable names an identity.
func (ids *Identities) Files() []string {
	var files []string
	if ids.ConfigDir != "" {
		files = append(files, filepath.Join(ids.ConfigDir, "ccm", IdentityFile))
	}
	system, host := ids.SystemDir, ids.HostKey
	if system == "" {
		system = SystemDir
	}
	if host == "" {
		host = HostKey
	}
	return append(files, filepath.Join(system, IdentityFile), host)
}

func (ids *Identities) load() (list []age.Identity, err error) {
	if text := ids.Getenv(IdentityVariable); text != "" {
		ids.looked = []string{"$" + IdentityVariable}
		return ids.parse("$"+IdentityVariable, []byte(text))
	}
	if file := ids.Getenv(IdentityFileVariable); file != "" {
		ids.looked = []string{file}
		text, err := ids.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", IdentityFileVariable, err)
		}
		ids.checkMode(file)
		return ids.parse(file, text)
	}
	for _, file := range ids.Files() {
		ids.looked = append(ids.looked, file)
		text, err := ids.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, fs.ErrPermission):
			ids.looked[len(ids.looked)-1] += " (which may not be read)"
			continue
		case err != nil:
			return nil, fmt.Errorf("identity: %w", err)
		}
		ids.checkMode(file)
		more, err := ids.parse(file, text)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// checkMode warns of a private key that others can read.
func (ids *Identities) checkMode(file string) {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 && ids.Warn != nil {
		ids.Warn(fmt.Sprintf("the identity %s can be read by others (mode %04o): chmod 600 %[1]s, and make a new one if somebody did", file, info.Mode().Perm()))
	}
}

// maxIdentity is how many bytes a file of identities may have.
const maxIdentity = 1 << 20

// parse reads identities in the forms that the program age takes. No message holds any of the text.
func (ids *Identities) parse(name string, text []byte) ([]age.Identity, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(text) > maxIdentity:
		return nil, fmt.Errorf("identity %s: it has more than %d bytes", name, maxIdentity)
	case bytes.HasPrefix(text, []byte(intro)), bytes.HasPrefix(trimmed, []byte(armor.Header)):
		return []age.Identity{&lockedIdentity{ids: ids, name: name, text: text}}, nil
	case bytes.HasPrefix(trimmed, []byte("-----BEGIN")):
		id, err := ids.sshIdentity(name, text)
		if err != nil {
			return nil, fmt.Errorf("identity %s: %w", name, err)
		}
		return []age.Identity{id}, nil
	}
	var list []age.Identity
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := parseIdentity(line)
		if err != nil {
			return nil, diag.Errorf(diag.Pos{File: name, Line: number}, "%w", err).WithHint("ccm secret keygen makes an identity")
		}
		if program, ok := id.(*plugin.Identity); ok {
			id = &pluginIdentity{ids, program}
		}
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("identity %s: it holds no key", name)
	}
	return list, nil
}

func parseIdentity(line string) (age.Identity, error) {
	var id age.Identity
	var err error
	switch {
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		id, err = plugin.NewIdentity(line, pluginUI())
	case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-"):
		id, err = age.ParseHybridIdentity(line)
	case strings.HasPrefix(line, "AGE-SECRET-KEY-"):
		id, err = age.ParseX25519Identity(line)
	case strings.HasPrefix(line, "age1"), strings.HasPrefix(line, "ssh-"):
		return nil, errors.New("this is a public key, and a private one is wanted, which begins with AGE-SECRET-KEY-")
	default:
		return nil, errors.New("want an identity of age or an SSH key, found something else")
	}
	if err != nil {
		return nil, errors.New("this identity is damaged") // the error of age tells parts of it
	}
	return id, nil
}

// sshIdentity reads a private key of SSH. One with a passphrase asks for it when something is encrypted to it.
func (ids *Identities) sshIdentity(name string, text []byte) (age.Identity, error) {
	id, err := agessh.ParseIdentity(text)
	missing, ok := errors.AsType[*ssh.PassphraseMissingError](err)
	if !ok {
		if err != nil {
			return nil, errors.New("want an SSH key of the kind ed25519 or RSA, found something else")
		}
		return id, nil
	}
	public := missing.PublicKey
	if public == nil {
		pub, err := ids.ReadFile(name + ".pub")
		if err == nil {
			public, _, _, _, err = ssh.ParseAuthorizedKey(pub)
		}
		if err != nil {
			return nil, fmt.Errorf("its public key is needed beside it, as %s.pub", filepath.Base(name))
		}
	}
	key, err := agessh.NewEncryptedSSHIdentity(public, text, func() ([]byte, error) { return ids.ask(name) })
	if err != nil {
		return nil, err
	}
	return &lockedSSHIdentity{name: name, key: key}, nil
}

// A lockedSSHIdentity is a private key of SSH with a passphrase. A wrong one is not asked for again.
type lockedSSHIdentity struct {
	name string
	key  age.Identity
	err  error
}

// Unwrap implements age.Identity.
func (l *lockedSSHIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	key, err := l.key.Unwrap(stanzas)
	switch {
	case err == nil, errors.Is(err, age.ErrIncorrectIdentity):
		return key, err
	case strings.Contains(err.Error(), x509.IncorrectPasswordError.Error()): // age does not wrap it
		err = fmt.Errorf("identity %s: this is not its passphrase", l.name)
	default:
		err = fmt.Errorf("identity %s: %w", l.name, err)
	}
	l.err = err
	return nil, err
}

// ask asks for a passphrase.
func (ids *Identities) ask(file string) ([]byte, error) {
	if ids.Passphrase == nil {
		return nil, fmt.Errorf("the identity %s has a passphrase, and there is no terminal to ask for it", file)
	}
	defer ids.asking()()
	pass, err := ids.Passphrase(file)
	if err != nil {
		return nil, fmt.Errorf("the identity %s has a passphrase: %w", file, err)
	}
	return pass, nil
}

// A lockedIdentity is a file of identities that is encrypted with a passphrase. It is asked for when no
// other identity fits, once.
type lockedIdentity struct {
	ids  *Identities
	name string
	text []byte

	once sync.Once
	list []age.Identity
	err  error
}

// Unwrap implements age.Identity.
func (l *lockedIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	l.once.Do(func() { l.list, l.err = l.unlock() })
	if l.err != nil {
		return nil, l.err
	}
	for _, id := range l.list {
		key, err := id.Unwrap(stanzas)
		if !errors.Is(err, age.ErrIncorrectIdentity) {
			return key, err
		}
	}
	return nil, age.ErrIncorrectIdentity
}

func (l *lockedIdentity) unlock() ([]age.Identity, error) {
	_, in, err := open(l.text)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", l.name, err)
	}
	pass, err := l.ids.ask(l.name)
	if err != nil {
		return nil, err
	}
	id, err := age.NewScryptIdentity(string(pass))
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", l.name, err)
	}
	r, err := age.Decrypt(in, id)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong || errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, fmt.Errorf("identity %s: this is not its passphrase", l.name)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(r, maxIdentity+1))
	}
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w: %w", l.name, ErrDamaged, err)
	}
	return l.ids.parse(l.name, text)
}

// asking tells that somebody may be asked.
func (ids *Identities) asking() (done func()) {
	if ids.Asking == nil {
		return func() {}
	}
	return ids.Asking()
}

// A pluginIdentity is kept by a program, which may ask for a PIN or wait until a token is touched.
type pluginIdentity struct {
	ids     *Identities
	program *plugin.Identity
}

// Unwrap implements age.Identity.
func (p *pluginIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	defer p.ids.asking()()
	return p.program.Unwrap(stanzas)
}

// pluginUI is how programs named age-plugin-NAME speak with whoever runs ccm.
func pluginUI() *plugin.ClientUI {
	say := func(format string, v ...any) {
		terminal.Fprintf(terminal.NewWriter(os.Stderr), "%s\n", fmt.Sprintf(format, v...))
	}
	return plugin.NewTerminalUI(say, say)
}

// NewIdentity returns the text of a file with a new identity, and its public key.
func NewIdentity(created string) (text, public string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	public = id.Recipient().String()
	return fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", created, public, id), public, nil
}

// Lock encrypts the text of a file of identities with a passphrase. Work is the logarithm of the work that
// a guess costs (scrypt); 0 for a second of it.
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

// PublicKeys returns the public keys of identities that a text holds, as far as they can be told: those of
// an SSH key, and those of age.
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
		return nil, errors.New("want an SSH key whose public key is in it")
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
