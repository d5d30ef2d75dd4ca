package encryption_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

// newKey returns a new identity as text, and its public key.
func newKey(t testing.TB) (identity, public string) {
	identity, public, err := encryption.NewIdentity("today")
	require.NoError(t, err)
	return identity, public
}

// decrypterOf returns a Decrypter with the identities in a text.
func decrypterOf(identity string) *encryption.Decrypter {
	return &encryption.Decrypter{Identities: &encryption.Identities{Getenv: func(name string) string {
		if name == encryption.IdentityVariable {
			return identity
		}
		return ""
	}}}
}

func recipients(t testing.TB, text string) *encryption.Recipients {
	r, err := encryption.ReadRecipients(".ccm/recipients", text)
	require.NoError(t, err)
	return r
}

func audience(t testing.TB, text string, names ...string) *encryption.Audience {
	a, err := recipients(t, text).Audience(names...)
	require.NoError(t, err)
	return a
}

// sitePath makes a site, and returns the path of a file in it.
func sitePath(t testing.TB, name string) string {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".ccm"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, encryption.RecipientsFile), nil, 0o644))
	return filepath.Join(dir, name)
}

func hintOf(err error) string {
	var list diag.List
	list.Add(err)
	return list[0].Hint
}

func TestFiles(t *testing.T) {
	ann, annKey := newKey(t)
	_, bobKey := newKey(t)
	eve, _ := newKey(t)
	for _, armored := range []bool{false, true} {
		enc, err := encryption.Encrypt([]byte("hunter22\n"), audience(t, "ann "+annKey+"\nbob "+bobKey+"\n@admins ann bob\n", "@admins"), armored)
		require.NoError(t, err)
		require.True(t, encryption.IsFile(enc))
		text, err := decrypterOf(ann).File("db.age", enc)
		require.NoError(t, err)
		require.Equal(t, "hunter22\n", string(text))

		desc, err := encryption.Describe(enc)
		require.NoError(t, err)
		require.Equal(t, []string{"@admins"}, desc.For)
		require.Equal(t, []string{"ann", "bob"}, desc.Readers())

		_, err = decrypterOf(eve).File("db.age", enc)
		require.ErrorIs(t, err, encryption.ErrNoIdentity)
		require.ErrorContains(t, err, "db.age: no identity on this machine can decrypt it; its recipients are ann, bob")
		require.Contains(t, hintOf(err), "$CCM_AGE_IDENTITY")
	}
}

// TestProgram: the program age decrypts files of ccm, and ccm decrypts files of age.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("age"); err != nil {
		t.Skip("there is no program age")
	}
	dir := t.TempDir()
	ann, annKey := newKey(t)
	hostKey, hostPublic := newSSHKey(t)
	for name, k := range map[string][2]string{"age": {ann, annKey}, "ssh": {hostKey, hostPublic}} {
		key := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(key, []byte(k[0]), 0o600))
		enc, err := encryption.Encrypt([]byte("hunter22"), audience(t, "x "+k[1]+"\n"), name == "ssh")
		require.NoError(t, err)
		cmd := exec.Command("age", "-d", "-i", key)
		cmd.Stdin = strings.NewReader(string(enc))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, "hunter22", string(out))

		cmd = exec.Command("age", "-r", k[1])
		cmd.Stdin = strings.NewReader("hunter33")
		enc, err = cmd.Output()
		require.NoError(t, err)
		text, err := decrypterOf(k[0]).File("x.age", enc)
		require.NoError(t, err)
		require.Equal(t, "hunter33", string(text))
		desc, err := encryption.Describe(enc)
		require.NoError(t, err)
		require.Empty(t, desc.For)
		require.NotEmpty(t, desc.Kinds)
	}
}

func newSSHKey(t testing.TB) (private, public string) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	require.NoError(t, err)
	sshPub, err := ssh.NewPublicKey(pub)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshPub)))
}

