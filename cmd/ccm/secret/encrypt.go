package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

type encryptFlags struct {
	nodes       nodeFlags
	names, keys []string
	out         string
	marked      bool
	armor       bool
	force       bool
}

func newEncryptCommand(e *cli.Env) *cobra.Command {
	f := &encryptFlags{}
	cmd := &cobra.Command{
		Use:   "encrypt FILE",
		Short: "Encrypt a file, or values of a document in place",
		Long: `Encrypt a file to FILE.age, or values of a document in place. FILE itself is kept.
- is standard input, and requires -o.

With --key, one value of a YAML, JSON, TOML or Lua document is encrypted in place: the
text at db.password becomes ENC[age,...]. It can be decrypted only in this file and
under this key. With --marked, all marked values are encrypted: !secret hunter2 in
YAML, DEC[hunter2] in any format.

In Lua, values are in a table: secret.values { db = { password = "..." } }.`,
		Example: `  ccm secret encrypt files/tls.key --for @web
  ccm secret encrypt data.yaml --key data.db.password
  pwgen 32 1 | ccm secret encrypt - -o secrets/db.age
  ccm secret encrypt files/db.conf --for ann --to tag:role=db`,
		Args: cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := f.nodes.resolve(cmd.Context(), e, f.near(args[0]))
			if err != nil {
				return err
			}
			f.names = append(f.names, names...)
			if len(f.keys) > 0 || f.marked {
				return encryptValues(e, args[0], f)
			}
			return encryptFile(e, args[0], f)
		},
	}
	addFor(e, cmd, &f.names, "recipients (default "+encryption.Everybody+")")
	f.nodes.add(e, cmd, "additional recipients")
	fs := cmd.Flags()
	fs.StringArrayVar(&f.keys, "key", nil, "encrypt the value at `PATH`, such as db.password (repeatable)")
	fs.BoolVar(&f.marked, "marked", false, "encrypt all marked values")
	fs.StringVarP(&f.out, "output", "o", "", "write `FILE` instead of FILE.age")
	fs.BoolVarP(&f.armor, "armor", "a", false, "write ASCII-armored text")
	fs.BoolVar(&f.force, "force", false, "overwrite an existing output file")
	return cmd
}

// near returns the file whose site has the recipients.
func (f *encryptFlags) near(file string) string {
	if f.out != "" {
		return f.out
	}
	return file
}

func encryptFile(e *cli.Env, name string, f *encryptFlags) error {
	out := f.out
	switch {
	case out == "" && name == "-":
		return diag.At(diag.Pos{}, diag.Expected("an output file")).WithHint("-o FILE")
	case out == "":
		out = name + encryption.Suffix
	}
	r, err := readRecipients(e, out)
	if err != nil {
		return err
	}
	to, err := r.Audience(f.names...)
	if err != nil {
		return err
	}
	text, err := readSite(e, name)
	if err != nil {
		return err
	}
	if encryption.IsFile(text) {
		return diag.At(diag.Pos{}, diag.Already(name, "encrypted")).
			WithHint("change its recipients with: ccm secret rekey")
	}
	enc, err := encryption.Encrypt(text, to, f.armor)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !f.force {
		if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
			return diag.At(diag.Pos{}, diag.Exists(out, "")).
				WithHint("overwrite it with --force, or change its content with ccm secret edit")
		}
	}
	if err := saveSecret(e, out, enc); err != nil {
		return err
	}
	cli.Say(e, "wrote %s, for %s", out, audienceText(to))
	warnNobody(e, out, to)
	if name != "-" {
		cli.Say(e, "%s still exists unencrypted: remove it, also from version control", name)
	}
	return nil
}

// audienceText describes the recipients of a secret by the names given and the people that these
// include.
func audienceText(to *encryption.Audience) string {
	var people []string
	for _, k := range to.Keys {
		if len(people) == 0 || people[len(people)-1] != k.Name {
			people = append(people, k.Name)
		}
	}
	asked, are := cli.NamesOf(to.Names), cli.NamesOf(people)
	if asked == are {
		return are
	}
	return asked + " (" + are + ")"
}

func encryptValues(e *cli.Env, file string, f *encryptFlags) error {
	if f.out != "" || f.armor {
		return errors.New("--output and --armor require a whole file: values are encrypted in place")
	}
	s := cli.SecretSyntax(file)
	if s == nil {
		return fmt.Errorf("%s: %w", file, diag.Expected("a YAML, JSON, TOML or Lua document, by file name extension"))
	}
	r, err := readRecipients(e, file)
	if err != nil {
		return err
	}
	to, err := r.Audience(f.names...)
	if err != nil {
		return err
	}
	raw, err := e.Files.ReadFile(file)
	if err != nil {
		return err
	}
	text, done := string(raw), f.keys
	for _, key := range f.keys {
		if text, err = encryption.EncryptKey(s, file, text, key, to); err != nil {
			return err
		}
	}
	if f.marked {
		var more []string
		text, more, err = encryption.Close(s, file, text, nil, func(string) (*encryption.Audience, error) { return to, nil })
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if done = append(done, more...); len(done) == 0 {
			return diag.At(diag.Pos{}, fmt.Errorf("%s: %w", file, diag.None("marked values"))).
				WithHint("mark a value as !secret hunter2 or DEC[hunter2], or select it with --key")
		}
	}
	if err := saveSecret(e, file, []byte(text)); err != nil {
		return err
	}
	cli.Say(e, "%s: encrypted %s, for %s", file, strings.Join(done, ", "), audienceText(to))
	warnNobody(e, file, to)
	return nil
}

func newDecryptCommand(e *cli.Env) *cobra.Command {
	out, key := "", ""
	cmd := &cobra.Command{
		Use:   "decrypt FILE",
		Short: "Decrypt and print a file or value",
		Long: `Decrypt and print an encrypted file, or a document with its values as DEC[...].
Read-only without -o.

  ccm secret decrypt files/tls.key.age
  ccm secret decrypt data.yaml --key db.password

With --key, a single value is printed as it is.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := decrypted(e, args[0], key)
			if err != nil {
				return err
			}
			if out != "" {
				return cli.Machine(e).Save(out, text, 0o600)
			}
			_, err = e.Print().Data().Write(text)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE`, with mode 0600 if new")
	cmd.Flags().StringVar(&key, "key", "", "print the value at `PATH`, such as db.password")
	return cmd
}

func decrypted(e *cli.Env, file, key string) ([]byte, error) {
	raw, err := readSite(e, file)
	if err != nil {
		return nil, err
	}
	d := e.Decrypter()
	if encryption.IsFile(raw) || strings.HasSuffix(file, encryption.Suffix) {
		if key != "" {
			return nil, diag.Cannot("select", fmt.Sprintf("key %s, because %s is encrypted as a whole", key, file), nil)
		}
		return d.File(file, raw)
	}
	s := cli.SecretSyntax(file)
	if s == nil {
		return nil, diag.Not(file, "encrypted")
	}
	if key == "" {
		text, values, err := d.Open(s, file, string(raw))
		if err == nil && len(values) == 0 {
			err = diag.None("encrypted values in %s", file)
		}
		return []byte(text), err
	}
	values, err := encryption.Values(s, string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, v := range values {
		if v.Key == key {
			text, err := d.Value(v.Text, file, key)
			return []byte(text), err
		}
	}
	return nil, fmt.Errorf("%s: %w", file, diag.None("encrypted value at key %s", key))
}
