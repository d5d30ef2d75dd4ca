package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// commonMessages match the texts of messages that the constructors in runtime/diag/message.go make.
var commonMessages = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|: |, |; |%s)(?:want|expected) [^=]`),
	regexp.MustCompile(`\bunknown (?:key|property|field|option|resource type) (?:%|"?$)`),
	regexp.MustCompile(`\bno such [a-z ]+ %`),
	regexp.MustCompile(`\bis required(?:$|,? unless )`),
	regexp.MustCompile(`(?:cannot be (?:used|given) together|exclude each other)`),
	regexp.MustCompile(`\bmust be at (?:least|most) (?:\d|%)`),
}

// messageFile has the constructors.
const messageFile = "runtime/diag/message.go"

// otherMessages lists the files that may have such texts nevertheless, and why.
var otherMessages = map[string]string{
	"luaapi/luatype/leaves.go":                     "the name is a key of any kind, as it is written in Lua",
	"runtime/host/fetch/transfer.go":               "the words of the documents: checksum mismatch",
	"runtime/host/sources/source.go":               "the words of the documents: checksum mismatch",
	"runtime/schema/schema.go":                     "a panic: a mistake of a programmer",
	"providers/svctool/svctooltest/svctooltest.go": "a test",
}

// TestCommonMessages: messages of kinds that recur are made in one place, so that they have the same words everywhere.
func TestCommonMessages(t *testing.T) {
	used := map[string]bool{}
	for _, name := range goFiles(t) {
		short := strings.TrimPrefix(name, root+"/")
		if short == messageFile || strings.HasPrefix(short, "test/") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			for _, re := range commonMessages {
				switch {
				case !re.MatchString(text):
				case otherMessages[short] != "":
					used[short] = true
				default:
					t.Errorf("%s: %q: make this message with a constructor of %s", files.Position(lit.Pos()), text, messageFile)
				}
			}
			return true
		})
	}
	for name := range otherMessages {
		require.True(t, used[name], "%s needs no exception", name)
	}
}

// wantInLua matches a text in Lua that says want instead of expected.
var wantInLua = regexp.MustCompile(`(?:["'\[]|: )want [a-zA-Z]`)

// TestWordsOfModules: the types of the standard library have the words of those that are written in Go.
func TestWordsOfModules(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(root, "stdlib", "std", "*.lua"))
	require.NoError(t, err)
	require.Greater(t, len(modules), 30)
	for _, name := range modules {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, found := range wantInLua.FindAllString(string(text), -1) {
			t.Errorf("%s: %s: write expected", name, found)
		}
	}
}
