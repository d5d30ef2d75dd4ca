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
		Short: "Encrypt a file, or single values of a document in their places",
		Long: `Encrypt a file: FILE.age is written, and FILE stays as it is. - is standard input,
and needs -o.

With --key a value of a document in YAML, JSON, TOML or Lua is encrypted in its
place, and all around it stays: the text at db.password becomes ENC[age,...]. It can
be decrypted only in this file and under this key. --marked does that for each value
that is marked: !secret hunter2 in YAML, DEC[hunter2] in all of them.

In Lua the values stand in a table: secret.values { db = { password = "..." } }.`,
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
	addFor(e, cmd, &f.names, "who can read it (default "+encryption.Everybody+")")
	f.nodes.add(e, cmd, "which nodes can read it, too")
	fs := cmd.Flags()
	fs.StringArrayVar(&f.keys, "key", nil, "encrypt the value at `PATH`, such as db.password or users.0.token (may be given again)")
	fs.BoolVar(&f.marked, "marked", false, "encrypt all values that are marked")
	fs.StringVarP(&f.out, "output", "o", "", "write `FILE` instead of FILE.age")
	fs.BoolVarP(&f.armor, "armor", "a", false, "write text that can be printed and mailed")
	fs.BoolVar(&f.force, "force", false, "overwrite the file that is written")
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
		return diag.At(diag.Pos{}, diag.Expected("the name of the file to write")).WithHint("-o FILE")
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
		return diag.Errorf(diag.Pos{}, "%s is encrypted already", name).WithHint("ccm secret rekey encrypts it to others")
	}
	enc, err := encryption.Encrypt(text, to, f.armor)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !f.force {
		if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
			return diag.Errorf(diag.Pos{}, "%s is there already", out).WithHint("--force overwrites it, ccm secret edit changes what it holds")
		}
	}
	if err := saveSecret(e, out, enc); err != nil {
		return err
	}
	cli.Say(e, "wrote %s, for %s", out, audienceText(to))
	warnNobody(e, out, to)
	if name != "-" {
		cli.Say(e, "%s is still there, and not encrypted: remove it, and take it out of version control", name)
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
		return errors.New("--output and --armor are for whole files: a value is encrypted in its place")
	}
	s := cli.SecretSyntax(file)
	if s == nil {
		return fmt.Errorf("%s: %w", file, diag.Expected("a document in YAML, JSON, TOML or Lua, by the end of its name"))
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
			return diag.Errorf(diag.Pos{}, "%s: nothing is marked", file).WithHint("mark a value as !secret hunter2 or DEC[hunter2], or name it with --key")
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
		Short: "Print what an encrypted file or value holds",
		Long: `Print what an encrypted file holds, or a document with its encrypted values as
DEC[...]. With --key a single value is printed, as it is.`,
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
	cmd.Flags().StringVarP(&out, "output", "o", "", "write `FILE`, with mode 0600 if it is new")
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
			return nil, fmt.Errorf("%s is encrypted as a whole, and has no key %s", file, key)
		}
		return d.File(file, raw)
	}
	s := cli.SecretSyntax(file)
	if s == nil {
		return nil, fmt.Errorf("%s is not encrypted", file)
	}
	if key == "" {
		text, values, err := d.Open(s, file, string(raw))
		if err == nil && len(values) == 0 {
			err = fmt.Errorf("%s holds nothing that is encrypted", file)
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
	return nil, fmt.Errorf("%s: there is no encrypted value under the key %s", file, key)
}
