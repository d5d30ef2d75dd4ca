package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/safepath"
)

func newSecretEditCommand(e *env) *cobra.Command {
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
system has such a place, and is overwritten afterwards. If the editor fails, or what
was written cannot be encrypted, it stays there, and that is said.`,
		Args: wantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return editSecret(cmd.Context(), e, args[0], names) },
	}
	addFor(e, cmd, &names, "who can read what is new (default: who can read the rest, else "+encryption.Everybody+")")
	return cmd
}

// editSecret edits a file or the values of a document.
func editSecret(ctx context.Context, e *env, file string, names []string) error {
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
	syntax := syntaxOf(file)
	asked := names
	switch {
	case isNew && !whole && syntax == nil:
		return diag.Errorf(diag.Pos{}, "%s: want a name that ends with .age, or a document in YAML, JSON, TOML or Lua", file)
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
	after, done, err := edited(ctx, e, strings.TrimSuffix(filepath.Base(file), encryption.Suffix), plain)
	if err != nil {
		return err
	}
	if bytes.Equal(after, plain) {
		done()
		return fmt.Errorf("nothing was changed, and %s stays as it is", file)
	}
	// Until it is written, what was typed must not be lost.
	kept := func(err error) error {
		return diag.Errorf(diag.Pos{}, "%w; what you wrote is in %s", err, e.editing).WithHint("remove that directory when you have it")
	}
	var out []byte
	if whole {
		out, err = encryption.Encrypt(after, to, !isNew && !bytes.HasPrefix(raw, []byte("age-encryption")))
	} else {
		var text string
		text, _, err = encryption.Close(syntax, file, string(after), values, func(key string) (*encryption.Audience, error) {
			for _, v := range values {
				if v.Key == key && len(names) == 0 {
					if desc, err := encryption.DescribeValue(v.Text); err == nil && len(desc.For) > 0 {
						return r.Audience(desc.For...)
					}
				}
			}
			return to, nil
		})
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
	done()
	say(e, "wrote %s, for %s", file, audienceText(to))
	return nil
}

// edited returns what the user makes of a text in an editor. Done removes all traces of it.
func edited(ctx context.Context, e *env, name string, text []byte) (after []byte, done func(), err error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	argv, err := shellquote.Split(editor)
	if err != nil || len(argv) == 0 {
		return nil, nil, fmt.Errorf("EDITOR: want a command, got %q", editor)
	}
	dir, err := os.MkdirTemp(memoryDirectory(), "ccm-edit-*") // mode 0700
	if err != nil {
		return nil, nil, err
	}
	e.editing = dir
	done = func() { shred(dir) }
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		done()
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	failed := cmd.Run()
	after, err = (&safepath.Resolver{Root: "/"}).ReadRegular(path, encryption.LargestFile)
	switch {
	case failed != nil && (err != nil || bytes.Equal(after, text)):
		done()
		return nil, nil, diag.Errorf(diag.Pos{}, "the editor %s: %w", argv[0], failed).WithHint("EDITOR names another one; nothing was changed")
	case failed != nil:
		return nil, nil, diag.Errorf(diag.Pos{}, "the editor %s: %w; what you wrote is in %s", argv[0], failed, dir).WithHint("remove that directory when you have it")
	case err != nil:
		done()
		return nil, nil, fmt.Errorf("the editor has removed the file: %w", err)
	}
	return after, done, nil
}

// memoryDirectory returns a directory whose files are in memory, "" if there is none.
func memoryDirectory() string {
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if dir != "" && filepath.IsAbs(dir) && isTmpfs(dir) {
			if probe, err := os.MkdirTemp(dir, "ccm-probe-*"); err == nil {
				_ = os.Remove(probe)
				return dir
			}
		}
	}
	return ""
}

// shred overwrites all files below a directory and removes it. Backups of editors lie there as well.
func shred(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // the rest is overwritten all the same
		}
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			if info, err := f.Stat(); err == nil {
				_, _ = f.Write(make([]byte, min(info.Size(), encryption.LargestFile)))
			}
			_ = f.Sync()
			_ = f.Close()
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
