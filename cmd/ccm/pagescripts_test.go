package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/test/dialog"
)

// moduleOfBlock matches the first line of a block that is a module, with the name of its file.
var moduleOfBlock = regexp.MustCompile(`^-- (lib/\S+\.lua)\n`)

// besideBlocks are files that blocks in documents read and no document shows.
var besideBlocks = map[string]string{
	"files/example.asc": "a key\n", "files/nginx.conf": "events {}\n", "files/web.nft": "tcp dport 80 accept\n",
	"app.conf.tmpl": "name = {{.name}}\n", "users.yaml": "ccm: {resources: []}\n", "database.yaml": "ccm: {resources: []}\n",
	"webserver.lua": "", "monitoring.lua": "", "site.yaml": "data: {port: 80}\n", "lib/web.lua": "return {}\n",
	".hiera": "data: {deploy_password: \"*\"}\n",
}

// TestBlocksDeclare: scripts and manifests in blocks without a name give a catalog, if nothing is omitted. TestGuides
// runs those with a name.
func TestBlocksDeclare(t *testing.T) {
	blocks := make(map[string][]dialog.Block)
	for _, page := range guides(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if name := filepath.Base(page); name != "stdlib.md" { // the tests of the library run its examples
			blocks[name] = dialog.Blocks(string(text))
		}
	}
	w := newHostile(t)
	w.timeout = time.Hour // a busy machine must not count as a mistake of a page
	w.facts = facts.Static(map[string]any{
		"os": map[string]any{"family": "debian", "id": "debian", "arch": "amd64"}, "hostname": "web1", "role": "web",
		"host": map[string]any{"info": map[string]any{"hostname": "web1"}}, "memory": map[string]any{"total": int64(1 << 30)},
		"network": map[string]any{"default_ipv4": "192.0.2.17"},
	})
	t.Setenv("DB_PASSWORD", "correct horse")
	t.Setenv("REGISTRY_PASSWORD", "battery staple")
	t.Chdir(filepath.Join(w.base, "site"))
	read := 0
	for page, list := range blocks {
		for name, text := range besideBlocks {
			writeBeside(t, name, text)
		}
		for _, b := range list {
			if m := moduleOfBlock.FindStringSubmatch(b.Text); m != nil && !strings.Contains(b.Text, "...") {
				writeBeside(t, m[1], b.Text)
			}
		}
		for _, b := range list {
			if !declares(b) {
				continue
			}
			read++
			if _, err := w.load(t, "block."+b.Language, b.Text); err != nil && !slices.ContainsFunc(shownMistakes, func(m string) bool { return strings.Contains(err.Error(), m) }) {
				t.Errorf("%s: %v\n%s", page, err, b.Text)
			}
		}
	}
	require.Greater(t, read, 40)
}

// declares reports whether a block is a complete script or manifest.
func declares(b dialog.Block) bool {
	if b.File != "" || strings.Contains(b.Text, "...") {
		return false
	}
	switch b.Language {
	case "lua":
		return !moduleOfBlock.MatchString(b.Text) && !strings.Contains(b.Text, "describe(") && !strings.Contains(b.Text, "suite(")
	case "yaml":
		return regexp.MustCompile(`(?m)^ccm:`).MatchString(b.Text)
	}
	return false
}

func writeBeside(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}
