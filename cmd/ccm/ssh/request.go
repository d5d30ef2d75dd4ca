package ssh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/bundles"
)

// request returns the request to the hosts, with the bundle of the site.
func (f *sshFlags) request(ctx context.Context, e *cli.Env, args []string, hasFacts bool) (req ssh.Request, content []byte, err error) {
	name := args[0]
	if !slices.Contains(remoteCommands, name) {
		return req, nil,
			diag.At(diag.Pos{}, diag.SubjectCannot(fmt.Sprintf("command %s", name), "run on other machines")).
				WithHint("supported commands: %s", strings.Join(remoteCommands, ", "))
	}
	cmd, err := f.parseRemote(args)
	if err != nil {
		return req, nil, err
	}
	fs, rest := cmd.Flags(), cmd.Flags().Args()
	req.Args = slices.Clone(args)
	if flag := fs.Lookup("facts"); flag != nil && hasFacts {
		if flag.Changed {
			return req, nil, diag.Conflicting("--facts", "facts in the list of hosts")
		}
		req.WantFacts()
	}
	if name == "test" && len(rest) != 1 {
		return req, nil, diag.At(diag.Pos{}, diag.Expected("one site directory after test").Got("%d", len(rest)))
	}
	named, arg := "", 0
	switch against := fs.Lookup("against"); {
	case slices.Contains(siteCommands, name) && len(rest) > 0:
		named = rest[0]
		if arg, err = f.argumentOf(args, named); err != nil {
			return req, nil, err
		}
	case against != nil && against.Changed: // of a flag that is given twice, the second counts
		named, arg = against.Value.String(), len(req.Args)+1
		req.Args = append(req.Args, "--against", named, "--against-name", named)
	case name == "import" && cmd.Name() != "machine":
		return req, nil, diag.At(diag.Pos{}, diag.SubjectCannot("import of single resources", "run on other machines")).WithHint("import machine can")
	}
	if named != "" {
		if req.Bundle, content, err = f.pack(ctx, e, args[0], named); err != nil {
			return req, nil, err
		}
		req.Bundle.Arg = arg
		if fs.Lookup("sha256") != nil {
			req.Args = slices.Insert(req.Args, 1, "--sha256", req.Bundle.SHA256)
			req.Bundle.Arg += 2
		}
	}
	if f.output.Value == "json" && name != "import" && fs.Lookup("output") != nil && !fs.Lookup("output").Changed {
		req.Args = slices.Insert(req.Args, 1, "--output", "json")
		if req.Bundle != nil {
			req.Bundle.Arg += 2
		}
	}
	return req, content, nil
}

// siteCommands are the commands with a site as their argument, which goes to the hosts.
var siteCommands = []string{"run", "apply", "plan", "prune", "test"}

// help prints the help of the command behind --, if that is asked for.
func (f *sshFlags) help(cmd *cobra.Command, e *cli.Env, args []string) (helped bool, err error) {
	if args[0] == "-h" || args[0] == "--help" {
		return true, cmd.Help()
	}
	if !slices.Contains(remoteCommands, args[0]) {
		return false, nil
	}
	root := f.newRoot(args)
	remote, rest, err := root.Find(args)
	if err != nil {
		return false, err
	}
	if !errors.Is(remote.ParseFlags(rest), pflag.ErrHelp) {
		return false, nil // parseRemote reports mistakes
	}
	first, _, err := root.Find(args[:1])
	if err != nil {
		return false, err
	}
	root.RemoveCommand(first) // a command of the other root would print nowhere
	cmd.Root().AddCommand(first)
	return true, remote.Help()
}

// parseRemote reads a command line of ccm, and returns its command with the flags.
func (f *sshFlags) parseRemote(args []string) (*cobra.Command, error) {
	root := f.newRoot(args)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	return cmd, cmd.ParseFlags(rest)
}

// pack packs the site of a command that is called so.
func (f *sshFlags) pack(ctx context.Context, e *cli.Env, command, named string) (*ssh.BundleRef, []byte, error) {
	path := named
	if named == "-" {
		script, remove, err := f.readScript(ctx, e, command)
		if err != nil {
			return nil, nil, err
		}
		defer remove()
		path = script
	}
	folder, err := bundles.Folder(e.Files, path, nil)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	sum, err := bundle.Write(ctx, &b, folder)
	if _, ok := errors.AsType[*bundle.NoEntryError](err); ok {
		err = fmt.Errorf("%s: %w", named, err)
	}
	if err != nil {
		return nil, nil, err
	}
	name := f.siteName
	switch {
	case name != "":
	case named == "-": // another script is another site: neither prunes resources of the other
		name = "stdin_" + sum.SHA256[:8]
	default:
		if name, err = nameOfSite(folder); err != nil {
			return nil, nil, err
		}
	}
	if err := ssh.CheckSiteName(name); err != nil {
		return nil, nil, fmt.Errorf("--site-name: %w", err)
	}
	return &ssh.BundleRef{Site: name, SHA256: sum.SHA256, Size: int64(b.Len())}, b.Bytes(), nil
}

// readScript keeps the script or manifest of standard input in a directory by itself, until remove is called.
func (f *sshFlags) readScript(ctx context.Context, e *cli.Env, command string) (path string, remove func(), err error) {
	switch {
	case command == "test":
		return "", nil, diag.At(diag.Pos{}, diag.Requires("test", "a site directory, got a script on standard input"))
	case f.hosts == "-":
		return "", nil,
			diag.At(diag.Pos{}, diag.SubjectCannot("standard input", "be both the list of hosts and the script"))
	}
	_, text, err := e.ReadInput(ctx, "-")
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "ccm-ssh-")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "manifest.yaml")
	if site.IsLua("", string(text)) {
		path = filepath.Join(dir, "site.lua")
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

// argumentOf returns which argument is the site: another may read the same, as the value of a flag.
func (f *sshFlags) argumentOf(args []string, site string) (int, error) {
	const token = "\x00site"
	for i, arg := range args {
		if i == 0 || arg != site {
			continue
		}
		tried := slices.Clone(args)
		tried[i] = token
		if cmd, err := f.parseRemote(tried); err == nil && cmd.Flags().Arg(0) == token {
			return i, nil
		}
	}
	return 0, diag.At(diag.Pos{}, diag.Expected("the site as a separate argument").Got("%q", site))
}

// notInName matches characters that a folder's name may have, but the name of a site on the hosts
// may not.
var notInName = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// nameOfSite returns the name of a site on the hosts, made of the folder's name and path. Folders
// of the same name are different sites, and so are scripts in one folder.
func nameOfSite(folder bundle.Folder) (string, error) {
	abs, err := filepath.Abs(folder.Dir)
	if err != nil {
		return "", err
	}
	if usual, err := bundle.FindEntry(os.DirFS(folder.Dir)); folder.Entry != "" && (err != nil || usual != folder.Entry) {
		abs = filepath.Join(abs, folder.Entry)
	}
	sum := sha256.Sum256([]byte(abs))
	base := strings.Trim(notInName().ReplaceAllString(filepath.Base(abs), "_"), ".-")
	return base[:min(len(base), 60)] + "_" + hex.EncodeToString(sum[:4]), nil
}
