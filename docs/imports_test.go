package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:generate env UPDATE=1 go test -count=1 -run ^TestRooms$ .

// A room is a group of packages in the picture of architecture.md.
type room struct{ name, purpose, packages string }

// rooms are the groups, from the top to the bottom. A package belongs to the room with the longest name above it.
var rooms = []room{
	{"cmd", "commands: flags and printing", "cmd docs/reference docs/website"},
	{"studio", "the designer in the browser", "studio"},
	{"ccm", "the package for Go programs", "."},
	{"site", "loads, runs and records sites", "site"},
	{"state", "history, backups, pending refreshes", "runtime/state runtime/session"},
	{"fleet", "agent, ssh, machines over NATS", "fleet"},
	{"luaapi", "the Lua interpreter, lint, ccm test", "luaapi"},
	{"engine", "walks a catalog: run and plan", "runtime/converge runtime/forecast"},
	{"providers", "apt, systemd, files: read and act", "providers"},
	{"reports", "text, JSON, HTML, JUnit", "runtime/report runtime/redact runtime/junit runtime/markup"},
	{"manifests", "YAML, data, templates", "runtime/manifest runtime/data runtime/template"},
	{"resources", "the types written in Go", "resources"},
	{"catalog", "resources, order, events", "runtime/catalog runtime/event runtime/health runtime/prefetch"},
	{"contract", "what engine, types and providers share", "runtime/resource"},
	{"modules", "third-party Lua modules", "runtime/module"},
	{"facts", "facts of the machine", "runtime/facts"},
	{"docs", "these pages, their search", "docs"},
	{"host", "the machine: the only place with effects", "runtime/host runtime/testsystem"},
	{"stdlib", "the types written in Lua", "stdlib"},
	{"base", "errors, schemas, safe paths, secrets ...", "runtime studio/guard luaapi/syntax"},
	{"tests", "labs, benchmarks, example sites", "test examples"},
}

// roomOf returns the room of a package.
func roomOf(dir string) (found room) {
	longest := -1
	for _, r := range rooms {
		for name := range strings.FieldsSeq(r.packages) {
			if isBelow(dir, []string{name}) && len(name) > longest {
				found, longest = r, len(name)
			}
		}
	}
	return found
}

// TestRooms compares the picture of architecture.md with the imports. UPDATE=1 writes it.
func TestRooms(t *testing.T) {
	below := make(map[string]map[string]bool)
	imported, _ := importsOf(t)
	for dir, imports := range imported {
		from := roomOf(dir).name
		require.NotEmpty(t, from, "%s is in no room", dir)
		for _, to := range imports {
			if to := roomOf(to).name; from != to && from != "tests" {
				if below[from] == nil {
					below[from] = make(map[string]bool)
				}
				below[from][to] = true
			}
		}
	}
	var picture strings.Builder
	for i, r := range rooms {
		for to := range below[r.name] {
			at := slices.IndexFunc(rooms, func(other room) bool { return other.name == to })
			assert.Greater(t, at, i, "%s imports %s, which is not below it", r.name, to)
		}
		direct := slices.Sorted(maps.Keys(below[r.name]))
		direct = slices.DeleteFunc(slices.Clone(direct), func(to string) bool {
			return slices.ContainsFunc(direct, func(by string) bool { return reaches(below, by, to) })
		})
		arrow := ""
		if len(direct) > 0 {
			arrow = " --> " + strings.Join(direct, ", ")
		}
		fmt.Fprintf(&picture, "%-12s %s\n", "["+r.name+"]", strings.TrimRight(fmt.Sprintf("%-41s%s", r.purpose, arrow), " "))
	}
	const begin, end = "<!-- written by go generate ./docs -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := before + begin + "```\n" + picture.String() + "```\n" + end + after
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "run go generate ./docs")
}

// reaches reports whether a room imports another one, directly or not.
func reaches(below map[string]map[string]bool, from, to string) bool {
	for next := range below[from] {
		if next == to || reaches(below, next, to) {
			return true
		}
	}
	return false
}

