package secret

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	luasyntax "github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

func newEditCommand(e *cli.Env) *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:   "edit FILE",
		Short: "Edit an encrypted file or encrypted values",
		Long: `Edit an encrypted file, or a document with encrypted values, in $VISUAL or $EDITOR.

  ccm secret edit files/tls.key.age
  ccm secret edit data.yaml

The file may be new. In a document, values appear as DEC[hunter2] in the editor. New
values that you write like this are encrypted; unchanged ones keep their ciphertext.

The plaintext is in a private directory, in memory if the system supports it, and is
overwritten and removed afterwards. If the editor fails or the text has a mistake,
your text is saved encrypted as FILE.edited.age; ccm secret decrypt prints it.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return editSecret(cmd.Context(), e, args[0], names) },
	}
	addFor(e, cmd, &names, "recipients of new values (default: of the others, or "+encryption.Everybody+")")
	return cmd
}

// editSecret edits a file or the values of a document.
func editSecret(ctx context.Context, e *cli.Env, file string, names []string) error {
	r, err := readRecipients(e, file)
	if err != nil {
		return err
	}
	raw, err := e.Files.ReadFile(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	d := e.Decrypter()
	whole := strings.HasSuffix(file, encryption.Suffix) || encryption.IsFile(raw)
	var plain []byte
	var values []encryption.Value
	syntax := cli.SecretSyntax(file)
	asked := names
	switch {
	case isNew && !whole && syntax == nil:
		return diag.Errorf(diag.Pos{}, "%s: %w", file, diag.Expected("a name that ends with .age, or a document in YAML, JSON, TOML or Lua"))
	case isNew:
	case whole:
		if plain, err = d.File(file, raw); err != nil {
			return err
		}
		if desc, err := encryption.Describe(raw); err == nil && len(names) == 0 {
			asked = desc.For
		}
	case syntax == nil:
		return diag.Not(file, "encrypted")
	default:
		text, found, err := d.Open(syntax, file, string(raw))
		if err != nil {
			return err
		}
		plain, values = []byte(text), found
		if len(values) > 0 && len(names) == 0 {
			if desc, err := encryption.DescribeValue(values[0].Text); err == nil {
				asked = desc.For
			}
		}
	}
	to, err := r.Audience(asked...)
	if err != nil {
		if inner, ok := errors.AsType[*diag.Error](err); ok && len(names) == 0 {
			return inner.WithHint("update the recipients with ccm secret rekey, or set them with --for")
		}
		return err
	}
	after, err := edited(ctx, e, strings.TrimSuffix(filepath.Base(file), encryption.Suffix), plain)
	if err == nil && bytes.Equal(after, plain) {
		err = fmt.Errorf("nothing changed in %s", file)
	}
	if after == nil || bytes.Equal(after, plain) {
		return err
	}
	// Until the file is written, the typed text must not be lost. The text has all values of the
	// document, so only readers of all values may get it; the person who edits is one.
	keepFor := cmp.Or(r.ReadersOfAll(values), to)
	kept := func(err error) error { return keepEdited(e, file, after, keepFor, err) }
	if err != nil {
		return kept(err)
	}
	var out []byte
	readers := []string{audienceText(to)} // audiences of the values that are encrypted again
	addTo := func(to *encryption.Audience, err error) (*encryption.Audience, error) {
		if err == nil && !slices.Contains(readers, audienceText(to)) {
			readers = append(readers, audienceText(to))
		}
		return to, err
	}
	if whole {
		out, err = encryption.Encrypt(after, to, !isNew && !bytes.HasPrefix(raw, []byte("age-encryption")))
	} else {
		var text string
		readers = nil
		text, _, err = encryption.Close(syntax, file, string(after), values, func(key string) (*encryption.Audience, error) {
			for _, v := range values {
				if v.Key == key && len(names) == 0 {
					if desc, err := encryption.DescribeValue(v.Text); err == nil && len(desc.For) > 0 {
						return addTo(r.Audience(desc.For...))
					}
				}
			}
			return addTo(to, nil)
		})
		if err == nil && strings.ToLower(filepath.Ext(file)) == ".lua" {
			if _, mistake := luasyntax.Parse(file, text); mistake != nil {
				return kept(mistake)
			}
		}
		out = []byte(text)
	}
	if err != nil {
		return kept(fmt.Errorf("%s: %w", file, err))
	}
	now, err := e.Files.ReadFile(file)
	if err != nil && !isNew || err == nil && (isNew || !bytes.Equal(now, raw)) {
		return kept(fmt.Errorf("%w (your changes were not saved)", diag.Meanwhile(file, "changed by someone else")))
	}
	if err := saveSecret(e, file, out); err != nil {
		return kept(err)
	}
	if len(readers) == 0 {
		cli.Say(e, "wrote %s; no value was encrypted again", file)
		return nil
	}
	cli.Say(e, "wrote %s, for %s", file, strings.Join(readers, " and "))
	return nil
}

// keepEdited writes typed text that could not be used next to the file, encrypted for the readers
// of the file, and adds the path to the error.
func keepEdited(e *cli.Env, file string, text []byte, to *encryption.Audience, err error) error {
	sealed, failed := encryption.Encrypt(text, to, false)
	base := strings.TrimSuffix(file, encryption.Suffix) + ".edited"
	for i := 1; failed == nil && i < 100; i++ {
		name := base + encryption.Suffix
		if i > 1 {
			name = fmt.Sprintf("%s.%d%s", base, i, encryption.Suffix)
		}
		if failed = cli.Machine(e).SaveNew(name, sealed, 0o600); failed == nil {
			return diag.Errorf(diag.Pos{}, "%w; your text is saved in %s", err, name).WithHint("print it with: ccm secret decrypt %s", name)
		}
		if errors.Is(failed, fs.ErrExist) {
			failed = nil
		}
	}
	return errors.Join(err, fmt.Errorf("your text is lost: %w", failed))
}