// TestTampering: a change of any byte of an encrypted file or value is an error.
func TestTampering(t *testing.T) {
	ann, annKey := newKey(t)
	d := decrypterOf(ann)
	enc, err := encryption.Encrypt([]byte("hunter22"), audience(t, "ann "+annKey+"\n"), false)
	require.NoError(t, err)
	for i := range enc {
		damaged := append([]byte{}, enc...)
		damaged[i] ^= 1
		_, err := d.File("db.age", damaged)
		require.Error(t, err, "byte %d of %d, %q", i, len(enc), enc[i])
		require.Contains(t, err.Error(), "db.age: ")
	}
	for i := range enc {
		_, err := d.File("db.age", enc[:i])
		require.Error(t, err, "the first %d bytes of %d", i, len(enc))
	}
	file := sitePath(t, "data.yaml")
	value, err := encryption.EncryptKey(encryption.SyntaxOf(file), file, "pw: hunter22\n", "pw", audience(t, "ann "+annKey+"\n"))
	require.NoError(t, err)
	values, err := encryption.Values(encryption.SyntaxOf(file), value)
	require.NoError(t, err)
	text := values[0].Text
	for i := range text {
		for _, bit := range []byte{1, 4} {
			damaged := []byte(text)
			damaged[i] ^= bit
			_, err := d.Value(string(damaged), file, "pw")
			require.Error(t, err, "byte %d, %q", i, text[i])
		}
	}
	plain, err := d.Value(text, file, "pw")
	require.NoError(t, err)
	require.Equal(t, "hunter22", plain)
}

// TestMovedValues: a value can be decrypted only in the file and under the key that it was encrypted for.
func TestMovedValues(t *testing.T) {
	ann, annKey := newKey(t)
	d := decrypterOf(ann)
	file := sitePath(t, "data.yaml")
	to := audience(t, "ann "+annKey+"\n")
	text, err := encryption.EncryptKey(encryption.SyntaxOf(file), file, "# c\ndb: {pw: hunter22, user: app} # d\n", "db.pw", to)
	require.NoError(t, err)
	require.Regexp(t, `^# c\ndb: \{pw: 'ENC\[age,[^']*\]', user: app\} # d\n$`, text)
	values, err := encryption.Values(encryption.SyntaxOf(file), text)
	require.NoError(t, err)
	require.Len(t, values, 1)
	require.Equal(t, "db.pw", values[0].Key)

	_, err = d.Value(values[0].Text, file, "db.user")
	require.ErrorIs(t, err, encryption.ErrMoved)
	require.ErrorContains(t, err, "encrypted for data.yaml: db.pw, found at data.yaml: db.user")
	_, err = d.Value(values[0].Text, filepath.Join(filepath.Dir(file), "other.yaml"), "db.pw")
	require.ErrorIs(t, err, encryption.ErrMoved)
	require.Zero(t, d.Decrypted(), "no key was needed to see that")

	// The whole site may be moved, even to a directory without recipients.
	for _, other := range []string{sitePath(t, "data.yaml"), filepath.Join(t.TempDir(), "data.yaml")} {
		plain, err := d.Value(values[0].Text, other, "db.pw")
		require.NoError(t, err)
		require.Equal(t, "hunter22", plain)
	}
}

// TestOnce: identities are read once, and equal texts are decrypted once.
func TestOnce(t *testing.T) {
	ann, annKey := newKey(t)
	key := filepath.Join(t.TempDir(), "age.key")
	require.NoError(t, os.WriteFile(key, []byte(ann), 0o600))
	d := &encryption.Decrypter{Identities: &encryption.Identities{
		Getenv:   func(name string) string { return map[string]string{encryption.IdentityFileVariable: key}[name] },
		ReadFile: os.ReadFile,
	}}
	require.Zero(t, d.Identities.Reads())
	for i := range 3 {
		enc, err := encryption.Encrypt([]byte(fmt.Sprint("secret", i)), audience(t, "ann "+annKey+"\n"), false)
		require.NoError(t, err)
		for range 5 {
			_, err := d.File("x.age", enc)
			require.NoError(t, err)
		}
	}
	require.Equal(t, 1, d.Identities.Reads())
	require.Equal(t, 3, d.Decrypted())
}

