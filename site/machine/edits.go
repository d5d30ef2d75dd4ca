package machine

import (
	"context"
	"crypto/md5"  //nolint:gosec // package databases have it
	"crypto/sha1" //nolint:gosec // the database of apk has it
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Limits of edits: a file with more differences is a whole file.
const mostHunks, mostEditedLines, mostComparedLines = 6, 8, 5000

// edits returns the edits that make a file of what its package ships, nil if there are none: the original is not on the
// machine, or too much differs. Each is tried on the original, and on the machine.
func (w *Writer) edits(ctx context.Context, i Item, c *content) []*declaration {
	original, ok := w.original(i)
	if !ok || !isPlain(string(original)) || !isPlain(string(c.text)) {
		return nil
	}
	hunks, ok := differences(splitLines(string(original)), splitLines(string(c.text)))
	if !ok || len(hunks) == 0 || !strings.HasSuffix(string(original), "\n") || !strings.HasSuffix(string(c.text), "\n") {
		return nil
	}
	// An edit keeps the attributes of the package.
	if dir, err := w.View.Lstat(path.Dir(i.Path)); err != nil || c.Mode != 0o644 || c.UID != dir.UID || c.GID != dir.GID {
		return nil
	}
	for _, form := range []func(string, hunk) []*declaration{settingEdit, lineEdit} {
		var list []*declaration
		for _, h := range hunks {
			some := blockEdit(i.Path, h)
			if some == nil {
				some = form(i.Path, h)
			}
			if some == nil {
				list = nil
				break
			}
			list = append(list, some...)
		}
		if len(list) > 0 && w.makes(ctx, i.Path, string(original), string(c.text), list) {
			return list
		}
	}
	return nil
}

// original returns the file as its package ships it, if it is still on the machine: in a copy beside it, or in the
// directory of its package.
func (w *Writer) original(i Item) ([]byte, bool) {
	if i.original == "" {
		return nil, false
	}
	names := slices.Clone(i.copies)
	for _, suffix := range []string{".orig", ".bak", ".old", ".dist", ".default", "~", ".dpkg-dist", ".dpkg-old", ".dpkg-new", ".ucf-dist", ".ucf-old", ".rpmnew", ".rpmsave", ".pacnew"} {
		names = append(names, i.Path+suffix)
	}
	base := path.Base(i.Path)
	names = append(names, "/var/lib/ucf/cache/"+strings.ReplaceAll(i.Path, "/", ":"))
	for _, dir := range []string{"/usr/share/", "/usr/share/doc/", "/usr/lib/"} {
		for _, sub := range []string{"", "/examples", "/conf", "/etc"} {
			names = append(names, dir+i.Package+sub+"/"+base)
		}
	}
	for _, name := range names {
		info, err := w.View.Lstat(name)
		if err != nil || info.Kind != safepath.Regular || info.Size > largestFile {
			continue
		}
		text, err := w.View.ReadUpTo(name, largestFile)
		if err == nil && slices.Contains(digests(text), i.original) {
			return text, true
		}
	}
	return nil, false
}

// digests returns the digests of a text that databases have.
func digests(text []byte) []string {
	a, b, c := md5.Sum(text), sha1.Sum(text), sha256.Sum256(text) //nolint:gosec // as the databases have it
	return []string{hex.EncodeToString(a[:]), hex.EncodeToString(b[:]), hex.EncodeToString(c[:])}
}

// A hunk is a place in which two texts differ.
type hunk struct {
	old, new []string
	before   string // the line before it, "" at the beginning
	section  string // the section of an ini file that it is in
	last     bool   // it is at the end
}

// differences returns the hunks between two texts; false if there are too many.
func differences(old, now []string) (hunks []hunk, ok bool) {
	if len(old) > mostComparedLines || len(now) > mostComparedLines {
		return nil, false
	}
	edited, before, section := 0, "", ""
	for len(old) > 0 || len(now) > 0 {
		if len(old) > 0 && len(now) > 0 && old[0] == now[0] {
			before, old, now = old[0], old[1:], now[1:]
			if m := sectionLine().FindStringSubmatch(before); m != nil {
				section = m[1]
			}
			continue
		}
		removed, added := len(old), len(now) // up to the nearest line that both have again
	search:
		for sum := 1; sum <= 2*mostEditedLines; sum++ {
			for i := 0; i <= sum; i++ {
				if j := sum - i; i < len(old) && j < len(now) && old[i] == now[j] {
					removed, added = i, j
					break search
				}
			}
		}
		if edited += removed + added; edited > 2*mostEditedLines || len(hunks) == mostHunks {
			return nil, false
		}
		hunks = append(hunks, hunk{old: old[:removed], new: now[:added], before: before, section: section, last: removed == len(old)})
		old, now = old[removed:], now[added:]
		if added > 0 {
			before = hunks[len(hunks)-1].new[added-1]
		}
	}
	return hunks, true
}

// sectionLine matches the head of a section of an ini file.
var sectionLine = lazyregexp.New(`^\s*\[([^\]]+)\]\s*$`)

// settingLine matches a line with a key, a separator and a value.
var settingLine = lazyregexp.New(`^\s*[#;]?\s*([A-Za-z][\w.-]*)(\s*=\s*|[ \t]+)(\S.*?)\s*$`)

// settingEdit declares the new lines of a hunk as settings; nil if they are none.
func settingEdit(name string, h hunk) (list []*declaration) {
	if len(h.new) == 0 || len(h.old) > len(h.new) {
		return nil
	}
	for n, line := range h.new {
		m := settingLine().FindStringSubmatch(line)
		if m == nil || line == "" || line[0] == '#' || line[0] == ';' {
			return nil
		}
		if n < len(h.old) {
			if old := settingLine().FindStringSubmatch(h.old[n]); old == nil || old[1] != m[1] {
				return nil
			}
		}
		typ := "kv"
		if h.section != "" {
			typ = "ini"
		}
		d := newDeclaration(typ, path.Base(name)+": "+m[1]).text("path", name)
		if h.section != "" {
			d.name = path.Base(name) + ": [" + h.section + "] " + m[1]
			d.text("section", h.section)
		}
		d.text("key", m[1]).text("value", m[3])
		if sep := m[2]; typ == "kv" && sep != " " || typ == "ini" && sep != " = " {
			d.text("separator", sep)
		}
		list = append(list, d)
	}
	return list
}

// blockMarker matches the first line of a block, as the type block writes it.
var blockMarker = lazyregexp.New(`^(\S+) BEGIN ccm (.+)$`)

// blockEdit declares new lines between the markers of a block; nil if they are none.
func blockEdit(name string, h hunk) []*declaration {
	last := len(h.new) - 1
	if len(h.old) > 0 || last < 1 {
		return nil
	}
	m := blockMarker().FindStringSubmatch(h.new[0])
	if m == nil || h.new[last] != m[1]+" END ccm "+m[2] {
		return nil
	}
	d := newDeclaration("block", m[2]).text("path", name).text("content", strings.Join(append(h.new[1:last:last], ""), "\n"))
	if m[1] != "#" {
		d.text("comment", m[1])
	}
	if !h.last {
		d.text("insert_after", exactly(h.before))
	}
	return []*declaration{d}
}

// exactly returns a regular expression for one line.
func exactly(line string) string { return "^" + regexp.QuoteMeta(line) + "$" }

// lineEdit declares a hunk as lines.
func lineEdit(name string, h hunk) (list []*declaration) {
	named := func(line string) *declaration {
		label := strings.TrimSpace(line)
		if len(label) > 60 {
			label = label[:60]
		}
		return newDeclaration("line", path.Base(name)+": "+label).text("path", name)
	}
	after := h.before
	for n, line := range h.new {
		if strings.TrimSpace(line) == "" {
			return nil // an empty line is everywhere
		}
		d := named(line).text("line", line)
		switch {
		case n < len(h.old) && strings.TrimSpace(h.old[n]) != "":
			d.text("match", exactly(h.old[n]))
		case n < len(h.old):
			return nil
		case !h.last:
			if strings.TrimSpace(after) == "" {
				return nil
			}
			d.text("insert_after", exactly(after))
		}
		after = line
		list = append(list, d)
	}
	for n := len(h.new); n < len(h.old); n++ {
		if strings.TrimSpace(h.old[n]) == "" {
			return nil
		}
		list = append(list, named(h.old[n]).text("line", h.old[n]).text("ensure", "absent"))
	}
	return list
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// makes reports whether edits turn one text into another.
func (w *Writer) makes(ctx context.Context, name, from, to string, list []*declaration) bool {
	v := w.View.Planning(ctx)
	v.Overlay().Assume("the package", false, overlay.PathEffect{Path: name, Kind: safepath.Regular, Content: &from})
	for _, d := range list {
		decision, _, _, err := w.decide(ctx, v, d.typ, d.name, d.properties)
		if err != nil || decision.Err != nil || decision.Stable() {
			return false
		}
		v.Overlay().Assume(d.name, false, decision.Effects...)
	}
	text, err := v.ReadText(name, largestFile)
	return err == nil && text == to
}
