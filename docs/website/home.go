package website

import (
	"bytes"
	"embed"
	_ "embed" // for what is served as it is
	"html/template"
	"path"

	"github.com/luaccm/ccm/docs/markdown"
)

// A Home is what the first page shows above the table of contents.
type Home struct {
	// Lead is what the site is about, as text.
	Lead string
	// Install is a block of code.
	Install string
	// Picture is the recording of a terminal, an SVG, and Alt its text.
	Picture []byte
	Alt     string
	// Examples are shown side by side.
	Examples []Example
	// Comparison is the name of the page whose first table is shown.
	Comparison string
	// Ways lead to the pages where readers begin.
	Ways []Way
}

// An Example is a block of code with its title and a text.
type Example struct{ Title, Language, Code, Text string }

// A Way leads to a page, given its name.
type Way struct{ Title, Page, Text string }

//go:embed home.html
var homeText string

//go:embed demo.svg
var recording []byte

//go:embed examples
var examples embed.FS

// ccmHome returns the first page of the documentation of ccm.
func ccmHome() *Home {
	code := func(name string) string {
		text, err := examples.ReadFile(path.Join("examples", name))
		if err != nil {
			panic(err) // the file is embedded
		}
		return string(text)
	}
	return &Home{
		Lead:    "Describe a machine in Lua or YAML; ccm shows what would change, applies it, and reports what changed.",
		Install: "git clone https://github.com/luaccm/ccm\nmake -C ccm        # needs Go 1.26; builds ccm/bin/ccm\n",
		Picture: recording,
		Alt:     "A terminal: ccm plan shows the diff of two files, ccm run changes them, and a second ccm run has nothing to do",
		Examples: []Example{
			{"Lua", "lua", code("site.lua"), "A script with variables, conditions, loops and modules."},
			{"YAML", "yaml", code("site.yaml"), "The same resources in a manifest. Manifests of Choria CCM run unchanged."},
			{"Shell", "sh", code("site.sh"), "The same in a shell script, without a plan, a diff, a history or undo. If the reload fails, the next run forgets it."},
		},
		Comparison: "comparison",
		Ways: []Way{
			{"New to configuration management", "tutorial", "From an empty folder to a web server with TLS, in half an hour."},
			{"From Ansible", "coming-from-ansible", "Playbooks, roles, handlers and inventories, and what replaces them."},
			{"From Puppet", "coming-from-puppet", "Classes, Hiera, facts and the agent, and what replaces them."},
			{"From Choria CCM", "coming-from-choria", "Manifests run as they are. What is the same, and what is new."},
		},
	}
}

// home writes the first page of the site: what the site is about, and the table of contents.
func (b *builder) home() (File, error) {
	layout, err := template.New("home").Parse(homeText)
	if err != nil {
		return File{}, err
	}
	var body bytes.Buffer
	err = layout.Execute(&body, map[string]any{
		"Title": b.Title, "Intro": b.html(markdown.Parse(b.Intro), "index"), "Home": b.Home, "Groups": b.groups("", ""), "b": b,
	})
	if err != nil {
		return File{}, err
	}
	return b.file("index", view{Title: "Contents", Home: true, Body: template.HTML(body.String())}) //nolint:gosec // made by a template
}

// Code returns a block of code as HTML.
func (b *builder) Code(language, code string) template.HTML {
	p := &htmlPage{builder: b}
	p.code(&markdown.Node{Info: language, Text: code})
	return template.HTML(p.out.String()) //nolint:gosec // escaped
}

// Table returns the first table of a page as HTML. It is empty if there is none.
func (b *builder) Table(page string) template.HTML {
	p := &htmlPage{builder: b, name: page}
	for _, n := range markdown.Parse(b.Text(page)).Root.Children {
		if n.Kind == markdown.KindTable {
			p.table(n)
			break
		}
	}
	return template.HTML(p.out.String()) //nolint:gosec // escaped
}