// TestIdentities: identities come from the variables, else from the files of the user and the system.
func TestIdentities(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "config", "ccm"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "system"), 0o755))
	host, hostKey := newSSHKey(t)
	ann, annKey := newKey(t)
	machine, machineKey := newKey(t)
	var warned []string
	for name, text := range map[string]string{"config/ccm/age.key": ann, "system/age.key": machine, "host": host} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "host"), 0o644))
	newIdentities := func() *encryption.Identities {
		return &encryption.Identities{
			Getenv: func(string) string { return "" }, ConfigDir: filepath.Join(dir, "config"), SystemDir: filepath.Join(dir, "system"),
			HostKey: filepath.Join(dir, "host"), ReadFile: os.ReadFile, Warn: func(text string) { warned = append(warned, text) },
		}
	}
	for _, key := range []string{annKey, machineKey, hostKey} {
		enc, err := encryption.Encrypt([]byte("hunter22"), audience(t, "x "+key+"\n"), false)
		require.NoError(t, err)
		text, err := (&encryption.Decrypter{Identities: newIdentities()}).File("x.age", enc)
		require.NoError(t, err)
		require.Equal(t, "hunter22", string(text))
	}
	require.Len(t, warned, 3)
	require.Contains(t, warned[0], "chmod 600")

	// A damaged identity is an error, which does not quote the text.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "system", "age.key"), []byte(machine[:len(machine)-9]+"\n"), 0o600))
	enc, err := encryption.Encrypt([]byte("hunter22"), audience(t, "x "+annKey+"\n"), false)
	require.NoError(t, err)
	_, err = (&encryption.Decrypter{Identities: newIdentities()}).File("x.age", enc)
	require.ErrorContains(t, err, "identity is damaged")
	require.NotContains(t, err.Error(), "SECRET")

	// Without any identity, the error lists the places.
	none := newIdentities()
	none.ConfigDir, none.SystemDir, none.HostKey = "", dir+"/nowhere", dir+"/no-key"
	_, err = (&encryption.Decrypter{Identities: none}).File("x.age", enc)
	require.ErrorIs(t, err, encryption.ErrNoIdentity)
	require.Contains(t, hintOf(err), "nowhere/age.key")
}

// TestPassphrase: the passphrase is asked for once, and only if no other identity fits.
func TestPassphrase(t *testing.T) {
	ann, annKey := newKey(t)
	locked, err := encryption.Lock(ann, "correct horse", 8)
	require.NoError(t, err)
	asked, pass := 0, "correct horse"
	newDecrypter := func() *encryption.Decrypter {
		d := decrypterOf(string(locked))
		d.Identities.Passphrase = func(string) ([]byte, error) { asked++; return []byte(pass), nil }
		return d
	}
	d := newDecrypter()
	for i := range 2 {
		enc, err := encryption.Encrypt([]byte(fmt.Sprint("hunter", i)), audience(t, "ann "+annKey+"\n"), false)
		require.NoError(t, err)
		_, err = d.File("x.age", enc)
		require.NoError(t, err)
	}
	require.Equal(t, 1, asked)
	pass = "wrong"
	enc, err := encryption.Encrypt([]byte("hunter"), audience(t, "ann "+annKey+"\n"), false)
	require.NoError(t, err)
	_, err = newDecrypter().File("x.age", enc)
	require.ErrorContains(t, err, "wrong passphrase")
	d = newDecrypter()
	d.Identities.Passphrase = nil
	_, err = d.File("x.age", enc)
	require.ErrorContains(t, err, "cannot be asked for without a terminal")
}

