package secret

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/terminal"
)

// nodeFlags select the nodes of a fleet for which something is encrypted.
type nodeFlags struct {
	fleetdir.Flags
	to []string
}

func (f *nodeFlags) add(e *cli.Env, cmd *cobra.Command, what string) {
	fs := cmd.Flags()
	fs.StringSliceVar(&f.to, "to", nil, what+": `NODES` by name, tag:NAME=VALUE or env:NAME")
	f.Flags.Add(fs)
	cli.CompleteFlag(e, cmd, "to", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return f.selectors(cmd.Context(), e), cobra.ShellCompDirectiveNoFileComp
	})
}

// selectors returns all by which nodes can be chosen.
func (f *nodeFlags) selectors(ctx context.Context, e *cli.Env) []string {
	d, err := f.Desk(e)
	if err != nil {
		return nil
	}
	defer d.Cluster.Close()
	nodes, _, err := d.Nodes(ctx)
	if err != nil {
		return nil
	}
	return selectorsOf(nodes)
}

func selectorsOf(nodes []enrol.Node) []string {
	words := make(map[string]bool)
	for _, n := range nodes {
		if n.Revoked {
			continue
		}
		words[n.Name], words["env:"+n.Environment] = true, true
		for _, tag := range n.Tags {
			words["tag:"+tag] = true
		}
	}
	return slices.Sorted(maps.Keys(words))
}

// resolve adds the nodes of --to to the recipients of a site, updates all nodes there, and returns
// the names of the nodes of --to among the recipients. Without --to it does nothing.
func (f *nodeFlags) resolve(ctx context.Context, e *cli.Env, near string) ([]string, error) {
	if len(f.to) == 0 {
		return nil, nil
	}
	if _, err := f.update(ctx, e, near, false); err != nil {
		return nil, err
	}
	var names []string
	for _, text := range f.to {
		names = append(names, groupOf(text))
	}
	return names, nil
}

// groupOf returns the name that a value of --to has among recipients: a node keeps its name, and a
// condition such as tag:role=db becomes a group.
func groupOf(text string) string {
	if strings.Contains(text, ":") {
		return "@" + text
	}
	return text
}

// update replaces the nodes in the recipients of a site, and adds the nodes of --to, with the keys
// that operators have approved. It prints the changes, and reports whether there are any.
func (f *nodeFlags) update(ctx context.Context, e *cli.Env, near string, dry bool) (changed bool, err error) {
	d, err := f.Desk(e)
	if err != nil {
		return false, err
	}
	defer d.Cluster.Close()
	issued, foreign, err := d.Nodes(ctx)
	if err != nil {
		return false, err
	}
	if len(foreign) > 0 {
		return false, diag.At(diag.Pos{}, diag.Not(fmt.Sprintf("the key that signed %d nodes", len(foreign)),
			"in fleet.json: they would be skipped")).
			WithHint("%s", fleetdir.ForeignHint)
	}
	path := recipientsPath(near)
	old, err := e.Files.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	had, _, _, err := encryption.SplitNodes(path, string(old))
	if err != nil {
		return false, err
	}
	now, err := f.nodes(issued, had)
	if err != nil {
		return false, err
	}
	text, err := encryption.WithNodes(path, string(old), now)
	if err != nil {
		return false, err
	}
	if err := checkByHand(path, text, now); err != nil {
		return false, err
	}
	printNodeChanges(e, had, now)
	if text == string(old) || dry {
		return text != string(old), nil
	}
	if err := cli.Machine(e).SaveDirectory(filepath.Dir(path)); err != nil {
		return false, err
	}
	return true, saveSecret(e, path, []byte(text))
}

// nodes returns the nodes for a file of recipients: its present nodes that still exist, and the
// nodes of --to, of which there must be some.
func (f *nodeFlags) nodes(issued []enrol.Node, had *encryption.Nodes) (*encryption.Nodes, error) {
	now := &encryption.Nodes{Groups: make(map[string][]string)}
	wanted := slices.Collect(maps.Keys(had.Groups))
	for i := range wanted {
		wanted[i] = strings.TrimPrefix(wanted[i], "@")
	}
	wanted = append(append(wanted, had.Named()...), f.to...)
	for _, text := range wanted {
		list, err := enrol.Choose(issued, text)
		if _, none := errors.AsType[*enrol.NoNodesError](err); none && !slices.Contains(f.to, text) {
			continue // there are none any more
		} else if none {
			hint := diag.DidYouMean(text, selectorsOf(issued))
			if hint == "" {
				hint = "set tags with: ccm fleet enrol approve NAME --tag NAME=VALUE"
			}
			return nil, diag.Errorf(diag.Pos{}, "--to %s: %w", text, err).WithHint("%s", hint)
		}
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "--to %s: %w", text, err)
		}
		for _, n := range list {
			if n.Recipient == "" {
				return nil, diag.At(diag.Pos{}, diag.None("age key for node %s", n.Name)).
					WithHint("enrol the node again to create one")
			}
			now.Add(encryption.NodeKey{Name: n.Name, Text: n.Recipient, Note: n.Environment + " " + enrol.Fingerprint(n.Key, n.Recipient)})
			if group := groupOf(text); group != text && !slices.Contains(now.Groups[group], n.Name) {
				now.Groups[group] = append(now.Groups[group], n.Name)
			}
		}
	}
	return now, nil
}

