package main

import (
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// complete offers names of resources, and then values of ensure.
func (x *typed) complete(e *env, reg *resource.Registry) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return e.completeName(cmd, reg, x.typ, prefix)
		case len(args) == 1 && x.ensure:
			return x.typ.Schema().Field("ensure").Suggestions(), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeName offers names of resources of a type that its provider knows.
// Where it knows none, names may be paths.
func (e *env) completeName(cmd *cobra.Command, reg *resource.Registry, t *resource.Type, prefix string) ([]string, cobra.ShellCompDirective) {
	const paths = cobra.ShellCompDirectiveDefault
	v := &host.New(host.Options{Clock: e.clock}).View
	fs, err := e.gatherFacts(cmd.Context(), v, &siteFlags{})
	if err != nil {
		return nil, paths
	}
	provider, err := reg.Select(t.Skipped(prefix, "", nil, resource.Origin{}), fs)
	if err != nil {
		return nil, paths
	}
	names, err := provider.Names(cmd.Context(), v, prefix)
	if err != nil || names == nil {
		return nil, paths
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeReference offers the resources of the session.
func (e *env) completeReference(f *singleFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		s, err := f.openSession(cmd, e.trust())
		if err != nil || s == nil {
			return nil, directive
		}
		records, err := s.Records()
		if err != nil {
			return nil, directive
		}
		var names []string
		for _, r := range records {
			names = append(names, r.Type+"#"+r.Name)
		}
		slices.Sort(names)
		return slices.Compact(names), directive
	}
}

// completeTargets has the flag --target of all commands that read a script or
// manifest offer what that declares.
func (e *env) completeTargets(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("target") == nil {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc("target", func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			const directive = cobra.ShellCompDirectiveNoFileComp
			if len(args) == 0 || args[0] == "-" {
				return nil, directive
			}
			e.stderr = terminal.NewWriter(io.Discard) // the shell wants no story
			h := host.New(host.Options{Clock: e.clock})
			f := &siteFlags{evalTimeout: completionTimeout, dialect: newChoice("", "ccm", "tinycm")}
			s, err := e.load(cmd.Context(), h, args[0], args[1:], f, true)
			if err != nil {
				return nil, directive
			}
			var names []string
			for _, r := range s.catalog.Resources {
				names = append(names, r.ID.String())
			}
			return names, directive
		})
	}
}

// completionTimeout is how long a script may take to evaluate while somebody
// waits for completions.
const completionTimeout = 5 * time.Second
