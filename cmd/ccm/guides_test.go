package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// onRoot makes the commands of a guide work on a separate root. Only these run without it: commands without effects,
// restore and undo, which work on the root of the run that they name, and secret, which works on the directory of the
// page (keygen with -o). An unknown command must never change the machine of the tests.
const onRoot = `ccm() {
	c=$1
	shift
	case $c in
	bundle|catalog|convert|data|diff|doc|docs|facts|graph|help|history|lint|restore|secret|test|undo) command ccm "$c" "$@" ;;
	*) command ccm "$c" --root "$CCM_TEST_ROOT" "$@" ;;
	esac
}
`

// TestGuides runs the commands in the console blocks of the pages in docs, each page in its own directory and root,
// and compares the output. UPDATE=1 writes the output that differs. Tests in test/integration run docs/tutorial.md,
// docs/install.md, docs/agent.md, docs/fleet.md, docs/ssh.md and docs/images.md on real machines.
func TestGuides(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to whom the pages give their files")
	}
	tried := 0
	for _, page := range guides(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if slices.Contains([]string{"tutorial.md", "install.md", "agent.md", "ssh.md", "fleet.md", "images.md"}, filepath.Base(page)) || !strings.Contains(string(text), "\n```console\n") {
			continue
		}
		tried++
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			retypeGuide(t, page, string(text))
		})
	}
	require.Greater(t, tried, 10)
}

// guides returns the paths of the guides and of the recipes.
func guides(t *testing.T) (pages []string) {
	for _, pattern := range []string{"../../docs/*.md", "../../docs/recipes/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	return pages
}

// otherEachTime matches text that differs between runs: durations, names of runs, digests of secrets.
var otherEachTime = regexp.MustCompile(`(\()[0-9.]+[µm]?s\b|(\(secret )[0-9a-f]{8}|(: )[0-9.]+( seconds)|\b20\d{6}T\d{6}\.\d+Z-[0-9a-f]{6}`)

func retypeGuide(t *testing.T, page, text string) {
	g := newGuide(t)
	var commands []dialog.Command
	var answers []string
	for _, b := range dialog.Blocks(text) {
		switch {
		case b.File != "" && b.File != "part":
			g.write(b.File, b.Text)
		case b.IsDialog():
			for _, c := range b.Commands() {
				answer := g.typed(c.Line)
				commands = append(commands, c)
				if regexp.MustCompile(c.Answer()).MatchString(answer) {
					answer = c.Want
				} else if os.Getenv("UPDATE") == "" {
					t.Errorf("$ %s\n%s\nwant\n%s", c.Line, answer, c.Want)
				}
				answers = append(answers, otherEachTime.ReplaceAllString(answer, "$1$2$3...$4"))
			}
		}
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(page, []byte(dialog.Answered(text, commands, answers)), 0o644))
	}
}

// A guide is the directory for the commands of one page.
type guide struct {
	t         *testing.T
	dir, root string
}

func newGuide(t *testing.T) *guide {
	g := &guide{t: t, dir: t.TempDir(), root: t.TempDir()}
	for _, dir := range []string{"etc", "home/ada", "srv"} {
		require.NoError(t, os.MkdirAll(filepath.Join(g.root, dir), 0o755))
	}
	return g
}

// write writes a file that a page shows.
func (g *guide) write(name, text string) {
	path := filepath.Join(g.dir, name)
	require.NoError(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(g.t, os.WriteFile(path, []byte(text), 0o644))
}

// ofMachine matches a path that a command other than ccm would take as one of this machine.
var ofMachine = regexp.MustCompile(`(^|[\s>])/(etc|home|srv)/`)

// typed returns the output of a command. ccm gets the root of the page; paths in lines without ccm are moved below it.
func (g *guide) typed(line string) string {
	if !called.MatchString(line) {
		line = ofMachine.ReplaceAllString(line, "$1$$CCM_TEST_ROOT/$2/")
	}
	cmd := exec.CommandContext(g.t.Context(), "sh", "-c", onRoot+line)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "HOME=/home/ada", "NO_COLOR=1", "CCM_STATE_DIR="+filepath.Join(g.root, "state"), "CCM_CACHE_DIR="+filepath.Join(g.root, "cache"), "CCM_TEST_ROOT="+g.root)
	out, _ := cmd.CombinedOutput() // a failing command says so
	return strings.ReplaceAll(strings.ReplaceAll(string(out), " --root "+g.root, ""), g.dir, "/root/site")
}

// TestShippedTypesOfGuides: the modules that guides call std.NAME ship with ccm.
func TestShippedTypesOfGuides(t *testing.T) {
	pages, err := filepath.Glob("../../docs/coming-from-*.md")
	require.NoError(t, err)
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\bstd\.([a-z_]+)`).FindAllStringSubmatch(string(text), -1) {
			named++
			require.FileExists(t, "../../stdlib/std/"+m[1]+".lua", page)
		}
	}
	require.Greater(t, named, 20)
}

// TestErrorsAreTold: ccm reports the errors in docs/errors.md; either the page or another test compares them.
func TestErrorsAreTold(t *testing.T) {
	page, err := os.ReadFile("../../docs/errors.md")
	require.NoError(t, err)
	var told strings.Builder
	for _, b := range dialog.Blocks(string(page)) {
		if b.IsDialog() {
			told.WriteString(b.Text)
		}
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	for _, path := range append(scripts, "plan_test.go") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		told.Write(text)
	}
	texts := regexp.MustCompile("(?m)^(?:- |\\| )`([^`]+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(texts), 15)
	for _, m := range texts {
		for part := range strings.SplitSeq(m[1], "...") {
			if !strings.Contains(told.String(), strings.TrimSpace(part)) {
				t.Errorf("%s: %q is in no answer", m[1], part)
			}
		}
	}
}
