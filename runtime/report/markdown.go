package report

import (
	"fmt"
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
	// Layout is the form of the table.
	Layout Layout
	// Remove is a text that is omitted from descriptions, such as a temporary directory; "" for none.
	Remove string

	rows []row
}

var _ event.Reporter = (*Listing)(nil)

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
		event: &c, mark: mark, story: clean(l.Text.story(&c).String()), diff: clean(b.Text().String()), text: text,
	})
}

// Markdown writes the plan as a table, with the differences below it. Title is its heading.
func (l *Listing) Markdown(title string, s event.Summary) {
	s.Duration = 0
	var rows []row
	for _, x := range l.rows {
		if x.isChange() || l.Text.Verbose {
			rows = append(rows, x)
		}
	}
	terminal.Fprintf(l.Text.W, "### %s\n\n%s\n", code(title), strings.Replace(l.Text.summary(s).String(), " (0s)", "", 1))
	l.table(rows, "")
}

// Compare returns the differences from the plan of an earlier version.
func (l *Listing) Compare(earlier *Listing) Comparison {
	c := Comparison{listing: l}
	old := make(map[resource.ID]row, len(earlier.rows))
	for _, x := range earlier.rows {
		old[x.event.Resource.ID] = x
	}
	for _, x := range l.rows {
		was, ok := old[x.event.Resource.ID]
		delete(old, x.event.Resource.ID)
		switch {
		case !ok:
			c.added++
			c.rows = append(c.rows, x)
		case x.wantsContent() && was.wantsContent() && x.text.Want != was.text.Want: // also of a new file, whose content is in no diff
			c.other++
			x.before, x.diff = was.mark+" "+was.story, contentBetween(l.Text, was.text, x.text)
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
		if _, ok := old[x.event.Resource.ID]; ok {
			c.gone++
			c.rows = append(c.rows, row{event: x.event, gone: true, mark: "-", story: "no longer declared", before: x.mark + " " + x.story})
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
	listing                  *Listing // the later plan
	rows                     []row
	added, gone, other, same int
}

// Differs reports whether the plans differ.
func (c Comparison) Differs() bool { return len(c.rows) > 0 }

// Print writes the differences as text. Version is the name of the earlier version.
func (c Comparison) Print(version string) {
	d := Digest{Failures: &Failures{Text: c.listing.Text}, Layout: c.listing.Layout}
	w := d.Text.W
	groups := d.Layout.arrange(c.rows, d.Text.Verbose)
	if d.Layout.Counts {
		d.tellCounts(groups)
		groups = nil
	}
	for _, g := range groups {
		name, story, diff := g.line()
		terminal.Fprintf(w, "%s %s: %s\n", g[0].mark, name, terminal.IndentedText(story, indent))
		if g[0].before != "" {
			terminal.Fprintf(w, "    in %s: %s\n", version, terminal.IndentedText(g[0].before, indent))
		}
		terminal.Fprintf(w, "%s", terminal.LinesText(diff))
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
	terminal.Fprintf(c.listing.Text.W, "### %s\n\n%s\n", code(title), strings.Replace(c.summary(version), version, code(version), 1))
	c.listing.table(c.rows, version)
}

// mostMarkdown is the number of bytes of rows and differences that are written: a comment on GitHub may have 65,536
// characters, and a note on GitLab a million.
const mostMarkdown = 60_000

// table writes rows as a table, failures first, and their differences below it. Version is the name of the earlier version, ""
// for a plan that is not compared.
func (l *Listing) table(rows []row, version string) {
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
	groups := l.Layout.arrange(rows, l.Text.Verbose)
	if l.Layout.Counts {
		l.countsTable(groups)
		return
	}
	var table, details strings.Builder
	table.WriteString("\n| | resource | plan |\n|---|---|---|\n")
	if version != "" {
		table.Reset()
		fmt.Fprintf(&table, "\n| | resource | plan | %s |\n|---|---|---|---|\n", code(version))
	}
	rest, without := 0, 0
	for _, g := range groups {
		name, story, diff := g.line()
		line := fmt.Sprintf("| %s | %s | %s |", code(g[0].mark), code(name), code(story))
		if version != "" {
			line += " " + code(g[0].before) + " |"
		}
		if table.Len()+len(line) > mostMarkdown/2 {
			rest += len(g)
			continue
		}
		table.WriteString(line + "\n")
		switch block := fenced(name, diff); {
		case diff == "":
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
	terminal.Fprintf(l.Text.W, "%s", terminal.LinesText(table.String()))
}

// countsTable writes the numbers of resources by type and action, and what fails.
func (l *Listing) countsTable(groups []group) {
	var b strings.Builder
	b.WriteString("\n| | resources | plan |\n|---|---|---|\n")
	list, others := counts(groups)
	for _, c := range list {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(c.row.mark), code(c.resources()), code(c.row.action()))
	}
	if others != "" {
		fmt.Fprintf(&b, "| | %s | |\n", others)
	}
	for _, g := range groups {
		if x := g[0]; x.event.Outcome == event.Failed {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", code(x.mark), code(x.event.Resource.ID.String()), code(x.story))
		}
	}
	terminal.Fprintf(l.Text.W, "%s", terminal.LinesText(b.String()))
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
