package module

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
)

// SetDependency returns the text of the ccm.mod.lua with a dependency added, or with its version changed. All other
// text stays as its author wrote it. An empty source keeps the source that the file has.
func (f *File) SetDependency(name, version string, source Source) (string, error) {
	text := f.Doc.Text
	root := f.Doc.Root
	deps := root.Field("dependencies")
	switch {
	case deps == nil:
		text = insert(text, root, "dependencies = {\n    "+dependencyLine(name, version, source)+",\n  }", "  ")
	case deps.Value.Field(name) == nil:
		text = insert(text, deps.Value, dependencyLine(name, version, source), "    ")
	default:
		v := deps.Value.Field(name).Value
		have := f.Dependency(name)
		switch at := v.Field("version"); {
		case source != (Source{}) && source != have.Source:
			_, value, _ := strings.Cut(dependencyLine(name, version, source), " = ")
			text = text[:v.Start] + value + text[v.End:]
		case v.Kind == luadata.String:
			text = text[:v.Start] + luadata.Quote(version) + text[v.End:]
		case at != nil:
			text = text[:at.Value.Start] + luadata.Quote(version) + text[at.Value.End:]
		}
	}
	return f.checkEdit(text, func(g *File) bool { d := g.Dependency(name); return d != nil && d.Version == version })
}

// RemoveDependency returns the text of the ccm.mod.lua without a dependency.
func (f *File) RemoveDependency(name string) (string, error) {
	text := f.Doc.Text
	deps := f.Doc.Root.Field("dependencies")
	if deps == nil || deps.Value.Field(name) == nil {
		return text, nil
	}
	field := deps.Value.Field(name)
	start, end := field.Start, field.Value.End
	rest := text[end:]
	if trimmed := strings.TrimLeft(rest, " \t"); strings.HasPrefix(trimmed, ",") || strings.HasPrefix(trimmed, ";") {
		end += len(rest) - len(trimmed) + 1
	}
	// The whole line goes, if nothing else is on it.
	lineStart := strings.LastIndexByte(text[:start], '\n') + 1
	lineEnd := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " \t"))
	if strings.TrimSpace(text[lineStart:start]) == "" && strings.HasPrefix(text[lineEnd:], "\n") {
		start, end = lineStart, lineEnd+1
	}
	return f.checkEdit(text[:start]+text[end:], func(g *File) bool { return g.Dependency(name) == nil })
}

// checkEdit returns an edited text, and an error unless it parses and good accepts it.
func (f *File) checkEdit(text string, good func(*File) bool) (string, error) {
	g, err := ParseFile(f.Doc.File, text)
	if err == nil && !good(g) {
		err = diag.At(diag.Pos{File: f.Doc.File}, diag.Cannot("edit", "it automatically; change it by hand", nil))
	}
	return text, err
}

// insert adds a field at the end of a table, on its own line.
func insert(text string, table *luadata.Value, field, indent string) string {
	brace := table.End - 1
	lastEnd := table.Start + 1
	separator := ""
	if n := len(table.Fields); n > 0 {
		lastEnd = table.Fields[n-1].Value.End
		if !strings.ContainsAny(beforeComment(text[lastEnd:brace]), ",;") {
			separator = ","
		}
	}
	lineStart := strings.LastIndexByte(text[:table.Start], '\n') + 1
	closing := text[lineStart : lineStart+len(text[lineStart:table.Start])-len(strings.TrimLeft(text[lineStart:table.Start], " \t"))]
	between := strings.TrimRight(text[lastEnd:brace], " \t\r\n")
	return text[:lastEnd] + separator + between + "\n" + indent + field + ",\n" + closing + text[brace:]
}

// beforeComment returns the part of the text behind a value that comes before a comment.
func beforeComment(text string) string {
	before, _, _ := strings.Cut(text, "--")
	return before
}

// dependencyLine returns the text of a dependency without its comma: NAME = "VERSION".
func dependencyLine(name, version string, source Source) string {
	key := name
	if !luadata.IsName(name) {
		key = "[" + luadata.Quote(name) + "]"
	}
	if source == (Source{}) || source == (Source{Git: DefaultGit(name)}) {
		return key + " = " + luadata.Quote(version)
	}
	from := fmt.Sprintf("git = %s", luadata.Quote(source.Git))
	if source.Git == "" {
		from = fmt.Sprintf("url = %s", luadata.Quote(source.URL))
	}
	if source.Folder != "" {
		from += ", folder = " + luadata.Quote(source.Folder)
	}
	return fmt.Sprintf("%s = { version = %s, %s }", key, luadata.Quote(version), from)
}
