package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age/plugin"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

func newKeygenCommand(e *cli.Env) *cobra.Command {
	out, passphrase, pluginName, show := "", false, "", false
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Create a private age key, and print its public key",
		Long: `Create a private age key, and print its public key.

  ccm secret keygen
  ccm secret recipients add ann age1...

For root, the key is the machine's, /etc/ccm/age.key; for other users,
~/.config/ccm/age.key, with mode 0600. An existing key is never overwritten.

An SSH key of type ed25519 or RSA works as well: a host that has
/etc/ssh/ssh_host_ed25519_key does not need another key.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				out = identityPath()
			}
			if out == "" {
				return diag.At(diag.Pos{}, diag.None("default file: HOME is not set")).WithHint("set the file with -o FILE")
			}
			if show {
				return showPublicKeys(e, out)
			}
			return makeIdentity(e, out, passphrase, pluginName)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&out, "output", "o", "", "write the key to `FILE`")
	fs.BoolVar(&passphrase, "passphrase", false, "encrypt the key with a passphrase (prompted)")
	fs.StringVar(&pluginName, "plugin", "", "create the key with age-plugin-`NAME`, such as yubikey or tpm")
	fs.BoolVar(&show, "show", false, "only print the public key of the existing key")
	cmd.MarkFlagsMutuallyExclusive("passphrase", "plugin", "show")
	return cmd
}

// identityPath returns the path of the identity of ccm's user.
func identityPath() string {
	if os.Geteuid() == 0 {
		return filepath.Join(encryption.SystemDir, encryption.IdentityFile)
	}
	if dir := site.UserConfig(); dir != "" {
		return filepath.Join(dir, encryption.IdentityFile)
	}
	return ""
}

func makeIdentity(e *cli.Env, path string, passphrase bool, pluginName string) error {
	if _, err := os.Lstat(path); err == nil {
		return diag.At(diag.Pos{}, diag.Exists(path, "and is kept: secrets encrypted to it would be lost")).
			WithHint("print its public key with --show, or create another key with -o FILE")
	}
	var text []byte
	public := ""
	if pluginName != "" {
		id := plugin.EncodeIdentity(pluginName, nil)
		if id == "" {
			return fmt.Errorf("--plugin: %w", diag.Expected("the name of a plugin").Got("%q", pluginName))
		}
		if _, err := exec.LookPath("age-plugin-" + pluginName); err != nil {
			return diag.At(diag.Pos{}, diag.Not(fmt.Sprintf("age-plugin-%s", pluginName), "installed")).
				WithHint("install age-plugin-%s, or use its own identity in CCM_AGE_IDENTITY_FILE", pluginName)
		}
		text = []byte("# " + e.Clock.Now().Format(time.RFC3339) + ", stored by age-plugin-" + pluginName + "\n" + id + "\n")
	} else {
		plain, key, err := encryption.NewIdentity(e.Clock.Now().Format(time.RFC3339))
		if err != nil {
			return err
		}
		text, public = []byte(plain), key
	}
	if passphrase {
		pass, err := e.AskNewPassphrase()
		if err != nil {
			return err
		}
		if text, err = encryption.Lock(string(text), pass, 0); err != nil {
			return err
		}
	}
	h := cli.Machine(e)
	if err := e.Files.CheckPlace(path); err != nil {
		return err
	}
	if err := h.SaveDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	if err := h.SaveNew(path, text, 0o600); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = diag.Exists(path, "")
		}
		return err
	}
	what := path
	if path == filepath.Join(encryption.SystemDir, encryption.IdentityFile) {
		what += ", the key of this machine"
	}
	cli.Say(e, "wrote %s: keep it private, and back it up elsewhere", what)
	if passphrase && what != path {
		cli.Say(e, "the key has a passphrase: it cannot be used unattended, as in a timer or ccm agent")
	}
	if public == "" {
		cli.Say(e, "print its public key with age-plugin-%s", pluginName)
		return nil
	}
	terminal.Fprintf(e.Stdout, "%s\n", public)
	return nil
}

func showPublicKeys(e *cli.Env, path string) error {
	text, err := e.Files.ReadFile(path)
	if err != nil {
		return err
	}
	if encryption.IsFile(text) {
		return diag.Errorf(diag.Pos{}, "%s has a passphrase", path).WithHint("print its public key with: age-keygen -y FILE")
	}
	keys, err := encryption.PublicKeys(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, key := range keys {
		terminal.Fprintf(e.Stdout, "%s\n", key)
	}
	return nil
}

func newRecipientsCommand(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recipients",
		Short: "List, add and remove recipients of secrets",
		Long: `List the recipients of secrets: people, hosts and groups in .ccm/recipients.

  ccm secret recipients
  ccm secret recipients add ann age1...

add and remove change that file and keep its comments. Run ccm secret rekey afterwards
to update existing secrets.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return listRecipients(e) },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "add NAME KEY|FILE",
		Short: "Add a person or a host with a public key",
		Long: `Add a person or a host with a public key: age1..., "ssh-ed25519 AAAA...", or a file
that contains one, such as ~/.ssh/id_ed25519.pub. A name may have several keys.`,
		Example: "  ccm secret recipients add web1 /etc/ssh/ssh_host_ed25519_key.pub",
		Args:    cli.WantArguments(2, cli.AnyNumber), // a key of SSH has words, and its comment may have several
		RunE: func(_ *cobra.Command, args []string) error {
			return addRecipient(e, args[0], strings.Join(args[1:], " "))
		},
	}, &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a person or a host, also from groups",
		Args:  cli.WantArguments(1, 1),
		RunE:  func(_ *cobra.Command, args []string) error { return removeRecipient(e, args[0]) },
	}, newNodesCommand(e))
	return cmd
}

