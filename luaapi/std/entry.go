package std

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/words"
)

// An Entry is the reference of one function or value.
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

// Entries returns the reference of l, in its order: values, then functions.
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

// WriteText writes e for a terminal.
func (e Entry) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n\n%s\n", e.Signature, indent(wrap(e.Doc, 76), "  "), indent(e.example(), "    "))
}

// WriteText writes an overview of l for a terminal.
func (l *Library) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", wrap(l.Doc, 80))
	for _, e := range l.Entries() {
		fmt.Fprintf(w, "%s\n%s\n", e.Signature, indent(wrap(words.FirstSentence(e.Doc), 76), "    "))
	}
}

// example returns the example with its result.
func (e Entry) example() string {
	switch {
	case e.Result == "":
		return e.Example
	case strings.Contains(e.Result, "\n") || strings.Contains(e.Example, "\n") || len(e.Example)+len(e.Result) > 90:
		return e.Example + "\n--> " + strings.ReplaceAll(e.Result, "\n", "\n--> ")
	}
	return e.Example + " --> " + e.Result
}

// indent returns text with prefix before each line.
func indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
}
