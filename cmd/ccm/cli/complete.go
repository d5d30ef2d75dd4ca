package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/reference"
)

// CompleteName completes names of resources of a type with the names that its provider knows. If
// the provider knows none, names may be paths.
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

// CompleteFile completes the first argument with scripts, manifests, files with one of the further
// suffixes, and directories. Later arguments are for the script.
func CompleteFile(further ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return append([]string{"lua", "yaml", "yml"}, further...), cobra.ShellCompDirectiveFilterFileExt
	}
}

// CompleteFlag sets the completion of a flag's value, if a shell asks for completions. Otherwise it
// does nothing, because cobra keeps completions as long as the process lives, together with the
// flag and all that belongs to the flag.
func CompleteFlag(e *Env, cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if Completes(e) {
		_ = cmd.RegisterFlagCompletionFunc(flag, f)
	}
}

// Completes reports whether a shell asks for completions.
func Completes(e *Env) bool {
	return len(e.Args) > 0 && strings.HasPrefix(e.Args[0], cobra.ShellCompRequestCmd)
}

// TypeCompletions returns the completions for a type's name, each with the description of the type.
func TypeCompletions(wanted func(*resource.Type) bool) (out []string) {
	for _, t := range reference.AllTypes() {
		if wanted(t) {
			out = append(out, t.Name+"\t"+reference.ShortOf(t))
		}
	}
	return out
}
