package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/agent"
	"github.com/luaccm/ccm/cmd/ccm/author"
	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/docs"
	"github.com/luaccm/ccm/cmd/ccm/fleet"
	"github.com/luaccm/ccm/cmd/ccm/history"
	"github.com/luaccm/ccm/cmd/ccm/inspect"
	"github.com/luaccm/ccm/cmd/ccm/mod"
	"github.com/luaccm/ccm/cmd/ccm/registration"
	"github.com/luaccm/ccm/cmd/ccm/secret"
	"github.com/luaccm/ccm/cmd/ccm/ssh"
)

// commands returns the constructors of ccm's commands, by name.
func commands() map[string]func(*cli.Env) *cobra.Command {
	return map[string]func(*cli.Env) *cobra.Command{
		"agent":          agent.Command,
		"bundle":         newBundleCommand,
		"catalog":        inspect.CatalogCommand,
		"completion":     newCompletionCommand,
		"convert":        inspect.ConvertCommand,
		"data":           inspect.DataCommand,
		"diff":           history.DiffCommand,
		"doc":            docs.DocCommand,
		"docs":           docs.Command,
		"doctor":         newDoctorCommand,
		"drift":          newDriftCommand,
		"ensure":         newEnsureCommand,
		"eval":           newEvalCommand,
		"evaluate-stdio": author.EvaluateCommand,
		"exit-codes":     exitCodesTopic,
		"facts":          inspect.FactsCommand,
		"fleet":          func(e *cli.Env) *cobra.Command { return fleet.Command(e, author.CheckSite) },
		"graph":          formerGraphCommand,
		"hiera":          inspect.HieraCommand,
		"history":        history.Command,
		"import":         author.ImportCommand,
		"init":           author.InitCommand,
		"lint":           author.LintCommand,
		"mod":            mod.Command,
		"plan":           newPlanCommand,
		"prune":          newPruneCommand,
		"registration":   registration.Command,
		"repl":           newReplCommand,
		"restore":        formerRestoreCommand,
		"run":            newRunCommand,
		"schema":         docs.SchemaCommand,
		"secret":         secret.Command,
		"serve-stdio":    ssh.ServeCommand,
		"session":        newSessionCommand,
		"ssh":            func(e *cli.Env) *cobra.Command { return ssh.Command(e, commandFor) },
		"status":         newStatusCommand,
		"studio":         author.StudioCommand,
		"test":           author.TestCommand,
		"types":          author.TypesCommand,
		"undo":           newUndoCommand,
		"version":        newVersionCommand,
	}
}

func formerGraphCommand(e *cli.Env) *cobra.Command {
	return cli.Former(e, inspect.CatalogCommand(e), "graph", "ccm catalog", "--output=dot")
}

func formerRestoreCommand(e *cli.Env) *cobra.Command {
	cmd := newUndoCommand(e)
	cmd.Use, cmd.Args = "restore RUN [PATH...]", cli.WantArguments(1, cli.AnyNumber)
	return cli.Former(e, cmd, "restore", "ccm undo")
}

// commandFor returns the command ccm for a command line. It makes only the commands and types that
// the line names, because to evaluate all types of the library takes longer than to reach a host.
func commandFor(args []string) *cobra.Command {
	e := newEnv(strings.NewReader(""), io.Discard, io.Discard, clock)
	e.Args = args
	return newRootCommand(e)
}

// addCommands adds the command that the command line begins with; without one, all commands. To
// make them all takes a twelfth of the instructions of a run that has nothing to do. The manual
// pages of ccm docs --man describe all commands.
func addCommands(e *cli.Env, root *cobra.Command) {
	all := commands()
	if len(e.Args) > 0 && !slices.ContainsFunc(e.Args, func(arg string) bool { return strings.HasPrefix(arg, "--man") }) {
		if one := all[e.Args[0]]; one != nil {
			root.AddCommand(one(e))
			return
		}
	}
	for _, command := range all {
		root.AddCommand(command(e))
	}
}
