package main

import (
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// commands returns what makes each command of ccm, by its name.
func commands() map[string]func(*cli.Env) *cobra.Command {
	return map[string]func(*cli.Env) *cobra.Command{
		"agent":        newAgentCommand,
		"bundle":       newBundleCommand,
		"catalog":      newCatalogCommand,
		"convert":      newConvertCommand,
		"data":         newDataCommand,
		"diff":         newDiffCommand,
		"doc":          newDocCommand,
		"docs":         newDocsCommand,
		"doctor":       newDoctorCommand,
		"drift":        newDriftCommand,
		"ensure":       newEnsureCommand,
		"eval":         newEvalCommand,
		"exit-codes":   exitCodesTopic,
		"facts":        newFactsCommand,
		"fleet":        newFleetCommand,
		"graph":        newGraphCommand,
		"hiera":        newHieraCommand,
		"history":      newHistoryCommand,
		"import":       newImportCommand,
		"init":         newInitCommand,
		"lint":         newLintCommand,
		"mod":          newModCommand,
		"plan":         newPlanCommand,
		"prune":        newPruneCommand,
		"registration": newRegistrationCommand,
		"repl":         newReplCommand,
		"restore":      newRestoreCommand,
		"run":          newRunCommand,
		"schema":       newSchemaCommand,
		"secret":       newSecretCommand,
		"serve-stdio":  newServeCommand,
		"session":      newSessionCommand,
		"ssh":          newSSHCommand,
		"status":       newStatusCommand,
		"studio":       newStudioCommand,
		"test":         newTestCommand,
		"types":        newTypesCommand,
		"undo":         newUndoCommand,
		"version":      newVersionCommand,
	}
}

// addCommands adds the command that the command line begins with or, where it begins with none, all
// of them: to make all takes a twelfth of the instructions of a run that has nothing to do. The
// manual pages of ccm doc are about all.
func addCommands(e *cli.Env, root *cobra.Command) {
	all := commands()
	if len(e.Args) > 0 && e.Args[0] != "doc" {
		if one := all[e.Args[0]]; one != nil {
			root.AddCommand(one(e))
			return
		}
	}
	for _, command := range all {
		root.AddCommand(command(e))
	}
}