// An importRule has what packages may import of this module. A name stands for the package that ends with it, and for
// those below; "*" is anything.
type importRule struct {
	packages string // separated by blanks
	as       string // also what the rule with this package allows and forbids, and that package itself
	imports  string // and nothing else
	not      string
}

// importRules has a rule for each package. One deeper than two folders may be covered by the package in whose folder it
// is. All packages may import runtime/diag and runtime/words.
var importRules = []importRule{
	{packages: ".", imports: "*", not: "cmd studio fleet luaapi stdlib resources providers"},
	{packages: "runtime/terminal", imports: ""},
	{packages: "runtime/heap runtime/collector runtime/lazyregexp runtime/words runtime/atomicfile", imports: ""},
	{
		packages: "runtime/yamlsyntax runtime/textedit runtime/textedit/splice runtime/textedit/yamltext",
		imports:  "lazyregexp yamlsyntax",
	},
	{packages: "runtime/bytesize runtime/filecap runtime/sha256sum runtime/jsonwriter runtime/junit runtime/markup", imports: ""},
	{packages: "runtime/diag", imports: "terminal"},
	{packages: "runtime/secret", imports: "terminal"},
	{packages: "runtime/encryption", imports: "diag secret sha256sum terminal textedit"},
	{packages: "runtime/plainsecret", imports: "lazyregexp"},
	{packages: "runtime/jsonreader", imports: "jsonwriter"},
	{packages: "runtime/schema", imports: "diag jsonreader jsonwriter"},
	{packages: "runtime/safepath", imports: "bytesize"},
	{packages: "runtime/host", imports: "safepath bytesize filecap lazyregexp sha256sum"},
	{packages: "runtime/host/command runtime/host/systembus", as: "host", imports: ""},
	{packages: "runtime/host/overlay runtime/host/accounts", as: "host", imports: ""},
	{packages: "runtime/host/fetch runtime/host/unpack runtime/host/sources", as: "host", imports: ""},
	{
		packages: "runtime/host/target runtime/host/sparse runtime/host/diskspace" +
			" runtime/host/hosttest",
		as:      "host",
		imports: "",
	},
	{packages: "runtime/trust", imports: "diag safepath"},
	{packages: "runtime/nats runtime/registration", imports: "bytesize"},
	{packages: "runtime/ignore runtime/signers runtime/git", imports: ""},
	{packages: "runtime/filelock", imports: "safepath"},
	{packages: "runtime/bundle", imports: "bytesize filelock"},
	{packages: "runtime/testsystem", imports: "atomicfile filelock host lazyregexp sha256sum"},
	{packages: "runtime/luadata", imports: "syntax"},
	{packages: "runtime/module", imports: "atomicfile diag host luadata safepath signers trust bytesize"},
	{packages: "runtime/module/resolve", as: "module", imports: "git lazyregexp"},
	{packages: "runtime/facts", imports: "diag host lazyregexp safepath trust"},
	{packages: "runtime/resource", imports: "diag schema host bytesize facts lazyregexp safepath secret registration"},
	{packages: "runtime/resource/contract runtime/resource/resourcetest", as: "resource", imports: ""},
	{packages: "runtime/catalog", imports: "schema resource secret"},
	{packages: "runtime/health", imports: "resource host"},
	{packages: "runtime/event", imports: "health resource catalog host"},
	{packages: "runtime/prefetch", imports: "resource catalog host safepath"},
	{packages: "runtime/redact", imports: "event resource secret"},
	{packages: "runtime/forecast", imports: "event catalog resource host safepath schema lazyregexp"},
	{
		packages: "runtime/converge",
		imports:  "redact forecast event resource secret catalog host schema lazyregexp facts health prefetch safepath",
		not:      "state report manifest data template trust",
	},
	{packages: "runtime/data", imports: "*"},
	{packages: "runtime/template runtime/template/blocks", imports: "*"},
	{packages: "runtime/manifest", imports: "*", not: "converge report state"},
	{packages: "runtime/report runtime/report/page runtime/report/part", imports: "*", not: "converge"},
	{packages: "runtime/report/graph", imports: "markup"},
	{packages: "runtime/state/statedir", imports: "atomicfile diag safepath"},
	{packages: "runtime/state/backup", imports: "host safepath secret statedir bytesize"},
	{packages: "runtime/state", imports: "*"},
	{packages: "runtime/session", imports: "*"},
	{packages: "resources", imports: "resource schema diag filecap host lazyregexp safepath sha256sum"},
	{packages: "providers/posix", imports: "resources resource host facts diag filecap lazyregexp safepath sha256sum"},
	{packages: "providers/pkgtool providers/pkgtool/rpm providers/pkgtool/filelist", as: "posix", imports: ""},
	{
		packages: "providers/apt providers/dnf providers/zypper providers/pacman providers/apk providers/pkg" +
			" providers/brew",
		as:      "posix",
		imports: "pkgtool",
	},
	{
		packages: "providers/svctool providers/systemd providers/openrc providers/sysvinit",
		as:       "posix",
		imports:  "svctool",
	},
	{
		packages: "providers/http providers/choria providers/ccmmanifest providers/fake",
		as:       "posix",
		imports:  "choria template/blocks",
	},
	{packages: "luaapi", imports: "*", not: "resources providers converge site cmd"},
	{packages: "luaapi/std luaapi/luatype", as: "luaapi", imports: ""},
	{packages: "luaapi/lint luaapi/stubs luaapi/pattern luaapi/tabletext", as: "luaapi", imports: ""},
	{packages: "luaapi/syntax", imports: "schema lazyregexp"},
	{packages: "luaapi/repl luaapi/repl/term", as: "luaapi", imports: ""},
	{packages: "luaapi/spec luaapi/spec/report", as: "luaapi", imports: ""},
	{packages: "stdlib", imports: "*", not: "luaapi providers site cmd"},
	{packages: "site site/prompt site/doctor site/machine site/reference site/bundles site/recovery site/remote", imports: "*", not: "cmd studio"},
	{packages: "studio", imports: "*", not: "cmd providers"},
	{packages: "studio/web studio/guard", imports: ""},
	{packages: "studio/yamledit", imports: "textedit lazyregexp"},
	{packages: "studio/luaedit", imports: "luaapi splice luadata template"},
	{packages: "studio/model", imports: "yamledit luaedit template diag luadata splice"},
	{packages: "cmd/ccm cmd/ccm/cli", imports: "*"},
	{packages: "docs examples", imports: "*"},
	{packages: "docs/markdown docs/search docs/reference docs/website", as: "docs", imports: ""},
	{
		packages: "fleet/agent fleet/ssh fleet/inventory",
		imports: "atomicfile bundle filelock host terminal safepath lazyregexp sha256sum yamlsyntax agent fleet/retry diag git nats" +
			" signers trust",
	},
	{packages: "fleet/subject fleet/record", imports: ""},
	{packages: "fleet/direct", imports: "fleet"},
	{packages: "fleet/signed", imports: "fleet signers"},
	{
		packages: "fleet/where fleet/roster fleet/author fleet/release fleet/job fleet/event fleet/retry" +
			" fleet/identity fleet/cluster fleet/enrol fleet/registry fleet/node fleet/overview fleet/web",
		imports: "fleet atomicfile bundle bytesize encryption host lazyregexp sha256sum terminal signers nats" +
			" registration git safepath trust report markup yamlsyntax guard",
	},
	{packages: "test/integration test/reliability test/browser test/fleet", imports: "*"},
	{packages: "test/bench test/tally test/dialog test/luadiff", imports: "*"},
}

