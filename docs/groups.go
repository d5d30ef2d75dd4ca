package docs

import (
	"strings"
)

// A Group is the pages about one theme, in the order in which they are read.
type Group struct {
	Title string
	Pages []string
}

// typesDir and commandsDir hold a page for each type and each command.
const (
	typesDir    = "reference/types/"
	commandsDir = "reference/commands/"
)

// groups is the table of contents: each page is in one of them. A name that ends with a slash
// stands for all pages below it, in order of name.
var groups = []Group{
	{"Getting started", []string{"install", "tutorial", "ensure", "repl"}},
	{"Recipes", []string{
		"recipes/basics", "recipes/running", "recipes/changes", "recipes/pipelines", "recipes/machines",
		"recipes/software", "recipes/sites",
	}},
	{"Language", []string{
		"resources", "lua", "lua-for-yaml", "manifests", "templates", "data", "modules", "types", "testing-sites", "studio",
	}},
	{"Resource types", []string{"files", "edits", "packages", "services", "commands", "secrets", "health-checks"}},
	{"Runs", []string{"plans", "ci", "order", "prune", "bundles", "images", "ssh", "agent", "fleet", "reports"}},
	{"Coming from", []string{
		"coming-from-puppet", "coming-from-ansible", "coming-from-choria", "coming-from-chezmoi",
	}},
	{"Reference", []string{
		"reference/overview", "stdlib", "go", "facts", "errors", "glossary", "comparison", "performance", "reference/lua", "reference/exit-codes",
		"reference/events", "reference/schemas", "reference/properties",
	}},
	{"Types", []string{typesDir}},
	{"Commands", []string{commandsDir}},
	{"Internals", []string{"architecture", "decisions", "testing", "reliability"}},
}

// Groups returns the table of contents with the pages that there are.
func Groups() []Group {
	all := Names()
	var out []Group
	for _, g := range groups {
		var pages []string
		for _, entry := range g.Pages {
			for _, name := range all {
				if name == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(name, entry) {
					pages = append(pages, name)
				}
			}
		}
		if len(pages) > 0 {
			out = append(out, Group{g.Title, pages})
		}
	}
	return out
}
