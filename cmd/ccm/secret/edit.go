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
	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

func newEditCommand(e *cli.Env) *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:   "edit FILE",
		Short: "Edit what is encrypted",
		Long: `Edit what an encrypted file holds, or a document with its encrypted values, with
$VISUAL or $EDITOR. The file may be new.

In a document the values stand as DEC[hunter2] while it is edited. A further value
that is written like that is encrypted too; one that did not change stays as it is,
byte for byte.

What is edited lies in a directory that only its owner can enter, in memory if the
system has such a place, and is overwritten and removed when the editor ends. If
the editor fails, or what was written has a mistake, it is kept encrypted in
FILE.edited.age, which ccm secret decrypt prints.`,
		Args: cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return editSecret(cmd.Context(), e, args[0], names) },
	}
	addFor(e, cmd, &names, "who can read what is new (default: who can read the rest, else "+encryption.Everybody+")")
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
		return fmt.Errorf("%s is not encrypted", file)
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
			return inner.WithHint("ccm secret rekey brings it in order with the recipients, --for says who is to read it")
		}
		return err
	}
	after, err := edited(ctx, e, strings.TrimSuffix(filepath.Base(file), encryption.Suffix), plain)
	if err == nil && bytes.Equal(after, plain) {
		err = fmt.Errorf("nothing was changed, and %s stays as it is", file)
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
			if _, mistake := luaapi.Parse(file, text); mistake != nil {
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
		return kept(fmt.Errorf("%s was changed by somebody else meanwhile, and stays as it is", file))
	}
	if err := saveSecret(e, file, out); err != nil {
		return kept(err)
	}
	if len(readers) == 0 {
		cli.Say(e, "wrote %s; nothing in it was encrypted anew", file)
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
			return diag.Errorf(diag.Pos{}, "%w; what you wrote is in %s", err, name).WithHint("ccm secret decrypt %s prints it", name)
		}
		if errors.Is(failed, fs.ErrExist) {
			failed = nil
		}
	}
	return errors.Join(err, fmt.Errorf("what you wrote is lost: %w", failed))
}