// TestImportRules: each package is in a rule, and imports what that allows. Packages of runtime import nothing above
// them, groups of commands nothing of each other, and only the command imports the package for Go programs.
func TestImportRules(t *testing.T) {
	imports, _ := importsOf(t)
	ruled := make(map[string]bool)
	for _, rule := range importRules {
		packages := strings.Fields(rule.packages)
		allowed, banned := strings.Fields(rule.imports), strings.Fields(rule.not)
		for as := rule.as; as != ""; {
			i := slices.IndexFunc(importRules, func(r importRule) bool {
				return filepath.Base(strings.Fields(r.packages)[0]) == as
			})
			require.GreaterOrEqual(t, i, 0, as)
			other := importRules[i]
			allowed = append(append(allowed, as), strings.Fields(other.imports)...)
			banned = append(banned, strings.Fields(other.not)...)
			as = other.as
		}
		for _, p := range packages {
			ruled[p] = true
			assert.DirExists(t, filepath.Join(root, p))
			for _, i := range imports[p] {
				if i == "runtime/diag" || i == "runtime/words" {
					continue
				}
				isBanned := isNamedIn(i, banned) || i == "." && p != "cmd/ccm" ||
					strings.HasPrefix(p, "runtime/") && !isBelow(i, []string{"runtime", "luaapi/syntax"}) ||
					strings.HasPrefix(p, "cmd/ccm/") && strings.HasPrefix(i, "cmd/") && !isBelow(i, []string{p, "cmd/ccm/cli"})
				assert.False(t, isBanned, "%s imports %s, which is forbidden", p, i)
				if !slices.Contains(allowed, "*") && !isNamedIn(i, allowed) && !isBelow(i, packages) {
					t.Errorf("%s imports %s, which its rule in importRules does not list", p, i)
				}
			}
		}
	}
	for dir := range imports {
		if !ruled[dir] && (strings.Count(dir, "/") < 2 || !ruled[filepath.Dir(dir)]) {
			t.Errorf("importRules has no rule for %s", dir)
		}
	}
}

