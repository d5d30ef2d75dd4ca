package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/luaccm/ccm/runtime/resource"
)

// textLimit is the largest content, in bytes, that gets a diff.
const textLimit = resource.TextLimit

// isText reports whether s is a text that can be printed in a diff and patched.
func isText(s string) bool {
	return len(s) <= textLimit && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// Unified returns the unified diff of a content in the form that git prints and that patch(1) and
// git-apply(1) read with -p1. It is not ok unless both sides are text.
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
	hunks, ok := hunksOf(t.Have, t.Want)
	fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", headerName(from), headerName(to), hunks)
	return b.String(), ok
}

// hunksOf returns the hunks of a diff. Package udiff makes a table of all lines that it is given,
// so it is given only the lines between the first and the last difference. If one line of a long
// file changes, that is a few lines.
func hunksOf(have, want string) (string, bool) {
	head, tail := sameEnds(have, want)
	skipped := strings.Count(have[:head], "\n")
	have, want = have[head:len(have)-tail], want[head:len(want)-tail]
	edits := []udiff.Edit{{End: len(have), New: want}} // for a new or an emptied file there is nothing to compare
	if have != "" && want != "" {
		edits = udiff.Lines(have, want)
	}
	diff, err := udiff.ToUnified("@from@", "@to@", have, edits, udiff.DefaultContextLines)
	_, hunks, ok := strings.Cut(diff, "\n+++ @to@\n")
	if err != nil || !ok || skipped == 0 {
		return hunks, err == nil
	}
	var b strings.Builder
	for line := range strings.Lines(hunks) {
		if strings.HasPrefix(line, "@@ ") {
			line = shiftedHunk(line, skipped)
		}
		b.WriteString(line)
	}
	return b.String(), true
}

// sameEnds returns the number of bytes at the beginning and at the end of two texts that are
// whole lines and the same in both. It leaves out the context lines of a diff.
func sameEnds(a, b string) (head, tail int) {
	const block = 4096 // compared at once
	most := min(len(a), len(b))
	for head+block <= most && a[head:head+block] == b[head:head+block] {
		head += block
	}
	for head < most && a[head] == b[head] {
		head++
	}
	for range udiff.DefaultContextLines + 1 {
		head = max(0, strings.LastIndexByte(a[:head], '\n'))
	}
	if head > 0 {
		head++ // behind the newline
	}
	a, b = a[head:], b[head:]
	most = min(len(a), len(b))
	for tail+block <= most && a[len(a)-tail-block:len(a)-tail] == b[len(b)-tail-block:len(b)-tail] {
		tail += block
	}
	for tail < most && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for range udiff.DefaultContextLines + 1 {
		end := strings.IndexByte(a[len(a)-tail:], '\n')
		if end < 0 {
			return head, 0
		}
		tail -= end + 1
	}
	return head, tail
}

// shiftedHunk returns the header line of a hunk, with line numbers increased by lines: the texts
// that were compared began that many lines later.
func shiftedHunk(line string, lines int) string {
	fields := strings.Fields(line) // @@ -1,3 +1,4 @@
	for i, f := range fields[1:3] {
		first, count, hasCount := strings.Cut(f[1:], ",")
		n, _ := strconv.Atoi(first)
		fields[i+1] = f[:1] + strconv.Itoa(n+lines)
		if hasCount {
			fields[i+1] += "," + count
		}
	}
	return strings.Join(fields, " ") + "\n"
}

// quoteName quotes a file name as git does: a name with control characters, quotes, backslashes
// or a character in special becomes a C string.
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

// headerName appends a tab to a name with spaces, as git does, so that patch finds its end.
func headerName(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// lineCounts returns the numbers of lines that a unified diff of a content would add and remove.
// It is not ok if there is no diff.
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

// hunkLines returns the numbers of lines that a diff adds and removes.
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
