package website

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs"
)

// built returns the files of the site of ccm docs, by name.
func built(t *testing.T, s Source) map[string]string {
	files, err := Build(s)
	require.NoError(t, err)
	byName := make(map[string]string)
	for _, f := range files {
		require.NotContains(t, byName, f.Name)
		byName[f.Name] = string(f.Data)
	}
	return byName
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	identity  = regexp.MustCompile(` id="([^"]*)"`)
)

// TestLinks: all that a page of the site leads to is there, down to the heading, and each page
// is led to.
func TestLinks(t *testing.T) {
	site := built(t, Documentation())
	ids := make(map[string]bool)
	for name, text := range site {
		for _, m := range identity.FindAllStringSubmatch(text, -1) {
			require.False(t, ids[name+"#"+m[1]], "%s has #%s twice", name, m[1])
			ids[name+"#"+m[1]] = true
		}
	}
	links, led := 0, make(map[string]bool)
	for name, text := range site {
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			to := m[1]
			if to == "data:," || isAddress(to) {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(to, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			require.Contains(t, site, target, "%s: %s", name, to)
			if anchor != "" {
				require.True(t, ids[target+"#"+anchor], "%s: %s", name, to)
			}
			led[target] = true
		}
	}
	require.Greater(t, links, 5000)
	for name := range site {
		require.True(t, led[name] || name == "index.js", "nothing leads to %s", name)
	}
}

// TestNothingIsLoadedFromElsewhere: a page loads its style and its script and nothing else.
func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	loads := regexp.MustCompile(`<(?:script|link|img|iframe|object|embed|source|video|audio)\b[^>]*`)
	addressed := regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	site := built(t, Documentation())
	for name, text := range site {
		switch {
		case strings.HasSuffix(name, suffix):
			for _, tag := range loads.FindAllString(text, -1) {
				m := addressed.FindStringSubmatch(tag)
				require.NotNil(t, m, "%s: %s", name, tag)
				require.Regexp(t, `^(data:,|(\.\./)*(style\.css|search\.js|copy\.js|demo\.svg))$`, m[1], "%s: %s", name, tag)
			}
			require.NotContains(t, text, " style=", name)
		case name != "index.js":
			text = strings.Replace(text, `xmlns="http://www.w3.org/2000/svg"`, "", 1)
			require.NotRegexp(t, `https?:|@import|url\(|fetch|XMLHttpRequest|innerHTML`, text, name)
		}
	}
}

// TestIndex: the index of the search has the sections of all pages, down to a property of a type.
func TestIndex(t *testing.T) {
	text, ok := strings.CutPrefix(built(t, Documentation())["index.js"], "var ccmIndex = ")
	require.True(t, ok)
	text, synonyms, ok := strings.Cut(text, "\nvar ccmSynonyms = ")
	require.True(t, ok)
	require.Contains(t, synonyms, `"docker"`)
	require.NotContains(t, text, "<")
	var entries [][4]string
	require.NoError(t, json.Unmarshal([]byte(text), &entries))
	require.Greater(t, len(entries), 1000)
	found := make(map[string]string)
	for _, e := range entries {
		found[e[0]] = e[3]
	}
	require.Contains(t, found["reference/types/file.html#validate_after"], "validates the machine after the file was installed")
	require.Contains(t, found["reference/commands/run.html#flags"], "--check-idempotent")
	require.Contains(t, found, "plans.html")
	require.Contains(t, found, "stdlib.html#strsplit")
}

// TestHostileText: what looks like HTML in a page is text, and a link runs nothing.
func TestHostileText(t *testing.T) {
	page := "# <img src=x onerror=alert(1)> `</script><script>alert(2)</script>`\n\n<script>alert(3)</script>\n\n" +
		"[a](javascript:alert(4)) [b](data:text/html,x) ![c](https://example.org/x.png) <b onclick=alert(5)>x</b> [d](vbscript:x) [e](//example.org/x) [f](../../etc/passwd)\n\n" +
		"## \"><svg onload=alert(6)>\n\n```lua\n</code></pre><script>alert(7)</script>\n```\n\n<https://example.org/?a=\"b\">\n\n| <i> |\n|---|\n| </table><script>alert(8)</script> |\n"
	site := built(t, Source{
		Title: "<u>", Groups: []docs.Group{{Title: "<s>", Pages: []string{"x"}}},
		Text: func(string) string { return page }, Label: func(string) string { return "<q>" },
	})
	for name, text := range site {
		if strings.HasSuffix(name, ".js") {
			continue
		}
		require.NotRegexp(t, `<script>|<img|<svg|<b |<i>|<u>|<s>|<q>|[^-]on(error|click|load)=["a-z]*alert[^&]*">`, text, name)
	}
	for _, m := range reference.FindAllStringSubmatch(site["x.html"], -1) {
		require.Regexp(t, `^(|data:,|#[\w-]*|[\w./-]+|https://example\.org/\?a=%22b%22|https://example\.org/x\.png)$`, m[1])
		require.NotContains(t, m[1], "passwd")
	}
}