func TestReadRecipients(t *testing.T) {
	_, annKey := newKey(t)
	_, bobKey := newKey(t)
	_, hostKey := newSSHKey(t)
	private, _ := newKey(t)
	text := "# people\nann: " + annKey + "\nbob  " + bobKey + " # old\n\n# hosts\nweb1 " + hostKey + " root@web1\n@admins: ann bob # c\n@web web1 @admins\n"
	r := recipients(t, text)
	a, err := r.Audience("@web")
	require.NoError(t, err)
	require.Len(t, a.Keys, 3)
	a, err = r.Audience("web1", "ann")
	require.NoError(t, err)
	require.Len(t, a.Keys, 2)
	_, err = r.Audience("@wbe")
	require.ErrorContains(t, err, `no recipient "@wbe" in .ccm/recipients`)
	require.Contains(t, hintOf(err), "@web")

	for line, want := range map[string]string{
		annKey:             "key without a name",
		"ann":              "expected an age or SSH key after the name ann",
		"ann age1xyz":      "not a valid age key:",
		"ann ssh-dss AAAA": "not a valid age key:",
		"a/b " + annKey:    "expected a name of letters",
		"@all ann":         "means everybody in this file, and cannot be defined",
		"@x":               "expected the members",
		"@x nobody":        `no recipient "nobody"`,
		"@x @y\n@y @x":     "contains itself",
		"ann " + strings.Split(strings.TrimSpace(private), "\n")[2]: "private key in a file that everybody can read",
		"ann " + annKey + "\nbob " + annKey:                         "this key is already in line 1, for ann",
	} {
		_, err := encryption.ReadRecipients("r", line+"\n")
		require.ErrorContains(t, err, want, line)
		require.NotContains(t, err.Error(), "SECRET-KEY")
	}
}

