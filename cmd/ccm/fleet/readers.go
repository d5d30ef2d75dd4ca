package fleet

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/terminal"
)

// cannotRead returns the secrets in a bundle that are encrypted for nodes, and that some of these
// nodes in an environment cannot read. Near is the path of the packed site, which may have a file
// of recipients that is not packed.
func cannotRead(ctx context.Context, e *cli.Env, c *cluster.Cluster, file, near, environment string) ([]enrol.UnreadableSecret, error) {
	dir, err := os.MkdirTemp("", "ccm-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := unpack(ctx, file, dir); err != nil {
		return nil, err
	}
	finder := encryption.Finder{SyntaxOf: cli.SecretSyntax, ReadFile: e.Files.ReadFile}
	items, err := finder.Find(dir)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	for i := range items {
		items[i].File = strings.TrimPrefix(items[i].File, dir+string(filepath.Separator))
	}
	named, err := namedNodes(e, near)
	if err != nil {
		return nil, err
	}
	nodes, _, err := (&enrol.Desk{Cluster: c, Now: e.Clock.Now}).Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return enrol.CannotRead(items, nodes, environment, named), nil
}

// unpack unpacks a bundle into an empty directory.
func unpack(ctx context.Context, file, dir string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = bundle.Unpack(ctx, in, root, bundle.DefaultLimits)
	return err
}

// namedNodes returns the nodes of the fleet that stand in the recipients of the site to which a path belongs.
func namedNodes(e *cli.Env, near string) ([]string, error) {
	if fi, err := os.Stat(near); err == nil && fi.IsDir() {
		near = filepath.Join(near, "site.lua") // a file in the directory, to find the recipients there
	}
	root, ok := encryption.Root(near)
	if !ok {
		return nil, nil
	}
	path := filepath.Join(root, encryption.RecipientsFile)
	text, err := e.Files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, _, _, err := encryption.SplitNodes(path, string(text))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range nodes.Keys {
		names = append(names, k.Name)
	}
	return names, nil
}

// sayUnreadable names the nodes that will fail with a release if they need secrets that they cannot
// read.
func sayUnreadable(e *cli.Env, list []enrol.UnreadableSecret) {
	for _, u := range list {
		cli.Say(e, "! %s: %s cannot read it, although it is for %s", terminal.Line(u.Secret), someOf(u.Nodes), cli.NamesOf(u.For))
	}
	if len(list) > 0 {
		cli.Say(e, "  Update it with: ccm secret recipients nodes, then ccm secret rekey")
	}
}
