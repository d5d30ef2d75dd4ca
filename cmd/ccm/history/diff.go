package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
)

// DiffCommand returns the command diff.
func DiffCommand(e *cli.Env) *cobra.Command {
	f := &cli.HistoryFlags{}
	cmd := &cobra.Command{
		Use:   "diff [RUN [PATH...]]",
		Short: "Show how a run changed files, as a patch",
		Long: `Show how a run changed files, as a patch for patch -p1 or git apply. Read-only.

  ccm diff
  ccm diff last /etc/nginx

Without RUN, it shows the last run that changed files, and names it in a line that
begins with #. Other lines that begin with # describe what a patch cannot express:
changed owners, and changed files that contain or contained secrets. With PATHs, it
shows only these and everything below them.`,
		Args:              cli.WantArguments(0, cli.AnyNumber),
		ValidArgsFunction: cli.CompleteRun(e, f),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := e.Store(f.StateDir, state.Limits{})
			if err != nil {
				return err
			}
			name, err := nameOrLatest(store, args, cli.ChangedFiles, "no run has changed a file")
			if err != nil {
				return err
			}
			rec, err := cli.FindRun(e, store, name, store.Changes)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if !f.JSON() {
					terminal.Fprintf(e.Print().Data(), "# %s of %s (%s)\n", rec.Command, cli.ShownTime(rec.Start), rec.ID)
				}
				return diffRun(e, store, rec, nil, f.JSON())
			}
			paths, err := cli.Absolute(args[1:])
			if err != nil {
				return err
			}
			return diffRun(e, store, rec, paths, f.JSON())
		},
	}
	f.Add(cmd.Flags())
	return cmd
}

func diffRun(e *cli.Env, store *state.Store, rec *state.Record, paths []string, asJSON bool) (err error) {
	found := len(paths) == 0
	d, err := newDiffer(e, store, rec)
	if err != nil {
		return err
	}
	out := e.Print().Data()
	if out != io.Writer(e.Stdout) { // not a terminal
		b := bufio.NewWriter(out)
		defer func() { err = errors.Join(err, b.Flush()) }()
		out = b
	}
	for _, c := range rec.Changes {
		if c.Undone() || !state.Among(string(c.Path), paths) {
			continue
		}
		found = true
		text, note := d.diff(&c)
		if asJSON {
			if err := e.Print().Line(cli.PathDiff{Change: c, Text: text, Note: note}); err != nil {
				return err
			}
			continue
		}
		for _, a := range attributeChanges(d.view, c) {
			terminal.Fprintf(out, "# %s: %s\n", c.Path, a)
		}
		if note != "" {
			terminal.Fprintf(out, "# %s: %s\n", c.Path, note)
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	if !found {
		return diag.Errorf(diag.Pos{}, "run %s did not change %s", rec.ID, strings.Join(paths, " or "))
	}
	return nil
}

// A differ finds the changes of files by a run.
type differ struct {
	env          *cli.Env
	store        *state.Store
	view         *host.View
	secrets      *state.SecretNames // which paths hold secrets, or have held some
	laterChanges state.LaterChanges
}

func newDiffer(e *cli.Env, store *state.Store, rec *state.Record) (*differ, error) {
	d := &differ{env: e, store: store, view: &host.New(host.Options{Root: rec.Root}).View}
	var err error
	if d.secrets, err = store.Sensitive(); err == nil {
		d.laterChanges, err = store.LaterChanges(rec.ID)
	}
	return d, err
}

// diff returns the change of a path's content as a unified diff, and a note about changes that the
// diff does not show. It sets c.Sensitive if the path has held secrets since. Of a file with
// secrets it tells only that the content changed.
func (d *differ) diff(c *state.Change) (text, note string) {
	c.Sensitive = c.Sensitive || d.secrets.HeldIn(string(c.Path))
	text, note, err := d.contents(c)
	if err != nil {
		note = err.Error()
	}
	return text, note
}

// contents is diff without a look at other runs.
func (d *differ) contents(c *state.Change) (text, note string, err error) {
	was, is := c.Before, state.Version{}
	if c.After == nil {
		return "", "outcome unknown: the run ended first", nil
	}
	is = *c.After
	if was.Kind != safepath.Regular && is.Kind != safepath.Regular {
		return "", kindChange(was.Kind, is.Kind), nil
	}
	if !c.Content && was.Kind == is.Kind {
		return "", "", nil
	}
	t := resource.TextChange{Path: string(c.Path), HaveExists: was.Kind == safepath.Regular, WantExists: is.Kind == safepath.Regular}
	if t.HaveExists {
		if was.Object == "" {
			return "", "previous content not kept: " + was.Unkept, nil
		}
		before, err := d.store.Content(was.Object)
		if err != nil {
			return "", "", err
		}
		t.Have = string(before)
	}
	after, known, err := d.store.After(d.view, d.laterChanges, *c)
	if err != nil {
		return "", "", err
	}
	t.Want = string(after)
	if !known && is.Size > resource.TextLimit {
		return "", fmt.Sprintf("new content not kept: larger than %s", bytesize.Format(resource.TextLimit)), nil
	}
	if !known {
		return "", "new content not kept: the file has changed since", nil
	}
	if c.Sensitive {
		side := func(exists bool, text string) string {
			if !exists {
				return "nothing"
			}
			return resource.MaskContent(d.env.Secrets, text)
		}
		return "", fmt.Sprintf("contains secrets: %s → %s", side(t.HaveExists, t.Have), side(t.WantExists, t.Want)), nil
	}
	text, ok := report.Unified(t)
	if !ok {
		note = fmt.Sprintf("binary: %d bytes → %d bytes", len(t.Have), len(t.Want))
	}
	return text, note, nil
}

// kindChange describes a change between two kinds of which neither is a file.
func kindChange(was, is safepath.FileKind) string {
	if was == is {
		return ""
	}
	return fmt.Sprintf("%s → %s", was, is)
}
