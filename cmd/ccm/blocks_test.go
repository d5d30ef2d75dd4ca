package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestBlocks: every block of code in the documentation has a language that some test reads. This test parses blocks
// for a shell, and checks that the commands and flags of ccm in them exist, and in the text as well.
func TestBlocks(t *testing.T) {
	root := newRootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{}))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	pages, known, calls, flags := documents(t), flagsOf(root), 0, 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		doc := markdown.Parse(string(text))
		shell := ""
		for _, b := range doc.Blocks() {
			where := fmt.Sprintf("%s:%d", page, b.Line)
			script, err := checkBlock(page, b)
			assert.NoError(t, err, where)
			shell += script
			for _, line := range typed(b) {
				for _, words := range callsIn(line) {
					calls++
					assert.NoError(t, checkCall(root, words), "%s: ccm %s", where, strings.Join(words, " "))
				}
			}
		}
		for _, span := range doc.CodeSpans() {
			if filepath.Base(page) == "coming-from-choria.md" { // it describes another program called ccm
				continue
			}
			if words, ok := strings.CutPrefix(span.Text, "ccm "); ok {
				calls++
				assert.NoError(t, checkCall(root, split(words)), "%s:%d: %s", page, span.Line, span.Text)
			} else if m := flagNamed.FindStringSubmatch(span.Text); m != nil && !slices.Contains(flagsOfOthers, m[1]) && !strings.Contains(page, "/coming-from-") {
				flags++
				assert.True(t, known[m[1]], "%s:%d: no command has the flag %s", page, span.Line, m[1])
			}
		}
		cmd := exec.Command("/bin/sh", "-n")
		cmd.Stdin = strings.NewReader(shell)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s: %s", page, out)
	}
	require.Greater(t, calls, 500)
	require.Greater(t, flags, 500)
}

// flagNamed matches a flag in a text.
var flagNamed = regexp.MustCompile(`^(--[a-z0-9-]+)`)

// flagsOfOthers are flags of other programs in the documentation. Pages about a change from another program have
// many.
var flagsOfOthers = []string{
	"--ccm",                                               // the first argument of an executable with a site in it, which cobra never sees
	"--enablerepo", "--disablerepo", "--repo", "--setopt", // dnf and zypper
	"--break-system-packages", "--no-index", // pip
	"--net",                      // the lab
	"--context",                  // Choria CCM
	"--hostname", "--modulepath", // TinyCM
}

// flagsOf returns the flags of a command and its subcommands.
func flagsOf(cmd *cobra.Command) map[string]bool {
	known := map[string]bool{"--help": true, "--version": true}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	for _, sub := range cmd.Commands() {
		maps.Copy(known, flagsOf(sub))
	}
	return known
}

// documents returns the paths of all pages that are shipped or in the repository.
func documents(t *testing.T) (pages []string) {
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/recipes/*.md", "../../docs/reference/*.md", "../../docs/reference/*/*.md", "../../examples/*/*.md", "../../test/*/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	require.Greater(t, len(pages), 80)
	return pages
}

// checkBlock returns the mistake in a block of code, and the part that a shell would read.
func checkBlock(page string, b markdown.Block) (shell string, err error) {
	switch b.Language {
	case "lua", "yaml": // TestDocumentsParse, TestReadme, TestReferencePages and the tests of the library
	case "": // output with the commands before it
		return strings.Join(typed(b), "\n") + "\n", nil
	case "sh":
		return b.Code + "\n", nil
	case "dockerfile", "hcl", "ruby": // what they run is in the texts that typed finds
		return strings.Join(typed(b), "\n") + "\n", nil
	case "console":
		return strings.Join(typed(b), "\n") + "\n", nil
	case "json":
		for decoder := json.NewDecoder(strings.NewReader(b.Code)); ; {
			var value any
			if err := decoder.Decode(&value); err != nil {
				if errors.Is(err, io.EOF) {
					return "", nil
				}
				return "", err
			}
		}
	case "ccm":
		if filepath.Base(page) != "repl.md" {
			return "", errors.New("only the blocks of repl.md are typed in at the prompt")
		}
	case "tmpl", "jinja":
		if b.Note == "" {
			return "", errors.New("a template has the name of a file, so that TestGuides runs it")
		}
	case "python":
		if python, err := exec.LookPath("python3"); err == nil {
			cmd := exec.Command(python, "-c", "import ast, sys; ast.parse(sys.stdin.read())")
			cmd.Stdin = strings.NewReader(b.Code)
			if out, err := cmd.CombinedOutput(); err != nil {
				return "", errors.New(string(bytes.TrimSpace(out)))
			}
		}
	case "ini":
		if b.Note == "" {
			return "", errors.New("a unit has the name of its file, so that a test on real machines starts it")
		}
	case "go": // the first program of a page is compiled by TestProgramOfThePage
		if _, err := format.Source([]byte(b.Code)); err != nil {
			return "", err
		}
	case "puppet": // code that the reader already has
	default:
		return "", fmt.Errorf("no test reads blocks of the language %s", b.Language)
	}
	return "", nil
}

