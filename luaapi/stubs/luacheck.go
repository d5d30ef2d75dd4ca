package stubs

import (
	"fmt"
	"io"
	"strings"
)

// Mark begins every file of configuration that may be written again.
const Mark = "Written by ccm types. Without this line it is yours, and is left alone."

// Luacheck writes .luacheckrc.
func (l *Language) Luacheck(w io.Writer) {
	fmt.Fprintf(w, "-- %s\nstds.ccm = {\n  read_globals = {\n", Mark)
	for _, g := range l.added() {
		fields := l.fields(g)
		if len(fields) == 0 {
			fmt.Fprintf(w, "    %s = { other_fields = true },\n", g.Name)
			continue
		}
		quoted := make([]string, len(fields))
		for i, f := range fields {
			quoted[i] = f + " = {}"
		}
		fmt.Fprintf(w, "    %s = { fields = { %s } },\n", g.Name, strings.Join(quoted, ", "))
	}
	fmt.Fprint(w, "  },\n}\nstd = \"lua51+ccm\"\nnot_globals = {")
	for i, name := range l.missing() {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %q", name)
	}
	fmt.Fprint(w, " }\nmax_line_length = 120\n")
	fmt.Fprint(w, "files[\"**/*_spec.lua\"] = { std = \"+busted\", read_globals = { \"catalog\", \"suite\" } }\n")
}
