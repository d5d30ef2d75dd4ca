// Package docs contains the pages of the documentation as of the build of the program. ccm docs
// prints them. Programs also read from them what is declared only there, such as the facts.
package docs

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.md recipes/*.md reference/*.md reference/*/*.md
var files embed.FS

// suffix is the suffix of the file names of pages.
const suffix = ".md"

// Facts returns facts.md. Its tables say which facts there are and of which type.
func Facts() string { return Text("facts") }

// Text returns the Markdown of a page, "" if there is no such page. The name of a page is the name
// of its file without the suffix, such as plans or reference/types/file.
func Text(name string) string {
	text, _ := fs.ReadFile(files, name+suffix)
	return string(text)
}

// Names returns the names of all pages, in order.
func Names() []string {
	var names []string
	_ = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, suffix); ok && err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names
}

// Title returns the title of a page: its first line, which is a heading.
func Title(name string) string {
	first, _, _ := strings.Cut(Text(name), "\n")
	return strings.ReplaceAll(strings.TrimPrefix(first, "# "), "`", "")
}

// Summary says in one line what a page is about: its title or, of a page of the reference, the
// sentence below it.
func Summary(name string) string {
	title := Title(name)
	if !strings.HasPrefix(name, typesDir) && !strings.HasPrefix(name, commandsDir) {
		return title
	}
	_, body, _ := strings.Cut(Text(name), "\n\n")
	paragraph, _, _ := strings.Cut(body, "\n\n")
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(paragraph), " "), ". ")
	return strings.TrimSuffix(strings.ReplaceAll(sentence, "\\", ""), ".")
}

// Label returns what a table of contents calls a page, beside others of its group: the title
// or, of a type, its name.
func Label(name string) string {
	if rest, ok := strings.CutPrefix(name, typesDir); ok {
		return rest
	}
	return Title(name)
}
