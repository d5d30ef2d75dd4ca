package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const goModule = "github.com/luaccm/ccm"

// TestImports: packages depend on each other only in the allowed directions (design: who may import whom).
func TestImports(t *testing.T) {
	rules := []struct {
		pkg    string   // the package and all below it
		banned []string // must not import these or packages below them
		except []string // except these
	}{
		{pkg: "runtime", banned: []string{"resources", "providers", "luaapi", "stdlib", "site", "studio", "cmd"}, except: []string{"luaapi/syntax"}},
		{pkg: "runtime/terminal", banned: []string{"runtime"}},
		{pkg: "runtime/collector", banned: []string{"runtime"}},
		{pkg: "runtime/heap", banned: []string{"runtime"}},
		{pkg: "runtime/lazyregexp", banned: []string{"runtime"}},
		{pkg: "runtime/junit", banned: []string{"runtime"}},
		{pkg: "runtime/markup", banned: []string{"runtime"}},
		{pkg: "runtime/report/graph", banned: []string{"runtime"}, except: []string{"runtime/markup"}},
		{pkg: "runtime/textedit", banned: []string{"runtime"}, except: []string{"runtime/lazyregexp", "runtime/yamlsyntax"}},
		{pkg: "runtime/yamlsyntax", banned: []string{"runtime"}, except: []string{"runtime/lazyregexp"}},
		{pkg: "runtime/diag", banned: []string{"runtime"}, except: []string{"runtime/terminal"}},
		{pkg: "runtime/secret", banned: []string{"runtime"}, except: []string{"runtime/terminal"}},
		{pkg: "runtime/encryption", banned: []string{"runtime"}, except: []string{"runtime/secret", "runtime/terminal", "runtime/textedit", "runtime/safepath"}},
		{pkg: "runtime/plainsecret", banned: []string{"runtime"}, except: []string{"runtime/lazyregexp"}},
		{pkg: "runtime/schema", banned: []string{"runtime"}, except: []string{"runtime/jsonreader", "runtime/jsonwriter"}},
		{pkg: "runtime/jsonreader", banned: []string{"runtime"}, except: []string{"runtime/jsonwriter"}},
		{pkg: "runtime/bytesize", banned: []string{"runtime"}},
		{pkg: "runtime/jsonwriter", banned: []string{"runtime"}},
		{pkg: "runtime/sha256sum", banned: []string{"runtime"}},
		{pkg: "runtime/safepath", banned: []string{"runtime"}, except: []string{"runtime/bytesize"}},
		{pkg: "runtime/host", banned: []string{"runtime"}, except: []string{"runtime/safepath", "runtime/bytesize", "runtime/lazyregexp", "runtime/sha256sum"}},
		{pkg: "runtime/trust", banned: []string{"runtime"}, except: []string{"runtime/safepath"}},
		{pkg: "runtime/ignore", banned: []string{"runtime"}},
		{pkg: "runtime/registration", banned: []string{"runtime"}},
		{pkg: "runtime/git", banned: []string{"runtime"}},
		{pkg: "runtime/nats", banned: []string{"runtime"}, except: []string{"runtime/bytesize"}},
		{pkg: "runtime/signers", banned: []string{"runtime"}},
		{pkg: "runtime/bundle", banned: []string{"runtime"}, except: []string{"runtime/bytesize"}},
		{pkg: "runtime/testsystem", banned: []string{"runtime"}, except: []string{"runtime/atomicfile", "runtime/host", "runtime/lazyregexp"}},
		{pkg: "runtime/luadata", banned: []string{"runtime", "luaapi"}, except: []string{"luaapi/syntax"}},
		{pkg: "runtime/module", banned: []string{"runtime"}, except: []string{"runtime/atomicfile", "runtime/bytesize", "runtime/host", "runtime/luadata", "runtime/safepath", "runtime/trust", "runtime/signers", "runtime/lazyregexp", "runtime/git"}},
		{pkg: "runtime/facts", banned: []string{"runtime"}, except: []string{"runtime/host", "runtime/safepath", "runtime/lazyregexp", "runtime/trust"}},
		{pkg: "runtime/resource", banned: []string{"runtime"}, except: []string{"runtime/bytesize", "runtime/registration", "runtime/schema", "runtime/host", "runtime/safepath", "runtime/facts", "runtime/lazyregexp", "runtime/secret"}},
		{pkg: "runtime/catalog", banned: []string{"runtime"}, except: []string{"runtime/schema", "runtime/resource", "runtime/secret"}},
		{pkg: "runtime/health", banned: []string{"runtime"}, except: []string{"runtime/resource", "runtime/host"}},
		{pkg: "runtime/event", banned: []string{"runtime"}, except: []string{"runtime/health", "runtime/resource", "runtime/catalog", "runtime/host"}},
		{pkg: "runtime/prefetch", banned: []string{"runtime"}, except: []string{"runtime/resource", "runtime/catalog", "runtime/host", "runtime/safepath"}},
		{pkg: "runtime/report", banned: []string{"runtime/converge"}},
		{pkg: "runtime/redact", banned: []string{"runtime"}, except: []string{"runtime/event", "runtime/resource", "runtime/secret"}},
		{pkg: "runtime/forecast", banned: []string{"runtime"}, except: []string{"runtime/event", "runtime/catalog", "runtime/resource", "runtime/host", "runtime/safepath", "runtime/schema", "runtime/lazyregexp"}},
		{pkg: "runtime/converge", banned: []string{"runtime/trust", "runtime/state", "runtime/report", "runtime/manifest", "runtime/data", "runtime/template"}},
		{pkg: "runtime/state/backup", banned: []string{"runtime"}, except: []string{"runtime/bytesize", "runtime/host", "runtime/safepath", "runtime/secret", "runtime/state/statedir"}},
		{pkg: "runtime/state/statedir", banned: []string{"runtime"}, except: []string{"runtime/atomicfile", "runtime/safepath"}},
		{pkg: "runtime/manifest", banned: []string{"runtime/converge", "runtime/report", "runtime/state"}},
		{pkg: "resources", banned: []string{"runtime", "providers", "luaapi", "stdlib", "site", "cmd", "std:os", "std:net/http"},
			except: []string{"runtime/resource", "runtime/schema", "runtime/host", "runtime/lazyregexp", "runtime/safepath", "runtime/sha256sum"}},
		{pkg: "providers", banned: []string{"runtime", "providers", "luaapi", "stdlib", "site", "cmd", "std:os"},
			except: []string{"runtime/resource", "runtime/host", "runtime/facts", "runtime/lazyregexp", "runtime/safepath", "runtime/sha256sum", "runtime/template/blocks", "providers/pkgtool", "providers/svctool"}},
		{pkg: "luaapi", banned: []string{"resources", "providers", "runtime/converge", "site", "cmd", "std:os/exec"}},
		{pkg: "stdlib", banned: []string{"luaapi", "providers", "site", "cmd"}},
		{pkg: "site", banned: []string{"cmd", "studio", "std:os/exec"}},
		{pkg: "fleet", banned: []string{"runtime", "resources", "providers", "luaapi", "stdlib", "site", "studio", "cmd"},
			except: []string{"runtime/atomicfile", "runtime/bundle", "runtime/bytesize", "runtime/encryption", "runtime/host", "runtime/lazyregexp", "runtime/sha256sum", "runtime/terminal", "runtime/signers", "runtime/nats", "runtime/registration", "runtime/git", "runtime/safepath", "runtime/trust", "runtime/report", "runtime/markup", "runtime/yamlsyntax", "studio/guard"}},
		{pkg: "fleet/agent", banned: []string{"fleet/node", "fleet/ssh"}},
		{pkg: "fleet/subject", banned: []string{"fleet", "runtime"}},
		{pkg: "fleet/record", banned: []string{"fleet", "runtime"}},
		{pkg: "fleet/direct", banned: []string{"runtime"}},
		{pkg: "fleet/signed", banned: []string{"runtime"}, except: []string{"runtime/signers"}},
		{pkg: "cmd/ccm", banned: []string{"cmd"}, except: []string{"cmd/ccm/cli"}}, // groups of commands are independent of each other
		{pkg: "studio", banned: []string{"cmd", "providers"}},
		{pkg: ".", banned: []string{"cmd", "studio", "fleet", "luaapi", "stdlib", "resources", "providers"}},
		{pkg: "studio/guard", banned: []string{"runtime", "resources", "luaapi", "stdlib", "site", "studio"}},
		{pkg: "studio/yamledit", banned: []string{"runtime", "resources", "luaapi", "stdlib", "site"}, except: []string{"runtime/textedit", "runtime/lazyregexp"}},
		{pkg: "studio/luaedit", banned: []string{"runtime", "resources", "stdlib", "site"}, except: []string{"runtime/textedit/splice", "runtime/luadata", "runtime/template"}},
		{pkg: "studio/model", banned: []string{"resources", "providers", "site", "cmd", "std:os", "runtime/host"}},
	}
	// All packages may import these: they import none but runtime/terminal, and have the words of messages.
	everywhere := []string{"runtime/diag", "runtime/words"}
	// Packages in these directories must not import each other either.
	apart := []string{"providers", "cmd/ccm"}
	// Few packages import yaml.v3, so that it can be exchanged.
	yamlMayBeIn := []string{"fleet/agent", "fleet/inventory", "runtime/manifest", "runtime/data", "runtime/textedit", "runtime/textedit/yamltext", "runtime/yamlsyntax", "studio/yamledit"}

	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", goModule+"/...").Output()
	require.NoError(t, err)
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); seen++ {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		require.NoError(t, dec.Decode(&pkg))
		name := strings.TrimPrefix(pkg.ImportPath, goModule+"/")
		if pkg.ImportPath == goModule {
			name = "."
		}
		if strings.HasSuffix(name, "test") {
			continue
		}
		for _, imp := range pkg.Imports {
			short, own := strings.CutPrefix(imp, goModule+"/")
			if !own {
				short = "std:" + imp
			}
			if imp == goModule {
				require.Equal(t, "cmd/ccm", name, "only the command may import %s", imp)
			}
			if imp == "gopkg.in/yaml.v3" {
				require.Contains(t, yamlMayBeIn, name, "%s must not import %s", name, imp)
			}
			for _, rule := range rules {
				if slices.Contains(everywhere, short) || !within(name, rule.pkg) || within(short, rule.pkg) && !slices.Contains(apart, rule.pkg) || within(short, name) {
					continue
				}
				if anyWithin(short, rule.banned) && !anyWithin(short, rule.except) {
					require.Failf(t, "import rule", "%s must not import %s", name, imp)
				}
			}
		}
	}
	require.Greater(t, seen, 10)
}

func within(path, layer string) bool { return path == layer || strings.HasPrefix(path, layer+"/") }

func anyWithin(path string, layers []string) bool {
	for _, l := range layers {
		if within(path, l) {
			return true
		}
	}
	return false
}
