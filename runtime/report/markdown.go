package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A Listing keeps the events of a plan, to print it as Markdown or to compare it with another one.
type Listing struct {
	// Text is how a resource is described.
	Text Text
	// Remove is a text that is omitted from descriptions, such as a temporary directory; "" for none.
	Remove string

	rows []row
}

var _ event.Reporter = (*Listing)(nil)

// A row is what a plan has about one resource.
type row struct {
	mark, id, story string
	diff            string // the differences in lines, "" for none
	before          string // what another plan has about it, "" for nothing
	stable          bool
	text            *resource.TextChange // of the content; nil if unknown
}

// wantsContent reports whether there is to be a known content.
func (x row) wantsContent() bool { return x.text != nil && x.text.WantExists }

// Event implements event.Reporter.
func (l *Listing) Event(e *event.Event) {
	r := *e.Resource
	r.Pos, r.Calls = diag.Pos{}, nil // another version has it elsewhere
	c := *e
	c.Resource = &r
	mark, _ := symbol(&c)
	var b terminal.Buffer
	diff, _ := e.Planned()
	text := e.Text
	if e.Uncertain || e.Outcome == event.Unknown && e.Forecast != nil {
		diff, text = e.Forecast.Diff, e.Forecast.Text
	}
	l.Text.differences(&b, diff, text)
	clean := func(s string) string {
		if l.Remove != "" {
			s = strings.ReplaceAll(s, l.Remove, "")
		}
		return s
	}
	l.rows = append(l.rows, row{
		mark: mark, id: r.ID.String(), story: clean(l.Text.story(&c).String()), diff: clean(b.Text().String()), stable: e.Outcome == event.Stable, text: text,
	})
}

// Markdown writes the plan as a table, with the differences below it. Title is its heading.
func (l *Listing) Markdown(title string, s event.Summary) {
	w := l.Text.W
	s.Duration = 0
	var rows []row
	for _, x := range l.rows {
		if !x.stable || l.Text.Verbose {
			rows = append(rows, x)
		}
	}
	terminal.Fprintf(w, "### %s\n\n%s\n", code(title), strings.Replace(l.Text.summary(s).String(), " (0s)", "", 1))
	markdownTable(w, rows, "")
}

// Compare returns the differences from the plan of an earlier version.
func (l *Listing) Compare(earlier *Listing) Comparison {
	c := Comparison{text: l.Text}
	old := make(map[string]row, len(earlier.rows))
	for _, x := range earlier.rows {
		old[x.id] = x
	}
	for _, x := range l.rows {
		was, ok := old[x.id]
		delete(old, x.id)
		switch {
		case !ok:
			c.added++
			c.rows = append(c.rows, x)
		case x.wantsContent() && was.wantsContent() && x.text.Want != was.text.Want: // also of a new file, whose content is in no diff
			c.other++
			x.before, x.diff = was.mark+" "+was.story, contentBetween(c.text, was.text, x.text)
			c.rows = append(c.rows, x)
		case was.mark != x.mark || was.story != x.story || was.diff != x.diff:
			c.other++
			x.before = was.mark + " " + was.story
			c.rows = append(c.rows, x)
		default:
			c.same++
		}
	}
	for _, x := range earlier.rows {
		if _, ok := old[x.id]; ok {
			c.gone++
			c.rows = append(c.rows, row{mark: "-", id: x.id, story: "no longer declared", before: x.mark + " " + x.story})
		}
	}
	return c
}

// contentBetween returns the diff between the contents that two versions want.
func contentBetween(t Text, was, now *resource.TextChange) string {
	var b terminal.Buffer
	if diff, ok := Unified(resource.TextChange{Path: now.Path, Have: was.Want, Want: now.Want, HaveExists: true, WantExists: true}); ok && t.Diff != DiffSummary {
		t.unified(&b, diff)
	}
	return b.Text().String()
}

// A Comparison has the differences between the plans of two versions of a site.
type Comparison struct {
	text                     Text
	rows                     []row
	added, gone, other, same int
}