// TestLinksAreNamed: a link that has the name of a file for its text has the title of the page.
func TestLinksAreNamed(t *testing.T) {
	texts := map[string]string{"a": "# First\n\n[b.md](b.md#x), [so](b.md), [z.md](../z.md), [`b.md`](b.md)", "b": "# The second\n\n## x\n"}
	site := built(t, Source{Groups: []docs.Group{{Title: "g", Pages: []string{"a", "b"}}}, Text: func(name string) string { return texts[name] }, Label: func(name string) string { return map[string]string{"a": "First", "b": "The second"}[name] }})
	require.Contains(t, site["a.html"], `<p><a href="b.html#x">The second</a>, <a href="b.html">so</a>, z.md, <a href="b.html"><code>b.md</code></a></p>`)
}

// TestFileOfBlock: above a block of code stands the file that it is, as text.
func TestFileOfBlock(t *testing.T) {
	page := "# x\n\n```lua site.lua\nx = 1\n```\n\n```lua <b>&amp;\ny = 1\n```\n\n```lua part\nz = 1\n```\n"
	text := built(t, Source{Groups: []docs.Group{{Title: "g", Pages: []string{"x"}}}, Text: func(string) string { return page }, Label: func(string) string { return "x" }})["x.html"]
	require.Contains(t, text, `<p class="file">site.lua</p>`)
	require.NotContains(t, text, "<b>")
	require.Equal(t, 2, strings.Count(text, `<p class="file">`))
}

// TestOrder: from the first page one comes to all others by next, and back.
func TestOrder(t *testing.T) {
	site := built(t, Documentation())
	next := regexp.MustCompile(`<a class="next" rel="next" href="([^"]*)"`)
	at, seen := Documentation().Groups[0].Pages[0]+suffix, 1
	for {
		m := next.FindStringSubmatch(site[at])
		if m == nil {
			break
		}
		at = path.Join(path.Dir(at), m[1])
		seen++
	}
	require.Equal(t, len(docs.Names()), seen)
}

// TestHome: the first page has the recording, the same resources in three languages, the comparison and the four ways in.
func TestHome(t *testing.T) {
	site := built(t, Documentation())
	home := site["index.html"]
	require.Contains(t, home, `<img src="demo.svg" alt="A terminal`)
	for _, language := range []string{"lua", "yaml", "sh"} {
		require.Contains(t, home, `<code class="language-`+language+`"><span`, language)
	}
	require.Regexp(t, `(?s)<th></th>.*<th>ccm</th>.*<th>Ansible</th>.*<th>mgmt</th>`, home)
	for _, page := range []string{"tutorial", "coming-from-ansible", "coming-from-puppet", "coming-from-choria"} {
		require.Contains(t, home, `<li><a href="`+page+`.html">`)
	}
	require.Contains(t, home, "recipes/basics.html")
	require.Regexp(t, `^<svg [^>]*viewBox="0 0 ([0-9]+) ([0-9]+)"`, site["demo.svg"])
	m := regexp.MustCompile(`^<svg [^>]*viewBox="0 0 ([0-9]+) ([0-9]+)"`).FindStringSubmatch(site["demo.svg"])
	require.Contains(t, home, `width="`+m[1]+`" height="`+m[2]+`"`, "the size of demo.svg in home.html")
}

// TestChapter: of the navigation just the chapter of the page is open.
func TestChapter(t *testing.T) {
	text := built(t, Documentation())["plans.html"]
	require.Equal(t, 1, strings.Count(text, "<details open>"))
	require.NotRegexp(t, `>Recipes: `, regexp.MustCompile(`(?s)<nav class="pages".*?</nav>`).FindString(text))
	require.Regexp(t, `<details open><summary>Runs</summary>\s*<ul>\s*<li><a href="plans.html" aria-current="page">`, text)
}

// TestEdit: pages that people write lead to their source.
func TestEdit(t *testing.T) {
	site := built(t, Documentation())
	require.Contains(t, site["recipes/basics.html"], `href="https://github.com/luaccm/ccm/edit/main/docs/recipes/basics.md"`)
	for _, name := range []string{"reference/types/file", "reference/commands/run", "reference/lua", "performance", "index", "404"} {
		require.NotContains(t, site[name+suffix], "Edit this page", name)
	}
}

// TestPublished: a published site has a sitemap of all pages, and on its 404 page all addresses are absolute.
func TestPublished(t *testing.T) {
	source := Documentation()
	require.NotContains(t, built(t, source), "sitemap.xml")
	source.Address = "https://example.org/ccm/"
	site := built(t, source)
	require.Equal(t, len(docs.Names())+1, strings.Count(site["sitemap.xml"], "<loc>"))
	for _, m := range regexp.MustCompile(`<loc>(.*?)</loc>`).FindAllStringSubmatch(site["sitemap.xml"], -1) {
		name, ok := strings.CutPrefix(m[1], source.Address)
		require.True(t, ok, m[1])
		if name != "" {
			require.Contains(t, site, name)
		}
	}
	for _, m := range reference.FindAllStringSubmatch(site["404.html"], -1) {
		require.Regexp(t, `^(data:,|#main|https://example\.org/ccm/[\w./-]+)$`, m[1])
	}
	require.Contains(t, site["404.html"], `data-root="https://example.org/ccm/"`)
}
