package encryption

import (
	"bytes"
	"errors"
	"fmt"
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
)

// Variables that name an identity. If one is set, all other identities are ignored.
const (
	IdentityVariable     = "CCM_AGE_IDENTITY"      // the text of one or more identities
	IdentityFileVariable = "CCM_AGE_IDENTITY_FILE" // a file of identities
)

// IdentityFile is the name of the file of identities in a configuration directory.
const IdentityFile = "age.key"

// HostKey is the SSH key of this host, which can be a recipient of secrets.
const HostKey = "/etc/ssh/ssh_host_ed25519_key"

// SystemDir is the configuration directory of the machine.
const SystemDir = "/etc/ccm"

// Identities are the private keys of this process. They are read once, when the first is needed.
type Identities struct {
	// Getenv returns the value of an environment variable.
	Getenv func(name string) string
	// ConfigDir is the configuration directory of the user, with the file ccm/age.key; "" if there is none.
	ConfigDir string
	// SystemDir and HostKey replace the constants of the same names in tests.
	SystemDir, HostKey string
	// ReadFile reads a file that a variable names, ReadFound one of the default files; both refuse files that are not
	// trusted. A nil ReadFound means ReadFile.
	ReadFile, ReadFound func(path string) ([]byte, error)
	// Passphrase asks the user for the passphrase of a file, once for each file. Nil means that nobody can be asked.
	Passphrase func(file string) ([]byte, error)
	// BeforePrompt, if not nil, is called before the user may be asked on the terminal for a passphrase, or by the
	// program of a plugin. The function that it returns is called afterwards.
	BeforePrompt func() (done func())
	// Warn, if not nil, is called with a warning about each private key that is not safe.
	Warn func(text string)

	mu    sync.Mutex
	read  bool
	list  []age.Identity
	paths []string // the places that were tried, for messages
	err   error
	reads int
}

// Reads returns how often the identities were read.
func (ids *Identities) Reads() int {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return ids.reads
}

// get returns the identities. The first call reads them.
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

// Looked returns the places that were tried, for messages.
func (ids *Identities) Looked() []string {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	return ids.paths
}

// Files returns the default files, which are read unless a variable names an identity.
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
		ids.paths = []string{"$" + IdentityVariable}
		return ids.parse("$"+IdentityVariable, []byte(text))
	}
	if file := ids.Getenv(IdentityFileVariable); file != "" {
		ids.paths = []string{file}
		text, err := ids.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", IdentityFileVariable, err)
		}
		ids.checkMode(file)
		return ids.parse(file, text)
	}
	read := ids.ReadFound
	if read == nil {
		read = ids.ReadFile
	}
	for _, file := range ids.Files() {
		ids.paths = append(ids.paths, file)
		text, err := read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, fs.ErrPermission):
			ids.paths[len(ids.paths)-1] += " (not readable)"
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

// checkMode warns about a private key that other users can read.
func (ids *Identities) checkMode(file string) {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 && ids.Warn != nil {
		ids.Warn(fmt.Sprintf("identity %s is readable by others (mode %04o): run chmod 600 %[1]s, and replace it if someone read it", file, info.Mode().Perm()))
	}
}

// maxIdentity limits a file of identities, in bytes.
const maxIdentity = 1 << 20

// parse reads identities in the forms of the program age. Its errors do not quote the text.
func (ids *Identities) parse(name string, text []byte) ([]age.Identity, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(text) > maxIdentity:
		return nil, diag.Exceeds("identity "+name, "%d bytes", maxIdentity)
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
			return nil, diag.Errorf(diag.Pos{File: name, Line: number}, "%w", err).WithHint("create an identity with: ccm secret keygen")
		}
		if program, ok := id.(*plugin.Identity); ok {
			id = &pluginIdentity{ids, program}
		}
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("identity %s: %w", name, diag.None("key in it"))
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
		return nil, diag.OfKind("this", "a public key: use the private key, which begins with AGE-SECRET-KEY-")
	default:
		return nil, diag.Expected("an identity of age or an SSH key").Found("something else")
	}
	if err != nil {
		return nil, diag.Damaged("identity", nil) // the error of age quotes parts of the text
	}
	return id, nil
}

// sshIdentity reads a private SSH key. A key with a passphrase asks for it when it is first needed.
func (ids *Identities) sshIdentity(name string, text []byte) (age.Identity, error) {
	id, err := agessh.ParseIdentity(text)
	missing, ok := errors.AsType[*ssh.PassphraseMissingError](err)
	if !ok {
		if err != nil {
			return nil, diag.Expected("an SSH key of the kind ed25519 or RSA").Found("something else")
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
			return nil, fmt.Errorf("store its public key beside it, as %s.pub", filepath.Base(name))
		}
	}
	key, err := agessh.NewEncryptedSSHIdentity(public, text, func() ([]byte, error) { return ids.ask(name) })
	if err != nil {
		return nil, err
	}
	return &lockedSSHIdentity{name: name, key: key}, nil
}
