// Package docs is ccm docs and ccm doc: the documentation, the reference of types, and the manual pages.
package docs

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// Command returns ccm docs.
func Command(e *cli.Env) *cobra.Command {
	search := ""
	cmd := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Print a page of the documentation, or the list of all pages",
		Long: `Print a page of the documentation, which is part of ccm. Without a topic it lists
all pages. The beginning of a name will do.

  ccm docs tutorial
  ccm docs --search "pending refresh"
  ccm docs build /tmp/ccm-docs

ccm doc has the reference of a single property or function.`,
		Args: cli.WantArguments(0, 1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, name := range docs.Names() {
					names = append(names, name+"\t"+docs.Title(name))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case search != "" && len(args) > 0:
				return diag.At(diag.Pos{}, diag.Expected("either TOPIC or --search"))
			case search != "":
				return searchPages(e, search)
			case len(args) == 0:
				listPages(e)
				return nil
			}
			name, err := docs.Find(args[0])
			if err != nil {
				return err
			}
			return printPage(e, name)
		},
	}
	cmd.AddCommand(newBuildCommand(e))
	cmd.Flags().StringVar(&search, "search", "", "list the sections that have all of these `WORDS`")
	return cmd
}

// printPage prints a page.
func printPage(e *cli.Env, name string) error {
	columns := terminal.Columns(e.Stdout)
	t := markdown.Terminal{Columns: columns, Styled: cli.Colorful(e, e.Stdout), Command: "ccm docs", Topic: func(destination string) string {
		file, _, _ := strings.Cut(destination, "#")
		to := path.Join(path.Dir(name), strings.TrimSuffix(file, ".md"))
		if file == "" || docs.Text(to) == "" {
			return ""
		}
		return docs.Topic(to)
	}}
	return t.Write(e.Stdout, markdown.Parse(docs.Text(name)))
}

// listPages lists all pages by theme.
func listPages(e *cli.Env) {
	groups, longest := docs.Groups(), 0
	for _, g := range groups {
		for _, name := range g.Pages {
			longest = max(longest, len(docs.Topic(name)))
		}
	}
	bold := terminal.Bold.On(cli.Colorful(e, e.Stdout))
	for i, g := range groups {
		if i > 0 {
			terminal.Fprintf(e.Stdout, "\n")
		}
		terminal.Fprintf(e.Stdout, "%s\n", bold.Paint(terminal.LineText(g.Title)))
		for _, name := range g.Pages {
			terminal.Fprintf(e.Stdout, "  %-*s  %s\n", longest, docs.Topic(name), docs.Summary(name))
		}
	}
	terminal.Fprintf(e.Stdout, "\nccm docs TOPIC prints one of them.\n")
}

// searchPages lists the sections with all the words of a query, in any case.
func searchPages(e *cli.Env, query string) error {
	words := strings.Fields(strings.ToLower(query))
	found := 0
	for _, g := range docs.Groups() {
		for _, name := range g.Pages {
			for _, s := range markdown.Parse(docs.Text(name)).Sections() {
				if holdsAll(strings.ToLower(s.Text+" "+s.Body), words) {
					terminal.Fprintf(e.Stdout, "%-26s %s\n", docs.Topic(name), s.Text)
					found++
				}
			}
		}
	}
	if found == 0 {
		return diag.Errorf(diag.Pos{}, "no section of the documentation has %q", query).WithHint("ccm docs lists all pages")
	}
	return nil
}

func holdsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
