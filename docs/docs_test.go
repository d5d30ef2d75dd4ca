package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs/markdown"
)

// TestEveryPageIsListed: each file of this folder is a page, begins with its title and has its
// place in the table of contents.
func TestEveryPageIsListed(t *testing.T) {
	var want []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.ToSlash(path), suffix); ok {
			want = append(want, name)
		}
		return err
	}))
	require.ElementsMatch(t, want, Names(), "what docs.go embeds")
	var grouped []string
	for _, g := range Groups() {
		grouped = append(grouped, g.Pages...)
	}
	require.Subset(t, grouped, Names(), "pages that are in no group of docs/groups.go")
	listed := make(map[string]bool)
	for _, g := range Groups() {
		for _, name := range g.Pages {
			require.False(t, listed[name], "%s is listed twice", name)
			listed[name] = true
			headings := markdown.Parse(Text(name)).Headings()
			require.NotEmpty(t, headings, name)
			require.Equal(t, 1, headings[0].Level, name)
			require.Equal(t, Title(name), headings[0].Text, name)
			for _, h := range headings[1:] {
				require.Greater(t, h.Level, 1, "%s has a second title, %s", name, h.Text)
			}
		}
	}
}

// TestLinks: the targets of links within the repository exist, including headings.
func TestLinks(t *testing.T) {
	var pages []string
	for _, name := range Names() {
		pages = append(pages, "docs/"+name+suffix)
	}
	beside, err := filepath.Glob("../*.md")
	require.NoError(t, err)
	for _, path := range beside {
		pages = append(pages, filepath.Base(path))
	}
	links := 0
	for _, page := range pages {
		for _, l := range markdown.Parse(readPage(t, page)).Links() {
			if strings.Contains(l.Destination, "://") || strings.HasPrefix(l.Destination, "mailto:") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(l.Destination, "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Lstat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s:%d: %s: no such file", page, l.Line, l.Destination)
				continue
			}
			if anchor != "" && !hasAnchor(t, target, anchor) {
				t.Errorf("%s:%d: %s: there is no such heading", page, l.Line, l.Destination)
			}
		}
	}
	require.Greater(t, links, 50)
}

// TestRecipesAreLinked: the README and the tutorial lead to the recipes.
func TestRecipesAreLinked(t *testing.T) {
	require.Contains(t, readPage(t, "README.md"), "(docs/recipes/basics.md)")
	require.Contains(t, Text("tutorial"), "(recipes/basics.md)")
}

// TestComparison: the README has the table of comparison.md.
func TestComparison(t *testing.T) {
	table := regexp.MustCompile(`(?m)(^\|.*\n)+`).FindString(Text("comparison"))
	require.Contains(t, table, "| Ansible |")
	require.Contains(t, readPage(t, "README.md"), "\n\n"+table+"\n")
}

func readPage(t *testing.T, path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(text)
}

func hasAnchor(t *testing.T, page, anchor string) bool {
	for _, h := range markdown.Parse(readPage(t, page)).Headings() {
		if h.Anchor == anchor {
			return true
		}
	}
	return false
}

// TestFind: a topic is found by its name, its last part and its beginning; a mistake says what
// is near.
func TestFind(t *testing.T) {
	for topic, want := range map[string]string{"plans": "plans", "plan": "reference/commands/plan", "file": "reference/types/file", "files": "files", "mount": "reference/types/mount", "Plans.md": "plans", "tut": "tutorial", "encrypted.md": "secrets", "sharing": "modules"} {
		got, err := Find(topic)
		require.NoError(t, err)
		require.Equal(t, want, got, topic)
	}
	for former, page := range formerNames {
		require.NotContains(t, Names(), former)
		require.Contains(t, Names(), page)
	}
	for topic, want := range map[string]string{"te": "several pages", "palns": "no page", "": "no page", "../docs": "no page", "\x1b[2J": "no page"} {
		_, err := Find(topic)
		require.ErrorContains(t, err, want, topic)
	}
}
