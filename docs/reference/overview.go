package reference

import (
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/words"
)

// overview returns the page with all that the reference has.
func (s Source) overview() string {
	p := page{root: "../"}
	p.printf("# Reference")
	p.console("$ ccm docs file\n$ ccm docs file.mode\n$ ccm help run")
	p.printf("`ccm docs` prints pages of this reference, `ccm docs` one property or function, `ccm help` a command. It is generated from the declarations in the code.")
	p.printf("## Types")
	p.printf("[properties.md](properties.md) has the properties of every type.")
	var b strings.Builder
	for _, t := range s.Registry.Types() {
		b.WriteString("| [`" + t.Name + "`](types/" + t.Name + ".md) | " + cell(prose(words.FirstSentence(about(t.Name, t.Schema().Doc)))) + " |\n")
	}
	p.printf("| type | |\n|---|---|\n%s", b.String())
	p.printf("## Commands")
	b.Reset()
	for _, cmd := range s.Commands.Commands() {
		if cmd.IsAvailableCommand() {
			b.WriteString("| [`" + cmd.CommandPath() + "`](commands/" + cmd.Name() + ".md) | " + cell(prose(cmd.Short)) + " |\n")
		}
	}
	p.printf("| command | |\n|---|---|\n%s", b.String())
	var flags page
	writeFlags(&flags, s.Commands.PersistentFlags(), "Every command has these flags too:")
	p.printf("%s", strings.TrimSpace(flags.String()))
	p.printf("[exit-codes.md](exit-codes.md) lists the exit statuses.")
	p.printf("## Lua")
	p.printf("- [lua.md](lua.md): the functions of scripts.\n- [../stdlib.md](../stdlib.md): the functions of the standard library.\n- [../types.md](../types.md#host): `host`, for types in Lua.\n- [../testing-sites.md](../testing-sites.md#functions): the functions of tests.\n- [../facts.md](../facts.md): facts.")
	p.printf("## For programs")
	p.printf("- [events.md](events.md): the JSON of reports.\n- [schemas.md](schemas.md): the JSON Schemas.")
	return p.String()
}

// commonProperties returns the page about the properties of every type.
func (s Source) commonProperties() string {
	p := page{root: "../"}
	p.printf("# Properties of every type")
	p.fence("lua", "file { \"/etc/app.conf\", content = \"x = 1\\n\", owner = \"root\", group = \"root\", mode = \"0644\",\n  tags = \"web\", require = \"package#app\", notify = \"service#app\" }")
	p.printf("These are there whatever the type is.")
	writeFields(&p, resource.CommonSchema(), "##", "")
	return p.String()
}
