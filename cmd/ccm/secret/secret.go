// Package secret is ccm secret: the encrypted values and files of a site.
package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

// Command returns ccm secret.
func Command(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Encrypt secrets in a site (by age, age-encryption.org)",
		Long: `Encrypt secrets in a site, by age (age-encryption.org). .ccm/recipients lists who can read them; private
keys are in separate files.

  ccm secret keygen                            create a key for you or this machine
  ccm secret recipients add ann age1...        let ann read secrets encrypted from now on
  ccm secret encrypt db.conf                   write db.conf.age
  ccm secret encrypt data.yaml --key data.pw   encrypt one value in place
  ccm secret edit data.yaml                    edit the encrypted values
  ccm secret rekey                             update after recipients changed
  ccm secret ls                                list secrets and their recipients`,
	}
	cmd.AddCommand(newKeygenCommand(e), newRecipientsCommand(e), newEncryptCommand(e), newDecryptCommand(e),
		newEditCommand(e), newRekeyCommand(e), newListCommand(e), newScanCommand(e))
	cli.NeedCommand(cmd)
	return cmd
}

// recipientsPath returns the recipients file of the site that a file belongs to. If the site has
// none, the path is where to create it.
func recipientsPath(file string) string {
	if root, ok := encryption.Root(file); ok {
		if here, err := os.Getwd(); err == nil && here == root {
			return encryption.RecipientsFile
		}
		return filepath.Join(root, encryption.RecipientsFile)
	}
	return encryption.RecipientsFile
}

// readRecipients reads the recipients of the site that a file belongs to.
func readRecipients(e *cli.Env, file string) (*encryption.Recipients, error) {
	path := recipientsPath(file)
	text, err := e.Files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.At(diag.Pos{}, diag.Missing(encryption.RecipientsFile, "here or in a parent directory")).
			WithHint("create it with: ccm secret recipients add NAME KEY")
	}
	if err != nil {
		return nil, err
	}
	return encryption.ReadRecipients(path, string(text))
}

// addFor adds the flag with the recipients of a secret.
func addFor(e *cli.Env, cmd *cobra.Command, names *[]string, what string) {
	cmd.Flags().StringSliceVar(names, "for", nil, what+": comma-separated `NAMES` of people, hosts and @groups")
	cli.CompleteFlag(e, cmd, "for", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		r, err := readRecipients(e, ".")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, k := range r.Keys {
			words = append(words, k.Name)
		}
		for g := range r.Groups {
			words = append(words, g)
		}
		slices.Sort(words)
		return append(slices.Compact(words), encryption.Everybody), cobra.ShellCompDirectiveNoFileComp
	})
}

// saveSecret writes a file with the mode of an existing one, else 0644: everybody may read
// encrypted text.
func saveSecret(e *cli.Env, path string, text []byte) error {
	return cli.Machine(e).Save(path, text, 0o644)
}

// readSite reads a file of the site.
func readSite(e *cli.Env, path string) ([]byte, error) {
	if path == "-" {
		_, text, err := e.ReadInput(e.Files.Context(), "-")
		return []byte(text), err
	}
	return e.Files.ReadFile(path)
}