// Differs reports whether the plans differ.
func (c Comparison) Differs() bool { return len(c.rows) > 0 }

// Print writes the differences as text. Version is the name of the earlier version.
func (c Comparison) Print(version string) {
	w := c.text.W
	for _, x := range c.rows {
		terminal.Fprintf(w, "%s %s: %s\n", x.mark, x.id, terminal.IndentedText(x.story, indent))
		if x.before != "" {
			terminal.Fprintf(w, "    in %s: %s\n", version, terminal.IndentedText(x.before, indent))
		}
		terminal.Fprintf(w, "%s", terminal.LinesText(x.diff))
	}
	terminal.Fprintf(w, "%s\n", c.summary(version))
}

func (c Comparison) summary(version string) string {
	if !c.Differs() {
		return fmt.Sprintf("Compared with %s: no differences, %s", version, words.Count(c.same, "resource"))
	}
	return fmt.Sprintf("Compared with %s: %d added, %d removed, %d planned differently, %d the same", version, c.added, c.gone, c.other, c.same)
}

// Markdown writes the differences as a table.
func (c Comparison) Markdown(title, version string) {
	terminal.Fprintf(c.text.W, "### %s\n\n%s\n", code(title), strings.Replace(c.summary(version), version, code(version), 1))
	markdownTable(c.text.W, c.rows, version)
}

// mostMarkdown is the number of bytes of rows and differences that are written: a comment on GitHub may have 65,536
// characters, and a note on GitLab a million.
const mostMarkdown = 60_000

// markdownTable writes rows as a table, failures first, and their differences below it. Version is the name of the earlier version, ""
// for a plan that is not compared.
func markdownTable(w io.Writer, rows []row, version string) {
	if len(rows) == 0 {
		return
	}
	rank := func(x row) int {
		if x.mark == "x" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(rows, func(a, b row) int { return rank(a) - rank(b) })
	var table, details strings.Builder
	table.WriteString("\n| | resource | plan |\n|---|---|---|\n")
	if version != "" {
		table.Reset()
		fmt.Fprintf(&table, "\n| | resource | plan | %s |\n|---|---|---|---|\n", code(version))
	}
	rest, without := 0, 0
	for _, x := range rows {
		line := fmt.Sprintf("| %s | %s | %s |", code(x.mark), code(x.id), code(x.story))
		if version != "" {
			line += " " + code(x.before) + " |"
		}
		if table.Len()+len(line) > mostMarkdown/2 {
			rest++
			continue
		}
		table.WriteString(line + "\n")
		switch block := fenced(x.id, x.diff); {
		case x.diff == "":
		case details.Len()+len(block) > mostMarkdown/2:
			without++
		default:
			details.WriteString(block)
		}
	}
	if rest > 0 {
		fmt.Fprintf(&table, "\nand %s more\n", words.Count(rest, "resource"))
	}
	if details.Len() > 0 {
		fmt.Fprintf(&table, "\n<details><summary>Differences</summary>\n\n%s</details>\n", details.String())
	}
	if without > 0 {
		fmt.Fprintf(&table, "\n%s omitted to limit the length\n", words.Count(without, "difference is", "differences are"))
	}
	terminal.Fprintf(w, "%s", terminal.LinesText(table.String()))
}

// code returns a text as a code span in one cell of a table. Markdown in it has no effect, nor have names after @.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		pad = " "
	}
	return fence + pad + strings.ReplaceAll(s, "|", `\|`) + pad + fence
}

// fenced returns differences as a block of code with a title.
func fenced(title, diff string) string {
	fence := strings.Repeat("`", max(3, longestRun(diff)+1))
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(strings.TrimPrefix(line, indent))
	}
	return code(title) + "\n\n" + fence + "diff\n" + strings.TrimRight(b.String(), "\n") + "\n" + fence + "\n\n"
}

// longestRun returns the length of the longest run of backticks.
func longestRun(s string) int {
	longest, n := 0, 0
	for _, c := range s {
		if n++; c != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
