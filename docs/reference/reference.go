// Package reference writes the pages of the reference that lie beside it, from what declares the
// types, the providers, the commands and the events. It is no part of ccm: the test that calls it
// writes the pages (go generate) and compares them with what is there.
//
// Begin with [Pages].
package reference

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/resource"
)

// A Source is what the reference is written from.
type Source struct {
	// Registry has all types, with their documentation.
	Registry *resource.Registry
	// Modules are the sources of the types that are written in Lua, by their names.
	Modules map[string]string
	// Examples are the examples of the types, by their names.
	Examples map[string]Example
	// Commands is the root of all commands.
	Commands *cobra.Command
	// Repository is the directory with the source of ccm.
	Repository string
}

// Pages returns the pages by their path below the folder of the reference.
func Pages(s Source) (map[string]string, error) {
	pages := map[string]string{"overview.md": s.overview(), "properties.md": s.commonProperties()}
	for _, t := range s.Registry.Types() {
		text, err := s.typePage(t)
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", t.Name, err)
		}
		pages["types/"+t.Name+".md"] = text
	}
	for _, cmd := range s.Commands.Commands() {
		if cmd.IsAvailableCommand() {
			pages["commands/"+cmd.Name()+".md"] = commandPage(cmd)
		} else if cmd.IsAdditionalHelpTopicCommand() {
			pages[cmd.Name()+".md"] = topicPage(cmd)
		}
	}
	var err error
	if pages["events.md"], err = s.eventsPage(); err != nil {
		return nil, err
	}
	pages["schemas.md"] = s.schemasPage()
	if pages["lua.md"], err = s.luaPage(); err != nil {
		return nil, err
	}
	for name, text := range pages {
		pages[name] = strings.TrimRight(text, "\n") + "\n"
	}
	return pages, nil
}

// A page collects the Markdown of a page while the page is written.
type page struct {
	bytes.Buffer
	root string // from the page to docs, such as "../"
}

// printf appends a paragraph, or what else stands between blank lines.
func (p *page) printf(format string, args ...any) {
	fmt.Fprintf(p, strings.TrimRight(format, "\n")+"\n\n", args...)
}

// fence appends a block of code.
func (p *page) fence(language, code string) {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	p.printf("%s%s\n%s\n%s", fence, language, strings.TrimRight(code, "\n"), fence)
}

// console appends a block of code with text that a terminal shows.
func (p *page) console(text string) {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	p.printf("%s", b.String())
}

// prose makes Markdown of text in which nothing is meant to be a mark.
func prose(text string) string {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\`*<[]", r) || r == '_' && !isWithinWord(text, i) || strings.ContainsRune("#>+-", r) && (i == 0 || text[i-1] == '\n') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isWithinWord reports whether letters or digits stand on both sides of the byte at i.
func isWithinWord(text string, i int) bool {
	isWord := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	return i > 0 && i+1 < len(text) && isWord(text[i-1]) && isWord(text[i+1])
}

// code makes a piece of code of text, "" of none.
func code(text string) string {
	switch {
	case text == "":
		return ""
	case strings.Contains(text, "`"):
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// cell is text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// begun has the first letter of a text in upper case.
func begun(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
