package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/diag"
)

// UnmanagedFile is the file of a site that lists what the import left out on purpose.
const UnmanagedFile = "unmanaged.txt"

// unmanagedHeader begins the file.
const unmanagedHeader = `# What this site leaves alone. ccm import machine --against does not list it.
# A line is TYPE#NAME, or a pattern as for --ignore. Delete a line to see its items again.
`

// Unmanaged are the lines of UnmanagedFile: TYPE#PATTERN, or patterns as in Options.Ignore.
type Unmanaged []string

// ParseUnmanaged reads the text of UnmanagedFile. The error names the line.
func ParseUnmanaged(text string) (Unmanaged, error) {
	var u Unmanaged
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if _, err := path.Match(line, ""); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", UnmanagedFile, n, diag.Expected("TYPE#NAME or a pattern such as /etc/*.bak").Got("%q", line))
		}
		u = append(u, line)
	}
	return u, nil
}

// has reports whether an item is one of them.
func (u Unmanaged) has(i Item) bool {
	name := i.keyed()
	var patterns []string
	for _, line := range u {
		kind, pattern, ok := strings.Cut(line, "#")
		if !ok || !slices.ContainsFunc(sortedKeys(Groups), func(g string) bool { return slices.Contains(Groups[g], Kind(kind)) }) {
			patterns = append(patterns, line)
			continue
		}
		if is, _ := path.Match(pattern, name); Kind(kind) == i.Kind && (is || pattern == "*") {
			return true
		}
	}
	return !Options{Ignore: patterns}.includes(i)
}

// keyed returns the name of an item, and for a key of a user the key as well.
func (i Item) keyed() string {
	if i.Kind == AuthorizedKey {
		return i.Name + " " + i.Value
	}
	return i.Name
}

// forget notes an item that is not in the site, and the reason. What may succeed the next time is not noted.
func (w *Writer) forget(i Item, err error) {
	if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errChanged) && !errors.Is(err, context.Canceled) {
		w.unmanaged = append(w.unmanaged, LeftOut{string(i.Kind) + "#" + w.pattern(i.keyed()), w.reason(err)})
	}
}

// pattern returns a pattern for a name. A part that may contain a secret, and unusual characters, are written as "?".
func (w *Writer) pattern(name string) string {
	dir, base := path.Split(name)
	hide := w.holdsSecret(name)
	hideDir := hide && (dir == "" || w.holdsSecret(dir))
	var b strings.Builder
	for n, c := range dir + base {
		switch {
		case c == '/':
			b.WriteRune(c)
		case hide && n >= len(dir) || hideDir || !unicode.IsPrint(c) || c == unicode.ReplacementChar:
			b.WriteByte('?')
		case strings.ContainsRune(`*?[\`, c):
			b.WriteRune('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// noteOptions notes what the options of the scan left out.
func (w *Writer) noteOptions(s *Scan) {
	for _, pattern := range s.options.Ignore {
		w.unmanaged = append(w.unmanaged, LeftOut{pattern, "imported with --ignore"})
	}
	for _, group := range sortedKeys(Groups) {
		for _, kind := range Groups[group] {
			if len(s.options.Only) > 0 && !slices.Contains(s.options.Only, group) {
				w.unmanaged = append(w.unmanaged, LeftOut{string(kind) + "#*", "imported with --only"})
			}
		}
	}
	for _, i := range s.older {
		w.forget(i, ownReason("imported with --since"))
	}
}

// leaveAlone adds lines of UnmanagedFile, which may come from another machine.
func (w *Writer) leaveAlone(list []LeftOut) error {
	for _, l := range list {
		if _, err := ParseUnmanaged(l.Name); err != nil {
			return err
		}
		w.unmanaged = append(w.unmanaged, LeftOut{oneLine(l.Name), oneLine(l.Reason)})
	}
	return nil
}

// writeUnmanaged writes UnmanagedFile, unless nothing was left out.
func (w *Writer) writeUnmanaged() {
	if len(w.unmanaged) == 0 {
		return
	}
	slices.SortFunc(w.unmanaged, func(a, b LeftOut) int { return strings.Compare(a.Reason+"\x00"+a.Name, b.Reason+"\x00"+b.Name) })
	var out bytes.Buffer
	out.WriteString(unmanagedHeader)
	reason := ""
	for _, l := range slices.Compact(w.unmanaged) {
		if l.Reason != reason {
			reason = l.Reason
			fmt.Fprintf(&out, "\n# %s\n", quoted(reason))
		}
		fmt.Fprintln(&out, l.Name)
	}
	w.add(UnmanagedFile, out.Bytes(), 0o644)
}
