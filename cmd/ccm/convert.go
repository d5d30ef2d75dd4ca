package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/terminal"
)

func newConvertCommand(e *env) *cobra.Command {
	f := &siteFlags{}
	cmd := &cobra.Command{
		Use:   "convert MANIFEST",
		Short: "Print the Lua script that declares what a manifest does",
		Long: `Print a Lua script that declares the same resources as a YAML manifest. It
belongs beside the manifest: data stays there, and the script reads it with
data.load. What Lua has no words for is written as its value on this machine,
with a comment.

  ccm convert site.yaml > site.lua`,
		Args: needFile, ValidArgsFunction: completeFile(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.within(cmd.Context(), e, args[0], func() error {
				m, err := loadManifest(cmd.Context(), e, args[0], f)
				if err != nil {
					return err
				}
				return m.Convert(e.print().data())
			})
		},
	}
	f.add(cmd.Flags())
	addBundle(cmd.Flags(), &f.Bundle)
	addUnsaved(cmd)
	return cmd
}

// renderManifest prints the manifest with all that is resolved in it.
func renderManifest(ctx context.Context, e *env, name string, f *siteFlags) error {
	m, err := loadManifest(ctx, e, name, f)
	if err != nil {
		return err
	}
	text, err := m.Render()
	if err != nil {
		return err
	}
	_, err = e.print().data().Write(text)
	return err
}

// loadManifest reads a manifest. A script is refused.
func loadManifest(ctx context.Context, e *env, name string, f *siteFlags) (*manifest.Manifest, error) {
	m, err := e.LoadManifest(ctx, name, f.options())
	if err == nil && m == nil {
		err = diag.Errorf(diag.Pos{File: name}, "want a manifest, found a Lua script")
	}
	return m, err
}

// printMessages prints what a manifest has to say before a run, and returns what
// prints what it has to say after it.
func printMessages(e *env, m *manifest.Manifest) (after func()) {
	say := func(text string) {
		if text != "" {
			terminal.Fprintf(e.stderr, "%s\n", terminal.LinesText(strings.TrimSuffix(text, "\n")))
		}
	}
	if m == nil {
		return func() {}
	}
	say(m.PreMessage)
	return func() { say(m.PostMessage) }
}