// libraries are packages of other modules, with those below them, that not all packages of this one may import.
var libraries = []struct{ library, only, not string }{
	{library: "gopkg.in/yaml.v3", only: "fleet/agent fleet/inventory runtime/manifest runtime/data runtime/textedit" +
		" runtime/yamlsyntax studio/yamledit"}, // so that it can be exchanged
	{library: "os", not: "resources providers studio/model"}, // these see the machine through runtime/host
	{library: "os/exec", not: "luaapi site"},
	{library: "net/http", not: "resources"},
}

// TestLibraries: packages import the libraries that they may.
func TestLibraries(t *testing.T) {
	_, others := importsOf(t)
	for dir, list := range others {
		for _, x := range libraries {
			if slices.ContainsFunc(list, func(i string) bool { return isBelow(i, []string{x.library}) }) {
				isAllowed := !isBelow(dir, strings.Fields(x.not)) && (x.only == "" || isBelow(dir, strings.Fields(x.only)))
				assert.True(t, isAllowed || strings.HasSuffix(dir, "test"), "%s must not import %s", dir, x.library)
			}
		}
	}
}

// TestPackageComments: each package has a comment, which go doc and the reader of its folder find.
func TestPackageComments(t *testing.T) {
	commented := make(map[string]bool)
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		commented[filepath.Dir(name)] = commented[filepath.Dir(name)] || f.Doc != nil && !isDirective(f.Doc)
	}
	for dir, ok := range commented {
		assert.True(t, ok, "%s has no package comment", dir)
	}
}

// isDirective reports whether a comment has directives only, such as go:build.
func isDirective(doc *ast.CommentGroup) bool { return strings.TrimSpace(doc.Text()) == "" }

// isNamedIn reports whether a package, or one above it, is named in a rule.
func isNamedIn(path string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains("/"+path+"/", "/"+name+"/") })
}

// isBelow reports whether a package is one of some, or below one.
func isBelow(path string, packages []string) bool {
	return slices.ContainsFunc(packages, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// importsOf returns what each package of the repository imports of others of it, and of other modules.
func importsOf(t *testing.T) (own, others map[string][]string) {
	own, others = make(map[string][]string), make(map[string][]string)
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		dir, err := filepath.Rel(root, filepath.Dir(name))
		require.NoError(t, err)
		list := own[dir]
		for _, i := range f.Imports {
			path, isOwn := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/luaccm/ccm")
			if !isOwn {
				others[dir] = append(others[dir], path)
			} else if path = cmp.Or(strings.TrimPrefix(path, "/"), "."); !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
		own[dir] = list
	}
	return own, others
}
