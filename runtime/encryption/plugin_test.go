package encryption_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/plugin"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/encryption"
)

// testPlugin is the plugin name under which the test binary runs as a plugin of age.
const testPlugin = "ccmtest"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "age-plugin-"+testPlugin {
		os.Exit(runPlugin())
	}
	os.Exit(m.Run())
}

// runPlugin is a plugin whose keys contain keys of age as text. It shows a message before it decrypts.
func runPlugin() int {
	p, err := plugin.New(testPlugin)
	if err != nil {
		panic(err)
	}
	p.HandleRecipient(func(data []byte) (age.Recipient, error) { return age.ParseX25519Recipient(string(data)) })
	p.HandleIdentity(func(data []byte) (age.Identity, error) {
		if string(data) == "broken" {
			return nil, errors.New("the token was \x1b[2Jremoved")
		}
		if err := p.DisplayMessage("touch the token"); err != nil {
			return nil, err
		}
		return age.ParseX25519Identity(string(data))
	})
	return p.Main()
}

// TestPlugin: programs named age-plugin-NAME handle public keys and identities, and their error messages reach the
// user.
func TestPlugin(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	key := plugin.EncodeRecipient(testPlugin, []byte(id.Recipient().String()))
	to := audience(t, "token "+key+"\n")

	t.Setenv("PATH", t.TempDir())
	_, err = encryption.Encrypt([]byte("hunter22"), to, false)
	require.ErrorContains(t, err, "age-plugin-ccmtest, which one of the keys requires")

	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "age-plugin-"+testPlugin)))
	t.Setenv("PATH", dir)
	enc, err := encryption.Encrypt([]byte("hunter22"), to, false)
	require.NoError(t, err)
	desc, err := encryption.Describe(enc)
	require.NoError(t, err)
	require.Equal(t, []string{"token"}, desc.Readers())

	d := decrypterOf(plugin.EncodeIdentity(testPlugin, []byte(id.String())))
	var asked []string
	d.Identities.BeforePrompt = func() func() {
		asked = append(asked, "begun")
		return func() { asked = append(asked, "done") }
	}
	text, err := d.File("x.age", enc)
	require.NoError(t, err)
	require.Equal(t, "hunter22", string(text))
	require.Equal(t, []string{"begun", "done"}, asked, "the program of a plugin may ask")

	_, err = decrypterOf(plugin.EncodeIdentity(testPlugin, []byte("broken"))).File("x.age", enc)
	require.ErrorContains(t, err, "x.age")
	require.ErrorContains(t, err, "removed")

	other, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	_, err = decrypterOf(plugin.EncodeIdentity(testPlugin, []byte(other.String()))).File("x.age", enc)
	require.ErrorIs(t, err, encryption.ErrNoIdentity)
	require.ErrorContains(t, err, "its recipients are token")

	t.Setenv("PATH", t.TempDir())
	_, err = decrypterOf(plugin.EncodeIdentity(testPlugin, []byte(id.String()))).File("x.age", enc)
	require.EqualError(t, err, "x.age: age-plugin-ccmtest, which one of the keys requires, is not installed; its recipients are token "+
		"(install age-plugin-ccmtest, or set CCM_AGE_IDENTITY_FILE to an identity without plugin)")
	_, err = decrypterOf("garbage").File("x.age", enc)
	require.EqualError(t, err, "x.age: $CCM_AGE_IDENTITY:1: expected an identity of age or an SSH key, found something else; its recipients are token (create an identity with: ccm secret keygen)")
}

// TestReleasedPlugin: a plugin that is released with age decrypts.
func TestReleasedPlugin(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "filippo.io/age/extra/age-plugin-pq")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	id, err := age.GenerateHybridIdentity()
	require.NoError(t, err)
	enc, err := encryption.Encrypt([]byte("hunter22"), audience(t, "ann "+id.Recipient().String()+"\n"), false)
	require.NoError(t, err)
	convert := exec.Command(filepath.Join(dir, "age-plugin-pq"), "-identity")
	convert.Stdin = strings.NewReader(id.String() + "\n")
	out, err := convert.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "AGE-PLUGIN-PQ-1")

	t.Setenv("PATH", dir)
	text, err := decrypterOf(string(out)).File("x.age", enc)
	require.NoError(t, err)
	require.Equal(t, "hunter22", string(text))
}

// TestSSHKeys: keys of ssh-keygen decrypt; a passphrase is asked for once, and only if the key is needed.
func TestSSHKeys(t *testing.T) {
	for name, options := range map[string][]string{
		"ed25519":          {"-t", "ed25519", "-N", ""},
		"ed25519, locked":  {"-t", "ed25519", "-N", "correct horse"},
		"rsa":              {"-t", "rsa", "-b", "2048", "-N", ""},
		"rsa, locked":      {"-t", "rsa", "-b", "2048", "-N", "correct horse"},
		"rsa, PEM":         {"-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""},
		"rsa, PEM, locked": {"-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "correct horse"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "id")
			out, err := exec.Command("ssh-keygen", append(options, "-q", "-C", "ann@laptop", "-f", file)...).CombinedOutput()
			require.NoError(t, err, string(out))
			public, err := os.ReadFile(file + ".pub")
			require.NoError(t, err)
			asked, pass := 0, "correct horse"
			newDecrypter := func() *encryption.Decrypter {
				return &encryption.Decrypter{Identities: &encryption.Identities{
					Getenv:   func(name string) string { return map[string]string{encryption.IdentityFileVariable: file}[name] },
					ReadFile: os.ReadFile, Passphrase: func(string) ([]byte, error) { asked++; return []byte(pass), nil },
				}}
			}
			d := newDecrypter()
			var enc []byte
			for range 2 {
				enc, err = encryption.Encrypt([]byte("hunter22"), audience(t, "ann "+string(public)), false)
				require.NoError(t, err)
				text, err := d.File("x.age", enc)
				require.NoError(t, err)
				require.Equal(t, "hunter22", string(text))
			}
			locked := strings.Contains(name, "locked")
			require.Equal(t, map[bool]int{true: 1}[locked], asked)
			if !locked {
				return
			}
			_, bob := newKey(t)
			other, err := encryption.Encrypt([]byte("hunter22"), audience(t, "bob "+bob+"\n"), false)
			require.NoError(t, err)
			_, err = newDecrypter().File("y.age", other)
			require.ErrorIs(t, err, encryption.ErrNoIdentity)
			require.Equal(t, 1, asked, "it is not for this key")
			pass = "wrong"
			d = newDecrypter()
			for range 2 {
				_, err = d.File("x.age", enc)
				require.ErrorContains(t, err, "x.age: identity "+file+": wrong passphrase")
			}
			require.Equal(t, 2, asked, "it is asked for once")
		})
	}
}
