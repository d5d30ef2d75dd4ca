// Package website makes a static site of the documentation: pages of HTML that can be read from
// files, without a server and without JavaScript. Only the search and the copy buttons need JavaScript.
//
// Begin with [Build].
package website

import (
	"bytes"
	"cmp"
	_ "embed" // for what is served as it is
	"encoding/xml"
	"html/template"
	"path"
	"strings"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
)

//go:embed style.css
var style []byte

//go:embed search.js
var script []byte

//go:embed copy.js
var copyScript []byte

//go:embed page.html
var pageText string

// A File is one of the site. Its name is a path with slashes.
type File struct {
	Name string
	Data []byte
}

// A Source is the pages of a site.
type Source struct {
	// Title is the title of the site. Intro is the Markdown below the title on the first page.
	Title, Intro string
	// Home is what else is on the first page; nil for nothing.
	Home *Home
	// Address is the URL at which the site is published, with a slash at its end; "" if it is only read from files.
	// A published site has a sitemap, and its 404 page works at any path.
	Address string
	// Edit is the URL at which the source of a page is edited, up to the name of the file; "" for none.
	Edit string
	// Groups is the table of contents.
	Groups []docs.Group
	// Text returns the Markdown of a page, and Label what the table of contents calls it.
	Text, Label func(name string) string
}

// Documentation returns the pages of ccm docs.
func Documentation() Source {
	return Source{
		Title: "ccm", Home: ccmHome(), Groups: docs.Groups(), Text: docs.Text, Label: docs.Label,
		Edit: "https://github.com/luaccm/ccm/edit/main/docs/",
	}
}

// Build returns the files of the site.
func Build(s Source) ([]File, error) {
	layout, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, err
	}
	b := &builder{Source: s, layout: layout, pages: make(map[string]bool)}
	for _, g := range s.Groups {
		for _, name := range g.Pages {
			b.pages[name] = true
			b.order = append(b.order, name)
		}
	}
	files := []File{{"style.css", style}, {"search.js", script}, {"copy.js", copyScript}}
	if s.Home != nil {
		files = append(files, File{"demo.svg", s.Home.Picture})
	}
	for i := range b.order {
		f, err := b.page(i)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, build := range []func() (File, error){b.home, b.missing, b.index, b.sitemap} {
		f, err := build()
		if err != nil {
			return nil, err
		}
		if f.Name != "" {
			files = append(files, f)
		}
	}
	return files, nil
}

// A builder makes the files of one site.
type builder struct {
	Source
	layout *template.Template
	order  []string // of the pages
	pages  map[string]bool
}

// suffix is the suffix of the file names of the site's pages.
const suffix = ".html"

// A view is what the layout shows.
type view struct {
	Site, Title string
	// Root leads from the page to the top of the site: "" or "../" and so on.
	Root       string
	Groups     []group
	Body       template.HTML
	Headings   []markdown.Heading
	Prev, Next *link
	Edit       string // URL
	Home       bool
}

// A group is one of the table of contents. It is open if the page is in it.
type group struct {
	Title string
	Links []link
	Open  bool
}

type link struct {
	Label, Href string
	Here        bool
}

// page returns the file of a page, given its number in the order.
func (b *builder) page(i int) (File, error) {
	name := b.order[i]
	doc := markdown.Parse(b.Text(name))
	headings := doc.Headings()
	v := view{Root: rootOf(name), Body: b.html(doc, name)}
	if len(headings) > 0 {
		v.Title = headings[0].Text
	}
	for _, h := range headings {
		if h.Level == 2 || h.Level == 3 {
			v.Headings = append(v.Headings, h)
		}
	}
	if b.Edit != "" && !docs.Generated(name) {
		v.Edit = b.Edit + name + ".md"
	}
	if i > 0 {
		v.Prev = &link{Label: b.Label(b.order[i-1]), Href: v.Root + b.order[i-1] + suffix}
	}
	if i+1 < len(b.order) {
		v.Next = &link{Label: b.Label(b.order[i+1]), Href: v.Root + b.order[i+1] + suffix}
	}
	return b.file(name, v)
}

// missing returns the page that a server shows for an address that does not exist. All of its links are absolute,
// because the address may be in any folder.
func (b *builder) missing() (File, error) {
	body := `<h1>Page not found</h1>
<p>This page does not exist. Search for it (press <kbd>/</kbd>), or start at the <a href="` + template.HTMLEscapeString(b.Address) + `index.html">contents</a>.</p>
`
	return b.file("404", view{Title: "Page not found", Root: b.Address, Body: template.HTML(body)}) //nolint:gosec // escaped
}

// sitemap returns the list of the pages of a published site, as sitemaps.org describes it.
func (b *builder) sitemap() (File, error) {
	if b.Address == "" {
		return File{}, nil
	}
	type page struct {
		Location string `xml:"loc"`
	}
	list := struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		Pages   []page   `xml:"url"`
	}{Pages: []page{{b.Address}}}
	for _, name := range b.order {
		list.Pages = append(list.Pages, page{b.Address + name + suffix})
	}
	text, err := xml.MarshalIndent(list, "", " ")
	return File{"sitemap.xml", append([]byte(xml.Header), append(text, '\n')...)}, err
}

// file fills in the layout.
func (b *builder) file(name string, v view) (File, error) {
	v.Site, v.Groups = b.Title, b.groups(name, v.Root)
	var out bytes.Buffer
	err := b.layout.Execute(&out, v)
	return File{name + suffix, out.Bytes()}, err
}

// groups returns the table of contents as a page has it.
func (b *builder) groups(at, root string) (list []group) {
	for _, g := range b.Groups {
		x := group{Title: g.Title}
		for _, name := range g.Pages {
			label := strings.TrimPrefix(b.Label(name), g.Title+": ")
			x.Links = append(x.Links, link{cmp.Or(label, name), root + name + suffix, name == at})
			x.Open = x.Open || name == at
		}
		list = append(list, x)
	}
	return list
}

// rootOf leads from a page to the top of the site.
func rootOf(name string) string { return strings.Repeat("../", strings.Count(name, "/")) }

// pageOf returns the name of the page in a file, given how another page speaks of it.
func pageOf(from, file string) string {
	return strings.TrimSuffix(path.Join(path.Dir(from), file), ".md")
}

// target returns where a link of a page leads within the site, "" if it leads to a file that is
// none of its pages.
func (b *builder) target(from, destination string) string {
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	if hasAnchor {
		anchor = "#" + anchor
	}
	if file == "" {
		return anchor
	}
	name := pageOf(from, file)
	if !b.pages[name] {
		return ""
	}
	return rootOf(from) + name + suffix + anchor
}
