package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs/markdown"
)

// besideRecipes are files that recipes read and do not show.
var besideRecipes = map[string]string{
	"keys/ada.pub":      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh ada@example.org\n",
	"files/example.asc": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n",
	"home/.bashrc":      "alias ll='ls -l'\n", "home/.gitconfig": "[user]\n", "home/.config/nvim/init.lua": "-- nvim\n",
}

// recipeSpec is the spec of one site of a recipe: it converges, and a second run changes nothing.
const recipeSpec = `it(%[1]q, function() assert.stable(catalog(%[1]q, {
  facts = { hostname = "web1", role = "web", init = "systemd", inventory = { role = "web" }, os = { family = "debian", codename = "trixie" } },
  env = { HOME = "/home/ada", DB_PASSWORD = "correct horse" },
  files = { ["/home/ada/.profile"] = "", ["/etc/ssh/sshd_config"] = "Port 22\n", ["/etc/nftables.conf"] = "" },
})) end)
`

// TestRecipes: each recipe has an answer of at most 20 lines, not counting what commands print, and each site in it
// converges, and is idempotent. TestGuides types in the commands, TestBlocks and TestDocumentsParse check all blocks.
func TestRecipes(t *testing.T) {
	isolate(t)
	pages, err := filepath.Glob("../../docs/recipes/*.md")
	require.NoError(t, err)
	recipes, sites := 0, 0
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			for name, content := range besideRecipes {
				writeBeside(t, name, content)
			}
			var spec strings.Builder
			for i, section := range strings.Split(string(text), "\n## ") {
				title, _, _ := strings.Cut(section, "\n")
				lines := 0
				for _, b := range markdown.Parse("## " + section).Blocks() {
					if b.Language == "console" {
						lines += len(typed(b))
					} else {
						lines += strings.Count(b.Code, "\n") + 1
					}
					if b.Note != "" && b.Note != "part" {
						writeBeside(t, b.Note, b.Code+"\n")
					} else if b.Language == "lua" || b.Language == "yaml" {
						t.Errorf("%s: the file has an empty name", title)
					}
					if site := b.Language == "yaml" && strings.HasPrefix(b.Code, "ccm:") || b.Language == "lua"; site && !helpers.MatchString(b.Note) {
						sites++
						fmt.Fprintf(&spec, recipeSpec, b.Note)
					}
				}
				if i > 0 {
					recipes++
					assert.LessOrEqual(t, lines, 20, title)
					assert.Positive(t, lines, title)
				}
			}
			writeBeside(t, "recipes_spec.lua", "describe('recipes', function()\n"+spec.String()+"end)\n")
			stdout, stderr, status := ccm(t, nil, "test")
			require.Zero(t, status, stdout+stderr)
		})
	}
	require.GreaterOrEqual(t, recipes, 40)
	require.Greater(t, sites, 20)
}

// helpers matches files of Lua that are no site.
var helpers = regexp.MustCompile(`^(lib|spec)/`)
