package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/terminal"
)

// factsTree formats the facts as a short tree. It does not gather costly facts.
func factsTree(f *facts.Facts) string {
	width := 0
	for _, name := range f.Names() {
		width = max(width, len(name))
	}
	var b strings.Builder
	for _, name := range f.Names() {
		text, there := factSummary(f, name, terminal.TextWidth-width-4)
		if there {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, name, text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// waiting reports whether a branch is costly and has not been gathered.
func waiting(f *facts.Facts, name string) bool {
	g, _ := f.Gatherer(name)
	return g.Costly && !f.Gathered(name)
}

// factSummary formats a branch of the facts in one line. It is false if the machine does not have
// the fact.
func factSummary(f *facts.Facts, name string, width int) (text string, there bool) {
	if waiting(f, name) {
		return fmt.Sprintf("(not gathered yet: facts.%s)", name), true
	}
	val, err := f.Branch(name)
	if _, absent := errors.AsType[*facts.NotFoundError](err); absent {
		return "", false
	}
	if err != nil {
		return "(" + err.Error() + ")", true
	}
	branch, ok := val.(map[string]any)
	if !ok {
		return short(val), true
	}
	names := slices.Sorted(maps.Keys(branch))
	for i, n := range names {
		part := n + " = " + short(branch[n])
		if i > 0 {
			part = ", " + part
		}
		more := fmt.Sprintf(", and %d more", len(names)-i)
		if len(text)+len(part)+len(more) > width && i > 0 {
			return text + more, true
		}
		text += part
	}
	return text, true
}

// factLine returns one line about a branch, for completion.
func factLine(f *facts.Facts, name string) string {
	g, _ := f.Gatherer(name)
	if waiting(f, name) || g.Doc != "" {
		return g.Doc
	}
	val, err := f.Branch(name)
	if err != nil {
		return ""
	}
	return short(val)
}

// factsCommand is .facts: all facts, or the facts that contain a text.
func factsCommand(_ context.Context, d *Dialog, text string) error {
	if text == "" {
		d.print(factsTree(d.env.facts))
		return nil
	}
	tree, err := d.env.facts.Tree()
	d.Report(err) // the gathered facts are searched in spite of errors
	want := strings.ToLower(text)
	found := false
	for _, leaf := range facts.Leaves("", tree) {
		value := short(leaf.Value)
		if s, ok := leaf.Value.(string); ok {
			value = s
		}
		if !strings.Contains(strings.ToLower(leaf.Path), want) && !strings.Contains(strings.ToLower(value), want) {
			continue
		}
		found = true
		d.printf("  %s = %s\n", leaf.Path, short(leaf.Value))
	}
	if found {
		return nil
	}
	e := diag.At(diag.Pos{}, diag.None("fact contains %q in its name or value", text))
	e.Hint = diag.DidYouMean(text, d.env.facts.Names())
	return e
}

// factText documents a fact.
func factText(f *facts.Facts, path string) (string, error) {
	name, _, _ := strings.Cut(path, ".")
	g, ok := f.Gatherer(name)
	if !ok {
		return "", unknown("fact "+path, name, f.Names())
	}
	text := "facts." + path
	if g.Doc != "" {
		text += "\n" + terminal.Wrap(g.Doc, "  ", terminal.TextWidth)
	}
	val, err := f.Get(path)
	if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
		return "", &diag.Error{Err: nf, Hint: nf.Hint()}
	}
	if err != nil {
		return "", err
	}
	for _, leaf := range facts.Leaves(path, val) {
		text += fmt.Sprintf("\n  %s = %s", leaf.Path, short(leaf.Value))
	}
	return text, nil
}