// typed returns the input for a shell in a block: the lines after a prompt, all lines of a script, or the texts of which
// another program may hand some to a shell, such as a workflow.
func typed(b markdown.Block) (list []string) {
	switch b.Language {
	case "sh":
		return strings.Split(b.Code, "\n")
	case "yaml":
		var doc yaml.Node
		if yaml.Unmarshal([]byte(b.Code), &doc) == nil {
			return scalars(&doc)
		}
	case "dockerfile", "hcl", "ruby":
		for _, m := range runText.FindAllStringSubmatch(b.Code, -1) {
			list = append(list, cmp.Or(m[1], m[2]))
		}
		return list
	}
	if b.Language != "" && b.Language != "console" {
		return nil
	}
	goesOn := false
	for line := range strings.Lines(b.Code) {
		line = strings.TrimSuffix(line, "\n")
		m := prompted.FindStringSubmatch(line)
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case m != nil:
			list = append(list, m[1])
		case isMore && goesOn && b.Language == "console":
			list = append(list, more)
		case usage.MatchString(line):
			list = append(list, "# "+line)
		}
		goesOn = m != nil || isMore && goesOn
	}
	return list
}

// scalars returns the lines of all texts of a YAML document.
func scalars(n *yaml.Node) (list []string) {
	if n.Kind == yaml.ScalarNode {
		list = strings.Split(n.Value, "\n")
	}
	for _, c := range n.Content {
		list = append(list, scalars(c)...)
	}
	return list
}

var (
	// runText matches the command of a RUN in a Dockerfile, and a text in double quotes elsewhere.
	runText  = regexp.MustCompile(`(?m)^RUN (?:--\S+ )*(.*)|"([^"\n]*)"`)
	prompted = regexp.MustCompile(`^[a-z0-9]*\$ (.*)`)
	// usage matches the usage of a command, but not the line with the version.
	usage = regexp.MustCompile(`^ccm [a-zA-Z-]`)
	// called matches a call of ccm in a line for a shell.
	called = regexp.MustCompile(`(?:^|[;&|({]\s*|\$\(\s*|\b(?:sudo|time|exec|then|do|nohup)\s+|^# )ccm\s+([^;&|)<>]*)`)
)

func callsIn(line string) (list [][]string) {
	for _, m := range called.FindAllStringSubmatch(line, -1) {
		list = append(list, split(m[1]))
	}
	return list
}

// split returns the words of a command. For a fragment it splits at blanks.
func split(line string) []string {
	if words, err := shellquote.Split(line); err == nil {
		return words
	}
	return strings.Fields(line)
}

// checkCall returns an error if the command or one of its flags does not exist. A word in capitals is a placeholder.
func checkCall(root *cobra.Command, words []string) error {
	cmd, rest, err := root.Find(words)
	if cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		if placeholder.MatchString(rest[0]) {
			return nil
		}
		return fmt.Errorf("there is no command %s (%w)", rest[0], err)
	}
	cmd.InitDefaultHelpFlag()
	if cmd.Name() == "help" && len(rest) > 0 {
		if _, left, err := root.Find(rest); err != nil || len(left) > 0 && !placeholder.MatchString(left[0]) {
			return fmt.Errorf("there is no topic %s", strings.Join(rest, " "))
		}
	}
	if i := slices.Index(rest, "--"); i >= 0 {
		rest = rest[:i]
	}
	for _, word := range rest {
		long, isLong := strings.CutPrefix(word, "--")
		if isLong {
			name, _, _ := strings.Cut(strings.Trim(long, "[],."), "=")
			if !placeholder.MatchString(name) && cmd.Flag(name) == nil && root.Flag(name) == nil {
				return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
			}
		} else if short := strings.TrimPrefix(word, "-"); short != word && short != "" {
			for i, letter := range short {
				f := cmd.Flags().ShorthandLookup(string(letter))
				if f == nil {
					return fmt.Errorf("%s has no flag -%c", cmd.CommandPath(), letter)
				}
				if f.NoOptDefVal == "" || i+1 < len(short) && short[i+1] == '=' {
					break // the rest is its value
				}
			}
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`^(?:[A-Z#.\[\]{}*_-]+|\.\.\.)$`)

// TestCheckCall: the mistakes that TestBlocks looks for are found.
func TestCheckCall(t *testing.T) {
	root := newRootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{}))
	root.InitDefaultHelpCmd()
	for line, want := range map[string]string{
		"ccm run site.lua --tags web -v -- --anything": "",
		"sudo ccm plan -nv site.lua | tail":            "ccm plan has no flag -n",
		"A=1; ccm rum site.lua":                        "there is no command rum",
		`eval "$(ccm session new)"`:                    "",
		"if true; then ccm run x --tagz web; fi":       "ccm run has no flag --tagz",
		"ccm ensure line /x --line=y":                  "",
		"ccm ensure line /x --lines y":                 "ccm ensure line has no flag --lines",
		"ccm help exit-code":                           "there is no topic exit-code",
		"ccm docs build DIR":                           "",
		"ccm history --output yaml":                    "",
	} {
		calls := callsIn(line)
		require.Len(t, calls, 1, line)
		if err := checkCall(root, calls[0]); want == "" {
			require.NoError(t, err, line)
		} else {
			require.ErrorContains(t, err, want, line)
		}
	}
	for text, want := range map[string]string{
		"```toml\na=1\n```\n": "no test reads blocks of the language toml", "```json\n{\"a\": 1}\n{\n```\n": "unexpected EOF",
		"```ccm\n1\n```\n": "only the blocks of repl.md", "```tmpl\nx\n```\n": "has the name of a file", "```json\n{}\n```\n": "",
	} {
		_, err := checkBlock("x.md", markdown.Parse(text).Blocks()[0])
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}
