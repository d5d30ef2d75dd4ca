package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// isNew reports whether the differences are those of a thing that did not exist.
func isNew(diff []resource.Delta) bool {
	return slices.ContainsFunc(diff, func(d resource.Delta) bool { return d.Property == "ensure" && d.Have == "absent" })
}

// newParts lists the properties of a new thing on one line: "12 lines, root:root 0644". It is ""
// if the thing is not new.
func newParts(diff []resource.Delta, text *resource.TextChange) string {
	if !isNew(diff) {
		return ""
	}
	owner, group, mode := given(diff, "owner"), given(diff, "group"), given(diff, "mode")
	together := owner != "" && group != ""
	parts := make([]string, 0, len(diff))
	if names := missingParts(diff); len(names) > 0 {
		parts = append(parts, firstParts(names))
	}
	for _, d := range diff {
		switch {
		case d.Property == "content" && text != nil:
			parts = append(parts, contentSize(d, *text))
		case d.Property == "content" && resource.IsSizeText(d.Want): // too large for a diff
			parts = append(parts, d.Want)
		case d.Have != "" || d.Want == "":
		case together && d.Property == "owner":
			parts = append(parts, strings.TrimSpace(owner+":"+group+" "+mode))
		case together && (d.Property == "group" || d.Property == "mode"):
		default:
			parts = append(parts, d.Property+" "+d.Want)
		}
	}
	return strings.Join(parts, ", ")
}

// given returns the wanted value of a property that has no present value; "" if there is none.
func given(diff []resource.Delta, property string) string {
	for _, d := range diff {
		if d.Property == property && d.Have == "" {
			return d.Want
		}
	}
	return ""
}

// differences writes the differing properties, and the diff of the text.
func (t Text) differences(b *terminal.Buffer, differing []resource.Delta, text *resource.TextChange) {
	diff, isText := "", false
	if text != nil && (t.Diff == DiffFull || t.Diff == DiffChanges && text.HaveExists) {
		diff, isText = Unified(*text)
	}
	fresh := isNew(differing)
	var given []string
	names, mentioned := missingParts(differing), false
	if len(names) < 2 && !fresh || t.Verbose {
		names = nil
	}
	for _, d := range differing {
		_, isMissing := resource.CutMissingPart(d.Have)
		switch {
		case isMissing && names != nil:
			if !fresh && !mentioned { // see newParts
				b.Printf("    %s  %d missing: %s → %s\n", d.Property, len(names), firstParts(names), d.Want)
			}
			mentioned = true
		case fresh && (d.Have == "" || d.Property == "content"): // see newParts
		case d.Have == "" && d.Want != "" && (d.Property != "content" || d.Want == resource.KnownAfterRun):
			given = append(given, d.Property+" "+d.Want)
		case d.Property == "ensure" && (d.Have == "absent" || resource.IsAbsent(d.Want)):
		case d.Property == "content" && isText:
		case d.Property == "content" && text != nil:
			b.Printf("    content  %s\n", contentChange(d, *text))
		default:
			b.Printf("    %s  %s → %s\n", d.Property, or(d.Have, "(none)"), or(d.Want, "(none)"))
		}
	}
	if len(given) > 0 {
		b.Printf("    %s\n", strings.Join(given, ", "))
	}
	if isText {
		t.unified(b, diff)
	}
}

// contentChange describes the change of a content in one line.
func contentChange(d resource.Delta, x resource.TextChange) string {
	if added, removed, isText := lineCounts(x); isText {
		return fmt.Sprintf("+%d -%d lines", added, removed)
	}
	have := "(none)"
	if x.HaveExists {
		have = sizeAndSum(x.Have, d.Have)
	}
	want := "(none)"
	if x.WantExists {
		want = sizeAndSum(x.Want, d.Want)
	}
	return have + " → " + want
}

// contentSize returns the size of a new content in words.
func contentSize(d resource.Delta, x resource.TextChange) string {
	if isText(x.Want) {
		return words.Count(lines(x.Want), "line")
	}
	return sizeAndSum(x.Want, d.Want)
}

// sizeAndSum describes a content that is no text, given its text in a difference.
func sizeAndSum(content, side string) string {
	if resource.IsSizeText(side) {
		return side
	}
	return fmt.Sprintf("%d bytes %s", len(content), side)
}

func (t Text) unified(b *terminal.Buffer, diff string) {
	if n := lines(diff); t.DiffLines > 0 && n > t.DiffLines {
		all := strings.SplitAfterN(diff, "\n", t.DiffLines+1)
		diff = strings.TrimSuffix(diff, all[t.DiffLines])
		defer b.Printf("    %s (--diff-lines %d)\n", words.Count(n-t.DiffLines, "more line", "more lines"), n)
	}
	if !t.Color {
		b.Print(terminal.LinesText(diff))
		return
	}
	for line := range strings.Lines(diff) {
		var style terminal.Style
		switch line[0] {
		case '+':
			style = terminal.Green
		case '-':
			style = terminal.Red
		case '@':
			style = terminal.Cyan
		}
		b.Printf("%s\n", style.Paint(terminal.LinesText(strings.TrimSuffix(line, "\n"))))
	}
}

func or(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}
