package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/luaccm/ccm/runtime/resource"
)

// textLimit is the largest content, in bytes, of which a diff is made.
const textLimit = resource.TextLimit

// isText reports whether s is text, of which a diff can be printed and applied.
func isText(s string) bool {
	return len(s) <= textLimit && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// Unified returns the unified diff of a content in the form that git prints and
// that patch(1) and git-apply(1) read with -p1, and whether there is one: both
// sides must be text.
func Unified(t resource.TextChange) (string, bool) {
	if !isText(t.Have) || !isText(t.Want) {
		return "", false
	}
	from, to := quoteName("a"+t.Path, ""), quoteName("b"+t.Path, "")
	var b strings.Builder
	// Names with blanks are quoted here, because nothing else marks their end.
	fmt.Fprintf(&b, "diff --git %s %s\n", quoteName("a"+t.Path, " "), quoteName("b"+t.Path, " "))
	switch {
	case !t.HaveExists:
		b.WriteString("new file mode 100644\n")
	case !t.WantExists:
		b.WriteString("deleted file mode 100644\n")
	}
	if t.Have == t.Want {
		// patch(1) learns from the index line that an empty file is created or removed:
		// e69de29 is the git object without content.
		switch {
		case !t.HaveExists:
			b.WriteString("index 0000000..e69de29\n")
		case !t.WantExists:
			b.WriteString("index e69de29..0000000\n")
		}
		return b.String(), true
	}
	if !t.HaveExists {
		from = "/dev/null"
	}
	if !t.WantExists {
		to = "/dev/null"
	}
	edits := []udiff.Edit{{End: len(t.Have), New: t.Want}} // of a new or an emptied file there is nothing to find
	if t.Have != "" && t.Want != "" {
		edits = udiff.Lines(t.Have, t.Want)
	}
	diff, err := udiff.ToUnified("@from@", "@to@", t.Have, edits, udiff.DefaultContextLines)
	if err != nil {
		return "", false
	}
	_, hunks, _ := strings.Cut(diff, "\n+++ @to@\n")
	fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", headerName(from), headerName(to), hunks)
	return b.String(), true
}

// quoteName quotes a file name as git does: names with control characters,
// quotes, backslashes or one of special as C strings.
func quoteName(name, special string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) && (special == "" || !strings.ContainsAny(name, special)) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// headerName ends a name that holds spaces with a tab, as git does, so that
// patch knows where it ends.
func headerName(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// lineCounts returns how many lines a unified diff of a content would add and
// remove, and whether there is one.
func lineCounts(t resource.TextChange) (added, removed int, ok bool) {
	if len(t.Have) > 0 && len(t.Want) > 0 {
		diff, ok := Unified(t)
		added, removed = hunkLines(diff)
		return added, removed, ok
	}
	return lines(t.Want), lines(t.Have), isText(t.Have) && isText(t.Want)
}

// lines returns the number of lines of a text; the last one may lack its newline.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// hunkLines returns how many lines a diff adds and removes.
func hunkLines(diff string) (added, removed int) {
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && line[0] == '+':
			added++
		case inHunk && line[0] == '-':
			removed++
		}
	}
	return added, removed
}
