package std

import (
	"fmt"
	"io"

	"github.com/luaccm/ccm/runtime/words"
)

// WriteReference writes the reference of all libraries as Markdown.
func WriteReference(w io.Writer) {
	fmt.Fprint(w, `# The standard library

These functions are there in every script. Each library is a global table and a module:
`+"`str`"+` is also what `+"`require \"std.str\"`"+` returns. They look at the machine and change
nothing; what they tried is recorded as an input of the run. An argument of the wrong
type is a mistake with its place, and pcall catches it. A string has 64 MiB at most.

Types are written as LuaLS has them: a question mark stands behind what may be left out,
`+"`string[]`"+` is a list of strings, `+"`a|b`"+` either of two. Behind the arrow stands what
inspect makes of the example. `+"`ccm docs str.split`"+` prints one entry.

`)
	for _, l := range Libraries() {
		fmt.Fprintf(w, "- [%s](#%s): %s\n", l.Name, l.Name, words.FirstSentence(l.Doc))
	}
	for _, l := range Libraries() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", l.Name, wrap(l.Doc, 92))
		for _, e := range l.Entries() {
			if e.Name != l.Name {
				fmt.Fprintf(w, "\n### %s\n", e.Name)
			}
			fmt.Fprintf(w, "\n```lua\n%s\n```\n\n%s\n\n```lua\n%s\n```\n", e.Signature, wrap(e.Doc, 92), e.example())
		}
	}
}