// TestRekey: a removed recipient can no longer decrypt, an added one can, and the change lists who was revoked.
func TestRekey(t *testing.T) {
	ann, annKey := newKey(t)
	bob, bobKey := newKey(t)
	file := sitePath(t, "data.yaml")
	s := encryption.SyntaxOf(file)
	text, err := encryption.EncryptKey(s, file, "a: hunter22\nb: hunter33\n", "a", audience(t, "ann "+annKey+"\nbob "+bobKey+"\n"))
	require.NoError(t, err)
	text, err = encryption.EncryptKey(s, file, text, "b", audience(t, "ann "+annKey+"\nbob "+bobKey+"\n", "ann"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	f := encryption.Finder{SyntaxOf: encryption.SyntaxOf, ReadFile: os.ReadFile}
	items, err := f.Find(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, items, 2)

	carol, carolKey := newKey(t)
	now := recipients(t, "ann "+annKey+"\ncarol "+carolKey+"\n")
	change, err := now.ChangeOf(items[0], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"carol"}, change.Added)
	require.Equal(t, []string{"bob"}, change.Removed)
	require.Equal(t, []string{"bob"}, change.Revoked)
	other, err := now.ChangeOf(items[1], nil)
	require.NoError(t, err)
	require.True(t, other.IsNone())

	after, err := decrypterOf(ann).Rekey(s, file, []byte(text), []*encryption.Change{change})
	require.NoError(t, err)
	values, err := encryption.Values(s, string(after))
	require.NoError(t, err)
	require.Equal(t, items[1].Text, values[1].Text, "what is right stays, byte for byte")
	plain, err := decrypterOf(carol).Value(values[0].Text, file, "a")
	require.NoError(t, err)
	require.Equal(t, "hunter22", plain)
	_, err = decrypterOf(bob).Value(values[0].Text, file, "a")
	require.ErrorIs(t, err, encryption.ErrNoIdentity)

	// A new key under the same name is a change too.
	_, newAnn := newKey(t)
	change, err = recipients(t, "ann "+newAnn+"\n").ChangeOf(items[1], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ann"}, change.Renewed)
	require.Equal(t, []string{"ann"}, change.Revoked)
}

// TestEditing: unchanged values stay byte for byte, and new ones are encrypted.
func TestEditing(t *testing.T) {
	ann, annKey := newKey(t)
	d := decrypterOf(ann)
	to := audience(t, "ann "+annKey+"\n")
	whom := func(string) (*encryption.Audience, error) { return to, nil }
	for name, text := range map[string]string{
		"a.yaml": "# c\na: DEC[hunter22] # d\nb: !secret 'x: y'\nl:\n  - |-\n    DEC[two\n    lines]\n",
		"a.json": `{"a": "DEC[hunter22]", "b": ["DEC[xx\"y]"]} // c`,
		"a.toml": "a = 'DEC[hunter22]' # c\n[t]\nb = \"x\"\n",
	} {
		file := sitePath(t, name)
		s := encryption.SyntaxOf(file)
		closed, keys, err := encryption.Close(s, file, text, nil, whom)
		require.NoError(t, err, name)
		require.Contains(t, keys, "a")
		require.NotContains(t, closed, "hunter22")
		opened, values, err := d.Open(s, file, closed)
		require.NoError(t, err)
		require.Contains(t, opened, "DEC[hunter22]")
		again, keys, err := encryption.Close(s, file, opened, values, whom)
		require.NoError(t, err)
		require.Empty(t, keys)
		require.Equal(t, closed, again)
		changed, keys, err := encryption.Close(s, file, strings.Replace(opened, "hunter22", "hunter33", 1), values, whom)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, keys)
		require.NotEqual(t, closed, changed)
	}
}

// TestEditingKeepsMarks: a value that loses its mark is refused instead of being written in plain text, and so is a
// value too short to be hidden in output.
func TestEditingKeepsMarks(t *testing.T) {
	ann, annKey := newKey(t)
	to := audience(t, "ann "+annKey+"\n")
	whom := func(string) (*encryption.Audience, error) { return to, nil }
	file := sitePath(t, "a.yaml")
	s := encryption.SyntaxOf(file)
	closed, _, err := encryption.Close(s, file, "a: DEC[hunter22]\nb: plain\n", nil, whom)
	require.NoError(t, err)
	_, values, err := decrypterOf(ann).Open(s, file, closed)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"a: 'DEC[hunter33'\nb: plain\n":         "a: invalid mark of a value to encrypt",
		"a: 'DEC [hunter33]'\nb: plain\n":       "a: invalid mark of a value to encrypt",
		"a: ' dec[hunter33] '\nb: plain\n":      "a: invalid mark of a value to encrypt",
		"a: DEC[hunter22]\nb: 'DEC[new one'\n":  "b: invalid mark of a value to encrypt",
		"a: hunter33\nb: plain\n":               "a: was encrypted, but is no longer marked",
		"a: DEC[hunter33]\nb: hunter22\n":       "b: contains an encrypted value without mark",
		"a: DEC[hunter22]\nb: DEC[123]\n":       "b: cannot mask a value: it has less than 4 bytes",
		"a: DEC[hunter22]\nb: DEC[]\n":          "b: cannot mask a value: it is empty",
		"a: DEC[hunter22]\nb: !secret '    '\n": "b: cannot mask a value: it contains only white space",
	} {
		_, _, err := encryption.Close(s, file, text, values, whom)
		require.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{"b: plain\n", "a: DEC[hunter22]\nb: hunter\n", "c: DEC[hunter22]\nb: plain\n"} {
		_, _, err := encryption.Close(s, file, text, values, whom)
		require.NoError(t, err, text)
	}
	_, err = encryption.EncryptKey(s, file, "data:\n  pin: '123'\n  db: {pin: abcd}\n", "data.pin", to)
	require.ErrorContains(t, err, "less than 4 bytes")
	_, err = encryption.EncryptKey(s, file, "data:\n  db: {pin: abcd}\n", "db.pin", to)
	require.ErrorContains(t, err, "did you mean data.db.pin?")
}

// TestEditingMovesValues: a value that is moved within a list or to another key keeps its readers, and the value that
// takes its place does not get them.
func TestEditingMovesValues(t *testing.T) {
	ann, annKey := newKey(t)
	d := decrypterOf(ann)
	to := audience(t, "ann "+annKey+"\n")
	file := sitePath(t, "a.yaml")
	s := encryption.SyntaxOf(file)
	text, _, err := encryption.Close(s, file, "l:\n  - DEC[for web]\n  - DEC[for ann]\nm: DEC[third]\n", nil, func(string) (*encryption.Audience, error) { return to, nil })
	require.NoError(t, err)
	_, values, err := d.Open(s, file, text)
	require.NoError(t, err)
	for _, x := range []struct {
		name, text string
		want       []string // the keys whose readers the values are encrypted to
	}{
		{"one is deleted", "l:\n  - DEC[for ann]\nm: DEC[third]\n", []string{"l.1"}},
		{"one comes before", "l:\n  - DEC[anew]\n  - DEC[for web]\n  - DEC[for ann]\nm: DEC[third]\n", []string{"l.0", "l.0", "l.1"}},
		{"two are exchanged", "l:\n  - DEC[for ann]\n  - DEC[for web]\nm: DEC[third]\n", []string{"l.1", "l.0"}},
		{"a key is renamed", "l:\n  - DEC[for web]\n  - DEC[for ann]\nn: DEC[third]\n", []string{"m"}},
		{"one is copied", "l:\n  - DEC[for web]\n  - DEC[for ann]\nm: DEC[third]\nn: DEC[for ann]\n", []string{"l.1"}},
		{"one is changed to what stands elsewhere", "l:\n  - DEC[for web]\n  - DEC[for ann]\nm: DEC[for ann]\n", []string{"m"}},
	} {
		var asked []string
		_, _, err := encryption.Close(s, file, x.text, values, func(key string) (*encryption.Audience, error) {
			asked = append(asked, key)
			return to, nil
		})
		require.NoError(t, err, x.name)
		require.Equal(t, x.want, asked, x.name)
	}
}

// fuzzKey returns a key that is the same in each process: go test runs a fuzz target in several worker processes,
// which must decrypt each other's inputs. It protects no data.
func fuzzKey(t testing.TB) (identity, public string) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(key, "")
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

// fuzzedValue is "hunter22" encrypted to fuzzKey, for the key a of data.yaml.
const fuzzedValue = "ENC[age,YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNzaC1lZDI1NTE5IHRBWEZ5USBSL3pKQ1BVd2hrQVc1bUh2Y29JNWQ1eHJXQzZFNVBZWnM1ckE0dDRKUGl3Cm9CZ3VMNVlGaUxObXpmcmF4dEJldHYrM1dRYzhMZDVZZDBMNGNpRitubjgKLT4gY2NtLmZvciBAYWxsIGFubj1iYzE3Y2YzNTA4OGYKWkdGMFlTNTVZVzFzQUdFCi0tLSAvemkyQnNmWjE1ck9iSUVhS2NnbnFXNEVuRGtnaEV5NGJOU3Y0dFhOR1IwCpMiZYxncsh2qs5SAEEVJXOn21T4rpeIbgrOTP8gMHv/LiEb423kvkI=]"

func FuzzValue(f *testing.F) {
	identity, _ := fuzzKey(f)
	d := decrypterOf(identity)
	file := sitePath(f, "data.yaml")
	text, err := d.Value(fuzzedValue, file, "a")
	require.NoError(f, err)
	require.Equal(f, "hunter22", text)
	f.Add(fuzzedValue)
	f.Add("ENC[age,]")
	f.Add("ENC[age,AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = encryption.DescribeValue(text)
		if out, err := d.Value(text, file, "a"); err == nil && text != fuzzedValue {
			t.Fatalf("%q was made of %q", out, text)
		}
	})
}

