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
		Short: "Make a private key for whoever runs this, and print its public key",
		Long: `Make a private key of age, an identity, and print its public key, which goes into
.ccm/recipients. For root it is the key of the machine, /etc/ccm/age.key, for
others ~/.config/ccm/age.key, with mode 0600. A key that is there stays.

An SSH key of the kind ed25519 or RSA does as well: a host that has
/etc/ssh/ssh_host_ed25519_key needs no other.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				out = identityPath()
			}
			if out == "" {
				return diag.Errorf(diag.Pos{}, "there is no directory for it: HOME is not set").WithHint("-o FILE names the file")
			}
			if show {
				return showPublicKeys(e, out)
			}
			return makeIdentity(e, out, passphrase, pluginName)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&out, "output", "o", "", "write it to `FILE`")
	fs.BoolVar(&passphrase, "passphrase", false, "encrypt it with a passphrase, which is asked for")
	fs.StringVar(&pluginName, "plugin", "", "an identity that the program age-plugin-`NAME` keeps, such as yubikey or tpm")
	fs.BoolVar(&show, "show", false, "make nothing, print the public key of the one that is there")
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
		return diag.Errorf(diag.Pos{}, "%s is there already, and stays: without it nobody could read what is for it", path).
			WithHint("ccm secret keygen --show prints its public key, -o FILE makes another one")
	}
	var text []byte
	public := ""
	if pluginName != "" {
		id := plugin.EncodeIdentity(pluginName, nil)
		if id == "" {
			return fmt.Errorf("--plugin: %w", diag.Expected("the name of a plugin").Got("%q", pluginName))
		}
		if _, err := exec.LookPath("age-plugin-" + pluginName); err != nil {
			return diag.Errorf(diag.Pos{}, "the program age-plugin-%s is not installed, and nobody but it could use this identity", pluginName).
				WithHint("install age-plugin-%s; some make identities of their own, for CCM_AGE_IDENTITY_FILE", pluginName)
		}
		text = []byte("# " + e.Clock.Now().Format(time.RFC3339) + ", kept by age-plugin-" + pluginName + "\n" + id + "\n")
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
			err = fmt.Errorf("%s is there already", path)
		}
		return err
	}
	what := path
	if path == filepath.Join(encryption.SystemDir, encryption.IdentityFile) {
		what += ", the key of this machine"
	}
	cli.Say(e, "wrote %s: keep it to yourself, and a copy where the machine cannot lose it", what)
	if passphrase && what != path {
		cli.Say(e, "it has a passphrase: where nobody can be asked, as in a timer or in ccm agent, it decrypts nothing")
	}
	if public == "" {
		cli.Say(e, "its public key is told by age-plugin-%s", pluginName)
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
		return diag.Errorf(diag.Pos{}, "%s has a passphrase", path).WithHint("age-keygen -y reads such a file")
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
		Short: "List, add and remove those to whom secrets are encrypted",
		Long: `List those to whom secrets of this site are encrypted: people, hosts and groups,
as .ccm/recipients names them. add and remove change that file, and leave its
comments; ccm secret rekey then has what is encrypted already follow.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return listRecipients(e) },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "add NAME KEY|FILE",
		Short: "Add a person or a host with a public key",
		Long: `Add a person or a host with a public key: age1..., "ssh-ed25519 AAAA...", or a
file that holds one, such as ~/.ssh/id_ed25519.pub. A name may have several keys.`,
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
			return fmt.Errorf("%s holds a private key: %w", key, diag.Expected("the public one"))
		}
		key = strings.TrimSpace(string(text))
		if strings.Contains(key, "\n") {
			return diag.Expected("one key in %s", key).Found("several lines")
		}
	}
	if !encryption.IsName(name) {
		return diag.Expected("a name of letters, digits, - _ and . for whom the key is").Got("%q", name)
	}
	path := recipientsPath("x")
	old, err := e.Files.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(old) == 0 {
		old = []byte("# To whom the secrets of this site are encrypted: a name and a public key a line, groups as @NAME MEMBERS.\n")
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
	cli.Say(e, "%s is in %s; ccm secret rekey lets %[1]s read what is encrypted already", name, path)
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
				cli.Say(e, "the group %s has nobody any more, and goes too", kept[0])
				continue
			}
			line = strings.Join(kept, " ") + "\n"
		}
		out.WriteString(line)
	}
	if !found {
		return fmt.Errorf("%s has no %q", r.File, name)
	}
	if _, err := encryption.ReadRecipients(r.File, out.String()); err != nil {
		return err
	}
	if err := saveSecret(e, r.File, []byte(out.String())); err != nil {
		return err
	}
	cli.Say(e, "%s is not in %s any more; ccm secret rekey takes what is encrypted away from %[1]s, and says what %[1]s could read", name, r.File)
	return nil
}
