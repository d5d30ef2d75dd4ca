package std

import (
	"fmt"
	"io"
	"strings"
)

// An Entry is what the reference says of one function or value.
type Entry struct {
	// Name is the whole name: str.split.
	Name string `json:"name"`
	// Signature is the name with parameters and results, or with a type.
	Signature string  `json:"signature"`
	Params    []Param `json:"params,omitempty"`
	Results   []Param `json:"results,omitempty"`
	Doc       string  `json:"doc"`
	Example   string  `json:"example"`
	Result    string  `json:"result,omitempty"`
}

// Entries returns what the reference says of l, in its order: values, then
// functions.
func (l *Library) Entries() []Entry {
	list := make([]Entry, 0, len(l.Values)+len(l.Funcs))
	for _, v := range l.Values {
		name := l.Name + "." + v.Name
		list = append(list, Entry{Name: name, Signature: name + ": " + v.Type, Doc: v.Doc, Example: v.Example, Result: v.Result})
	}
	for i := range l.Funcs {
		f := &l.Funcs[i]
		prefix := l.Name + "."
		if f.Name() == l.Name {
			prefix = ""
		}
		list = append(list, Entry{
			Name: prefix + f.Name(), Signature: prefix + f.Signature, Params: f.Params(), Results: f.Results(),
			Doc: f.Doc, Example: f.Example, Result: f.Result,
		})
	}
	return list
}

// WriteReference writes the reference of all libraries as Markdown.
func WriteReference(w io.Writer) {
	fmt.Fprint(w, `# The standard library

These functions are there in every script. Each library is a global table and a module:
`+"`str`"+` is also what `+"`require \"std.str\"`"+` returns. They look at the machine and change
nothing; what they looked at is recorded as an input of the run. An argument of the wrong
type is a mistake with its place, and pcall catches it. A string has 64 MiB at most.

Types are written as LuaLS has them: a question mark stands behind what may be left out,
`+"`string[]`"+` is a list of strings, `+"`a|b`"+` either of two. Behind the arrow stands what
inspect makes of the example. `+"`ccm doc str.split`"+` prints one entry.

`)
	for _, l := range Libraries() {
		fmt.Fprintf(w, "- [%s](#%s): %s\n", l.Name, l.Name, firstSentence(l.Doc))
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

// WriteText writes e for a terminal.
func (e Entry) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n\n%s\n", e.Signature, indent(wrap(e.Doc, 76), "  "), indent(e.example(), "    "))
}

// WriteText writes an overview of l for a terminal.
func (l *Library) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", wrap(l.Doc, 80))
	for _, e := range l.Entries() {
		fmt.Fprintf(w, "%s\n%s\n", e.Signature, indent(wrap(firstSentence(e.Doc), 76), "    "))
	}
}

// example returns the example with what it gives.
func (e Entry) example() string {
	switch {
	case e.Result == "":
		return e.Example
	case strings.Contains(e.Result, "\n") || strings.Contains(e.Example, "\n") || len(e.Example)+len(e.Result) > 90:
		return e.Example + "\n--> " + strings.ReplaceAll(e.Result, "\n", "\n--> ")
	}
	return e.Example + " --> " + e.Result
}

// firstSentence returns text up to its first full stop.
func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// indent returns text with prefix before each line.
func indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}