// TestMixedKeys: age refuses recipients of post-quantum and other keys together; the error names them.
func TestMixedKeys(t *testing.T) {
	_, annKey := newKey(t)
	id, err := age.GenerateHybridIdentity()
	require.NoError(t, err)
	_, err = encryption.Encrypt([]byte("x"), audience(t, "ann "+annKey+"\nbob "+id.Recipient().String()+"\n"), false)
	require.EqualError(t, err, "age cannot encrypt to post-quantum keys (of bob) and other keys (of ann) at once (use keys of one kind, or select recipients with --for)")
	_, err = encryption.Encrypt([]byte("x"), audience(t, "bob "+id.Recipient().String()+"\n"), false)
	require.NoError(t, err)
}

func FuzzDescribe(f *testing.F) {
	_, public := fuzzKey(f)
	enc, err := encryption.Encrypt([]byte("x"), audience(f, "ann "+public+"\n"), false)
	require.NoError(f, err)
	f.Add(enc)
	f.Add([]byte("age-encryption.org/v1\n-> ccm.for @all ann=00\n\n--- AAAA\n"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = encryption.Describe(text) })
}

func FuzzReadRecipients(f *testing.F) {
	_, annKey := fuzzKey(f)
	f.Add("ann " + annKey + "\n@x ann\n")
	f.Add("@a @b\n@b @a\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := encryption.ReadRecipients("r", text)
		if err == nil {
			for g := range r.Groups {
				if _, err := r.Audience(g); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
