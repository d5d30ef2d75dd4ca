package secret

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newRekeyCommand(e *cli.Env) *cobra.Command {
	var names []string
	nodes := nodeFlags{}
	dry := false
	cmd := &cobra.Command{
		Use:   "rekey [FILE|DIR...]",
		Short: "Encrypt secrets to the current recipients",
		Long: `Encrypt secrets again whose recipients differ from .ccm/recipients, as after somebody
joined, left or changed keys.

  ccm secret rekey
  ccm secret rekey files/tls.key.age

Without arguments, all files below this directory are checked. If one of them cannot be
decrypted, nothing is written.

Former recipients can still read old copies of the repository. The secrets that they
could read are listed: change these where they are used.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(nodes.to) > 0 {
				if len(args) == 0 {
					return diag.At(diag.Pos{}, diag.Expected("the files to encrypt to %s", cli.NamesOf(nodes.to))).
						WithHint("update all secrets of nodes with: ccm secret recipients nodes, then ccm secret rekey")
				}
				if dry {
					return diag.Expected("--to or --noop: nodes would be written to %s", encryption.RecipientsFile)
				}
				more, err := nodes.resolve(cmd.Context(), e, args[0])
				if err != nil {
					return err
				}
				names = append(names, more...)
			}
			return rekey(e, args, names, dry)
		},
	}
	addFor(e, cmd, &names, "replace the recipients")
	nodes.add(e, cmd, "add recipients")
	cmd.Flags().BoolVarP(&dry, "noop", "n", false, "show what would change, without changing anything")
	return cmd
}

// findSecrets returns the encrypted items in files and below directories; without arguments, below
// the working directory.
func findSecrets(e *cli.Env, args []string) ([]encryption.Item, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	f := encryption.Finder{SyntaxOf: cli.SecretSyntax, ReadFile: e.Files.ReadFile}
	var items []encryption.Item
	for _, arg := range args {
		more, err := f.Find(arg)
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
	}
	return items, nil
}

func rekey(e *cli.Env, args, names []string, dry bool) error {
	items, err := findSecrets(e, args)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return diag.None("encrypted files or values here")
	}
	r, err := readRecipients(e, items[0].File)
	if err != nil {
		return err
	}
	byFile := make(map[string][]*encryption.Change)
	var files []string
	var errs []error
	changes := 0
	gone := make(map[string][]string) // what removed recipients could read, by their names
	for _, item := range items {
		c, err := r.ChangeOf(item, names)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(c.Revoked), c.Removed...)))) {
			gone[name] = append(gone[name], item.String())
		}
		if c.IsNone() {
			continue
		}
		changes++
		if byFile[item.File] == nil {
			files = append(files, item.File)
		}
		byFile[item.File] = append(byFile[item.File], c)
	}
	texts := make(map[string][]byte)
	for _, file := range files {
		text, err := e.Files.ReadFile(file)
		if err == nil {
			texts[file], err = e.Decrypter().Rekey(cli.SecretSyntax(file), file, text, byFile[file])
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return diag.At(diag.Pos{}, fmt.Errorf("nothing was written: %w", errors.Join(errs...)))
	}
	for _, file := range files {
		if !dry {
			if err := saveSecret(e, file, texts[file]); err != nil {
				return err
			}
		}
		for _, c := range byFile[file] {
			terminal.Fprintf(e.Stdout, "%s: %s\n", c.Item, changeText(c))
		}
	}
	for _, name := range slices.Sorted(keysOf(gone)) {
		terminal.Fprintf(e.Stdout, "%s could read: %s\n", name, strings.Join(gone[name], ", "))
	}
	if len(gone) > 0 {
		terminal.Fprintf(e.Stdout, "They can still read old copies of the repository: change these secrets where they are used\n")
	}
	words := "encrypted again"
	if dry {
		words = "to be encrypted again"
	}
	terminal.Fprintf(e.Stdout, "%d of %d %s\n", changes, len(items), words)
	return nil
}

func keysOf[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func changeText(c *encryption.Change) string {
	var parts []string
	add := func(word string, names []string) {
		if len(names) > 0 {
			parts = append(parts, word+" "+cli.NamesOf(names))
		}
	}
	add("now for", c.Added)
	add("no longer for", c.Removed)
	add("with a new key of", c.Renewed)
	return strings.Join(parts, ", ")
}

func newListCommand(e *cli.Env) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use: "ls [FILE|DIR...]", Aliases: []string{"list"},
		Short: "List encrypted files and values with their recipients",
		Long: `List encrypted files and values with their recipients. Read-only.

  ccm secret ls

No identity is needed. Secrets whose recipients are out of date are marked; update
them with ccm secret rekey.`,
		RunE: func(_ *cobra.Command, args []string) error { return listSecrets(e, args, output.Value == "json") },
	}
	cmd.Flags().Var(output, "output", "output format: text or json (one object per line)")
	return cmd
}

func listSecrets(e *cli.Env, args []string, asJSON bool) error {
	items, err := findSecrets(e, args)
	if err != nil {
		return err
	}
	var r *encryption.Recipients
	if len(items) > 0 {
		if r, err = readRecipients(e, items[0].File); err != nil {
			cli.Say(e, "ccm: warning: %v", err)
		}
	}
	width, broken := 0, false
	for _, item := range items {
		width = max(width, len(item.String()))
	}
	for _, item := range items {
		note := ""
		if item.Err != nil {
			note, broken = item.Err.Error(), true
		} else if r != nil {
			if c, err := r.ChangeOf(item, nil); errors.Is(err, encryption.ErrNoNames) {
				note = ""
			} else if err != nil {
				note = "recipients no longer exist"
			} else if !c.IsNone() {
				note = "rekey: " + changeText(c)
			}
		}
		if asJSON {
			x := struct {
				File    string   `json:"file"`
				Key     string   `json:"key,omitempty"`
				For     []string `json:"for,omitempty"`
				Readers []string `json:"readers,omitempty"`
				Kinds   []string `json:"kinds,omitempty"`
				Note    string   `json:"note,omitempty"`
			}{File: item.File, Key: item.Key, Note: note}
			if item.Description != nil {
				x.For, x.Readers, x.Kinds = item.For, item.Readers(), item.Kinds
			}
			if err := e.Print().Line(x); err != nil {
				return err
			}
			continue
		}
		whom := ""
		if item.Description != nil {
			whom = item.ForWhom()
			if asked := cli.NamesOf(item.For); asked != "" && asked != whom {
				whom = asked + " (" + whom + ")"
			}
		}
		if note != "" && whom != "" {
			note = "  ! " + note
		}
		terminal.Fprintf(e.Stdout, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s%s", width, item, whom, note), " "))
	}
	if broken {
		return cli.Status(cli.ExitUsage)
	}
	return nil
}
