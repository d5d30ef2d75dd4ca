package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/site"
)

// CompleteName offers names of resources of a type that its provider knows.
// Where it knows none, names may be paths.
func CompleteName(e *Env, cmd *cobra.Command, reg *resource.Registry, t *resource.Type, prefix string) ([]string, cobra.ShellCompDirective) {
	const paths = cobra.ShellCompDirectiveDefault
	v := &host.New(host.Options{Clock: e.Clock}).View
	fs, err := e.Facts(cmd.Context(), v, site.FactOptions{})
	if err != nil {
		return nil, paths
	}
	names, err := site.NamesOf(cmd.Context(), v, fs, reg, t, prefix)
	if err != nil || names == nil {
		return nil, paths
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteFile offers scripts, manifests, files whose names have one of the further ends, and
// directories, as the first argument. What follows is for the script.
func CompleteFile(further ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return append([]string{"lua", "yaml", "yml"}, further...), cobra.ShellCompDirectiveFilterFileExt
	}
}

// CompleteFlag has a shell offer what may be the value of a flag. Package cobra keeps that for as
// long as the process lives, together with the flag and all that belongs to it, so it is told only
// if a shell asks.
func CompleteFlag(e *Env, cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if Completes(e) {
		_ = cmd.RegisterFlagCompletionFunc(flag, f)
	}
}

// Completes reports whether a shell asks what may be typed.
func Completes(e *Env) bool {
	return len(e.Args) > 0 && strings.HasPrefix(e.Args[0], cobra.ShellCompRequestCmd)
}

// TypeCompletions returns what a shell offers for the name of a type, with what
// the type is for.
func TypeCompletions(wanted func(*resource.Type) bool) (out []string) {
	for _, t := range site.AllTypes() {
		if wanted(t) {
			out = append(out, t.Name+"\t"+site.ShortOf(t))
		}
	}
	return out
}