// checkByHand returns an error if a node has the same name as a recipient that was added by hand:
// the secrets of one would be encrypted for the other, too.
func checkByHand(path, text string, now *encryption.Nodes) error {
	r, err := encryption.ReadRecipients(path, text)
	if err != nil {
		return err
	}
	for _, k := range r.Keys {
		for _, n := range now.Keys {
			if k.Name == n.Name && k.Text != n.Text {
				return diag.At(diag.Pos{File: path, Line: k.Line}, diag.Mismatch(fmt.Sprintf("the key of %s, which was added by hand,", k.Name), "the node of this name")).
					WithHint("rename it, or remove it with: ccm secret recipients remove %s", k.Name)
			}
		}
	}
	return nil
}

// printNodeChanges prints added, changed and removed nodes on standard error.
func printNodeChanges(e *cli.Env, had, now *encryption.Nodes) {
	keys := func(n *encryption.Nodes) map[string]string {
		m := make(map[string]string)
		for _, k := range n.Keys {
			m[k.Name] = k.Text
		}
		return m
	}
	before, after := keys(had), keys(now)
	for _, k := range now.Keys {
		switch {
		case before[k.Name] == "":
			cli.Say(e, "+ %s  %s", k.Name, k.Note)
		case before[k.Name] != k.Text:
			cli.Say(e, "~ %s  %s, new key", k.Name, k.Note)
		}
	}
	for _, k := range had.Keys {
		if after[k.Name] == "" {
			cli.Say(e, "- %s", k.Name)
		}
	}
	groups := maps.Clone(had.Groups)
	maps.Copy(groups, now.Groups)
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		is := slices.Sorted(slices.Values(now.Groups[g]))
		switch {
		case slices.Equal(is, slices.Sorted(slices.Values(had.Groups[g]))):
		case len(is) == 0:
			cli.Say(e, "- %s: no nodes left", g)
		default:
			cli.Say(e, "~ %s is %s", g, cli.NamesOf(is))
		}
	}
}

func newNodesCommand(e *cli.Env) *cobra.Command {
	f := &nodeFlags{}
	dry := false
	cmd := &cobra.Command{
		Use:   "nodes [NODES...]",
		Short: "Update the fleet's nodes among the recipients, or add nodes",
		Long: `Update the fleet's nodes in .ccm/recipients to the approved ones: new nodes, revoked
nodes, changed keys. With NODES, add these: names, tag:NAME=VALUE or env:NAME.

  ccm secret recipients nodes tag:role=db
  ccm secret recipients nodes -n

Groups of nodes are named @tag:role=db. Only tags and environments that an operator
signed with the node's key count, not its facts. After each key is the fingerprint
that was compared at enrolment, as in ccm fleet nodes NODE.

Exit status: 4 if, with -n, the file is out of date.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.to = args
			changed, err := f.update(cmd.Context(), e, "x", dry)
			switch {
			case err != nil:
				return err
			case !changed:
				cli.Say(e, "The nodes in %s are up to date.", recipientsPath("x"))
			case dry:
				return cli.Status(cli.ExitFailed)
			default:
				cli.Say(e, "Update existing secrets with: ccm secret rekey")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return f.selectors(cmd.Context(), e), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.Flags.Add(cmd.Flags())
	cmd.Flags().BoolVarP(&dry, "noop", "n", false, "show what would change, without changing anything")
	return cmd
}

// warnNobody warns that only nodes can read a secret, so that no person can change it.
func warnNobody(e *cli.Env, near string, to *encryption.Audience) {
	path := recipientsPath(near)
	text, err := e.Files.ReadFile(path)
	if err != nil {
		return
	}
	n, _, _, err := encryption.SplitNodes(path, string(text))
	if err != nil {
		return
	}
	for _, k := range to.Keys {
		if !slices.ContainsFunc(n.Keys, func(o encryption.NodeKey) bool { return o.Name == k.Name }) {
			return
		}
	}
	terminal.Fprintf(e.Stderr, "Only nodes can read it: nobody can edit or rekey it. Add people with --for NAME.\n")
}