func listRecipients(e *cli.Env) error {
	r, err := readRecipients(e, "x")
	if err != nil {
		return err
	}
	width := 0
	for _, k := range r.Keys {
		width = max(width, len(k.Name))
	}
	for _, k := range r.Keys {
		terminal.Fprintf(e.Stdout, "%-*s  %s\n", width, k.Name, k.Text)
	}
	var groups []string
	for g := range r.Groups {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	for _, g := range groups {
		terminal.Fprintf(e.Stdout, "%s  %s\n", g, strings.Join(r.Groups[g], " "))
	}
	return nil
}

func addRecipient(e *cli.Env, name, key string) error {
	if !strings.HasPrefix(key, "age1") && !strings.HasPrefix(key, "ssh-") {
		text, err := e.Files.ReadFile(key)
		if err != nil {
			return diag.At(diag.Pos{}, diag.Expected("a key or the file of one: %w", err))
		}
		if strings.Contains(string(text), "PRIVATE KEY") || strings.Contains(string(text), "AGE-SECRET-"+"KEY-") {
			return diag.Contains(key, "a private key: %w", diag.Expected("the public one"))
		}
		key = strings.TrimSpace(string(text))
		if strings.Contains(key, "\n") {
			return diag.Expected("one key in %s", key).Found("several lines")
		}
	}
	if !encryption.IsName(name) {
		return diag.Expected("a name of letters, digits, dots, - and _").Got("%q", name)
	}
	path := recipientsPath("x")
	old, err := e.Files.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(old) == 0 {
		old = []byte("# Recipients of this site's secrets: one name and public key per line, groups as @NAME MEMBERS.\n")
	}
	if !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	text := string(old) + name + " " + key + "\n"
	if _, err := encryption.ReadRecipients(path, text); err != nil {
		return err
	}
	if err := cli.Machine(e).SaveDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	if err := saveSecret(e, path, []byte(text)); err != nil {
		return err
	}
	cli.Say(e, "added %s to %s (let %[1]s read existing secrets with: ccm secret rekey)", name, path)
	return nil
}

func removeRecipient(e *cli.Env, name string) error {
	r, err := readRecipients(e, "x")
	if err != nil {
		return err
	}
	text, err := e.Files.ReadFile(r.File)
	if err != nil {
		return err
	}
	var out strings.Builder
	found := false
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) > 0 && strings.TrimSuffix(words[0], ":") == name:
			found = true
			continue
		case len(words) > 1 && strings.HasPrefix(words[0], "@"):
			kept := words[:1]
			for _, w := range words[1:] {
				if w != name {
					kept = append(kept, w)
				}
			}
			if len(kept) == len(words) {
				break
			}
			if len(kept) == 1 {
				cli.Say(e, "removed empty group %s", kept[0])
				continue
			}
			line = strings.Join(kept, " ") + "\n"
		}
		out.WriteString(line)
	}
	if !found {
		return diag.None("recipient %q in %s", name, r.File)
	}
	if _, err := encryption.ReadRecipients(r.File, out.String()); err != nil {
		return err
	}
	if err := saveSecret(e, r.File, []byte(out.String())); err != nil {
		return err
	}
	cli.Say(e, "removed %s from %s (encrypt existing secrets without %[1]s, and list what %[1]s could read, with: ccm secret rekey)", name, r.File)
	return nil
}
