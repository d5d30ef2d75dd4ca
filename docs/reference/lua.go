package reference

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/words"
)

// luaPage returns the page about what scripts have. What the standard library has is on the
// page stdlib.md; here it is listed.
func (s Source) luaPage() (string, error) {
	p := page{root: "../"}
	p.printf("# Functions of scripts")
	p.fence("lua", `local port = lookup("data.port", 8080)
local hosts = str.lines(fs.read "/etc/hosts")`)
	p.printf("Scripts are Lua 5.1 ([lua.md](../lua.md)). Each type is also a function ([overview.md](overview.md#types)). A signature shows arguments and results. A question mark means optional.")
	p.printf("## In scripts")
	if err := s.writeFunctions(&p, "luaapi/stubs/base.lua"); err != nil {
		return "", err
	}
	for _, lib := range std.Libraries() {
		p.printf("## `%s`", lib.Name)
		p.printf("%s", prose(strings.Join(strings.Fields(lib.Doc), " ")))
		var b strings.Builder
		for _, e := range lib.Entries() {
			fmt.Fprintf(&b, "| [`%s`](../stdlib.md#%s) | %s |\n", e.Name, anchor(e.Name), cell(prose(words.FirstSentence(e.Doc))))
		}
		p.printf("| function | |\n|---|---|\n%s", b.String())
	}
	p.printf("## In types")
	p.printf("Types in Lua get `host`, which reads and changes the machine ([types.md](../types.md#host)).")
	p.printf("## In tests")
	p.printf("Spec files also have these. [testing-sites.md](../testing-sites.md#functions) lists the functions of `assert`.")
	err := s.writeFunctions(&p, "luaapi/stubs/spec.lua")
	return p.String(), err
}

// writeFunctions writes the functions of a definition file.
func (s Source) writeFunctions(p *page, file string) error {
	list, err := s.functionsOf(file)
	for _, f := range list {
		p.printf("### `%s`", f.Name)
		p.fence("", f.Signature)
		p.printf("%s", prose(f.Doc))
	}
	return err
}

// anchor returns the anchor of the heading of a function in stdlib.md.
func anchor(name string) string { return strings.ToLower(strings.ReplaceAll(name, ".", "")) }
