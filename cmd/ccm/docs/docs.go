// Package docs is ccm docs: the documentation, the reference of types, and the manual pages.
package docs

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/docs/search"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
	"github.com/luaccm/ccm/site/reference"
)

// Command returns ccm docs.
func Command(e *cli.Env) *cobra.Command {
	f := &docsFlags{output: cli.NewChoice("text", "text", "json")}
	query := ""
	cmd := &cobra.Command{
		Use:   "docs [TOPIC[#SECTION] | TYPE[.PROPERTY] | LIBRARY[.FUNCTION]]",
		Short: "List the pages of the documentation, or print one, or a type or function",
		Long: `Print a page or a section of the documentation, or the reference of a resource type,
a property or a library function. Read-only.

  ccm docs tutorial
  ccm docs --search "github actions"
  ccm docs pipelines#run-in-github-actions
  ccm docs file.mode
  ccm docs str.split
  ccm docs --module nginx nginx.vhost

Without a topic, it lists all pages. The first letters of a name are enough.

The reference is generated from the declarations that decode scripts and manifests.
With --module, it includes the types and functions of a module of the site, with the
comments above them. --output json prints a JSON Schema (draft 2020-12) of the topic, or
of all types. --schema prints the JSON Schema of a format:

  request    input of "ccm ensure api"
  response   output of "ccm ensure api"
  event      output of "ccm run --output json" for a resource
  manifest   a YAML manifest, for editors

With --man DIR, it writes a manual page for every command to a directory; read them
with "man -l DIR/ccm-run.1".`,
		Args: cli.WantArguments(0, 1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, name := range docs.Names() {
					names = append(names, name+"\t"+docs.Title(name))
				}
				names = append(names, cli.TypeCompletions(func(*resource.Type) bool { return true })...)
				names = append(names, reference.LibraryNames()...)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case query != "" && len(args) > 0:
				return diag.At(diag.Pos{}, diag.Expected("either TOPIC or --search"))
			case query != "":
				return searchPages(e, query)
			case f.man != "":
				return writeMan(e, cmd.Root(), f.man)
			case f.schema != "":
				return printSchema(e, f.schema)
			case f.output.Value == "json" || len(f.modules) > 0:
				return f.print(cmd.Context(), e, args)
			case len(args) == 0:
				listPages(e)
				return nil
			}
			topic, section, _ := strings.Cut(args[0], "#")
			if section == "" && !docs.IsPage(topic) {
				err := f.print(cmd.Context(), e, args)
				if err == nil || strings.Contains(topic, ".") {
					return err
				}
			}
			name, err := docs.Find(topic)
			if err != nil {
				return err
			}
			return printPage(e, name, section)
		},
	}
	cmd.AddCommand(newBuildCommand(e))
	cmd.Flags().StringVar(&query, "search", "", "list the sections that match these `WORDS` best")
	f.add(cmd)
	cmd.Flags().StringVar(&f.schema, "schema", "", "JSON Schema of `FORMAT`: request, response, event or manifest")
	cli.CompleteFlag(e, cmd, "schema", cobra.FixedCompletions(Schemas, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// printPage prints a page or, given the anchor of a section, only that.
func printPage(e *cli.Env, name, section string) error {
	page := markdown.Parse(docs.Text(name))
	if section != "" {
		part := page.Only(section)
		if part == nil {
			var known []string
			for _, h := range page.Headings() {
				known = append(known, h.Anchor)
			}
			return diag.At(diag.Pos{}, diag.None("section %q on page %s", section, docs.Topic(name))).
				WithHint("%s",
					cmp.Or(diag.DidYouMean(section, known), "ccm docs "+docs.Topic(name)+" prints the whole page"))
		}
		page = part
	}
	columns := terminal.Columns(e.Stdout)
	t := markdown.Terminal{Columns: columns, Styled: cli.Colorful(e, e.Stdout), Command: "ccm docs", Topic: func(destination string) string {
		file, _, _ := strings.Cut(destination, "#")
		to := path.Join(path.Dir(name), strings.TrimSuffix(file, ".md"))
		if file == "" || docs.Text(to) == "" {
			return ""
		}
		return docs.Topic(to)
	}}
	return t.Write(e.Stdout, page)
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
			terminal.Fprintf(e.Stdout, "  %-*s  %s\n", longest, docs.Topic(name), words.Shorten(docs.Summary(name), terminal.TextWidth-longest-4))
		}
	}
	terminal.Fprintf(e.Stdout, "\nccm docs TOPIC prints one of them.\n")
}

// mostFound is how many sections a search lists.
const mostFound = 15

// searchPages lists the sections that fit a query best, and how to print each.
func searchPages(e *cli.Env, query string) error {
	found := search.Find(query)
	if len(found.Sections) == 0 {
		return diag.At(diag.Pos{}, diag.None("section of the documentation contains %q", query)).WithHint("list all pages with: ccm docs")
	}
	for word, near := range found.Corrected {
		terminal.Fprintf(e.Stderr, "ccm: no page named %q: searching for %q\n", word, near)
	}
	if found.Partial {
		terminal.Fprintf(e.Stderr, "ccm: no section contains all of these words; best matches:\n")
	}
	list := found.Sections[:min(mostFound, len(found.Sections))]
	longest := 0
	for _, s := range list {
		longest = max(longest, utf8.RuneCountInString(s.Text))
	}
	for _, s := range list {
		at := docs.Topic(s.Page)
		if s.Level > 1 {
			at += "#" + s.Anchor
		}
		terminal.Fprintf(e.Stdout, "%-*s  ccm docs %s\n", longest, s.Text, at)
	}
	if more := len(found.Sections) - len(list); more > 0 {
		terminal.Fprintf(e.Stdout, "and %d more\n", more)
	}
	return nil
}
