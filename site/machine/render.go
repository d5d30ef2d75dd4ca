package machine

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/manifest"
)

// quoted returns a name for a comment or for Markdown: on one line, without characters that a terminal acts on.
func quoted(name string) string {
	if !isPlain(name) || strings.ContainsAny(name, "\n\t`") {
		return strings.ReplaceAll(strconv.QuoteToASCII(name), "`", `\x60`)
	}
	return name
}

// part writes lib/PART.lua.
func (w *Writer) part(part string) {
	var out bytes.Buffer
	for _, block := range w.order {
		if name, title, _ := strings.Cut(block, ":"); name == part {
			if title != "" {
				fmt.Fprintf(&out, "\n-- %s\n", quoted(title))
			}
			w.block(&out, w.blocks[block])
		}
	}
	if out.Len() > 0 {
		text := "-- " + headers[part] + "\n"
		if bytes.Contains(out.Bytes(), []byte("host[")) {
			text += "local host = data.load " + luadata.Quote("../"+dataFile) + "\n"
		}
		if out.Bytes()[0] != '\n' {
			text += "\n"
		}
		w.add("lib/"+part+".lua", append([]byte(text), out.Bytes()...), 0o644)
	}
}

// block writes declarations.
func (w *Writer) block(out *bytes.Buffer, list []*declaration) {
	for len(list) > 0 {
		if host := list[0].host; host != "" {
			n := 1
			for n < len(list) && list[n].host == host {
				n++
			}
			var inside bytes.Buffer
			for _, d := range list[:n] {
				d.host = ""
			}
			w.block(&inside, list[:n])
			fmt.Fprintf(out, "if facts.hostname == %s then\n%send\n", luadata.Quote(host), indented(inside.String()))
			list = list[n:]
			continue
		}
		d, n := list[0], 1
		for _, remark := range d.remarks {
			fmt.Fprintf(out, "-- %s\n", quoted(remark))
		}
		special := func(d *declaration) int { return len(d.secrets) + len(d.data) }
		for special(d) == 0 && n < len(list) && len(list[n].remarks)+special(list[n]) == 0 && list[n].host == "" {
			n++
		}
		if len(d.remarks) > 0 {
			n = 1
		}
		m := new(manifest.Manifest)
		for _, d := range list[:n] {
			m.Resources = append(m.Resources, manifest.ResolvedResource{Type: w.Registry.Type(d.typ), Name: d.name, Properties: d.properties})
		}
		var text strings.Builder
		_ = m.Convert(&text) // a strings.Builder does not fail
		out.WriteString(d.literals(text.String()))
		list = list[n:]
	}
}

// indented returns a script with its lines indented. One with long strings stays as it is, because they have lines.
func indented(lua string) string {
	if strings.Contains(lua, "[[") || strings.Contains(lua, "[=") {
		return lua
	}
	var b strings.Builder
	for line := range strings.Lines(lua) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// site writes site.lua and its test.
func (w *Writer) site(s *Scan) {
	var text strings.Builder
	fmt.Fprintf(&text, "-- The machine %s, imported with ccm import machine. README.md lists what was left out.\n", machineName(s))
	text.WriteString("--   ccm plan site.lua\n")
	for _, part := range parts {
		if slices.ContainsFunc(w.out.Files, func(f SiteFile) bool { return f.Name == "lib/"+part+".lua" }) {
			fmt.Fprintf(&text, "require %q\n", part)
		}
	}
	w.add("site.lua", []byte(text.String()), 0o644)
	w.add("spec/site_spec.lua", []byte(specText), 0o644)
}

// specText is a first test of the site.
const specText = `describe("the site", function()
  it("has no mistakes", function()
    catalog "site.lua"
  end)
end)
`

func machineName(s *Scan) string {
	name := strings.TrimSpace(s.Hostname)
	if name == "" {
		name = "(no host name)"
	}
	if s.Distribution != "" {
		name += " (" + s.Distribution + ")"
	}
	return quoted(name)
}

// shown returns a name as it may be shown. One that may contain a secret is replaced by its directory, which shows the
// reader where to look.
func (w *Writer) shown(name string) string {
	if !w.holdsSecret(name) {
		return name
	}
	const hidden = "a name that may contain a secret"
	if dir := path.Dir(name); dir != "." && !w.holdsSecret(dir) {
		return hidden + ", in " + dir
	}
	return hidden
}

// madeBySystem lists the files that packages and the system make by themselves on each machine.
func (s *Scan) madeBySystem() (list []LeftOut) {
	for row := range s.generated {
		if !strings.HasPrefix(row.reason, "/") { // a path: as it is shipped
			list = append(list, LeftOut{row.pattern, row.reason})
		}
	}
	return list
}

// bullets lists what is left out, sorted and without copies.
func (w *Writer) bullets(text *strings.Builder, list []LeftOut) []LeftOut {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b LeftOut) int { return strings.Compare(a.Name+"\x00"+a.Reason, b.Name+"\x00"+b.Reason) })
	list = slices.Compact(list)
	for _, l := range list {
		fmt.Fprintf(text, "- `%s`: %s\n", quoted(w.shown(l.Name)), quoted(l.Reason))
	}
	return list
}

// readme writes README.md.
func (w *Writer) readme(c *Contents) {
	s := &c.Scan
	var text strings.Builder
	fmt.Fprintf(&text, "# Machine %s\n\nWritten by `ccm import machine`. On the same machine, a plan has nothing to do:\n\n    ccm plan site.lua\n\n"+
		"`ccm test .` tests it, without the machine.\n\n", machineName(s))
	if s.Damage != "" {
		fmt.Fprintf(&text, "The package database is damaged: %s.\n\n", quoted(s.Damage))
	}
	text.WriteString("## Found\n\n")
	count := map[string]int{}
	for _, i := range s.Items {
		count[string(i.Kind)]++
	}
	for _, kind := range sortedKeys(count) {
		fmt.Fprintf(&text, "- %s: %d\n", quoted(kind), count[kind])
	}
	fmt.Fprintf(&text, "\nThe site declares %d resources.\n", w.out.Declared)
	if w.out.Encrypted > 0 {
		fmt.Fprintf(&text, "%d files with secrets are encrypted (`ccm secret ls`).\n", w.out.Encrypted)
	}
	text.WriteString("\n## Left out\n\n")
	w.out.LeftOut = w.bullets(&text, w.out.LeftOut)
	if len(w.out.LeftOut) == 0 {
		text.WriteString("Nothing.\n")
	}
	if slices.ContainsFunc(w.out.Files, func(f SiteFile) bool { return f.Name == UnmanagedFile }) {
		text.WriteString("\n`ccm import machine --against` does not list the items in `" + UnmanagedFile + "`.\n")
	}
	if len(c.Generated) > 0 {
		text.WriteString("\n## Made by the system\n\n")
		w.bullets(&text, c.Generated)
	}
	text.WriteString("\nNot searched: home directories, databases, and data in /var.\n" +
		"Secrets without a usual form are not recognized: check the files before you commit them.\n")
	w.add("README.md", []byte(text.String()), 0o644)
}
