package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/test/tally"
)

// The lines around the table.
const (
	begin = "<!-- written by make reliability -->\n"
	end   = "<!-- end -->\n"
	head  = "| broken | what must hold | test | tried | failed |\n|---|---|---|---|---|\n"
)

// update returns the document with the counts of a run in its table. Rows of tests that did not run keep their place
// and counts; rows of tests that no longer exist are removed.
func update(doc string, counts []tally.Row, tests []string) (string, error) {
	before, table, after, err := split(doc)
	if err != nil {
		return "", err
	}
	rows, err := parse(table)
	if err != nil {
		return "", err
	}
	ran := func(r tally.Row) bool {
		return slices.ContainsFunc(counts, func(c tally.Row) bool { return c.Test == r.Test })
	}
	var out []tally.Row
	placed := make(map[string]bool)
	for _, r := range rows {
		switch {
		case !slices.Contains(tests, r.Test) || placed[r.Test]:
		case ran(r):
			out, placed[r.Test] = append(out, of(counts, r.Test)...), true
		default:
			out = append(out, r)
		}
	}
	for _, c := range counts {
		if !placed[c.Test] {
			out, placed[c.Test] = append(out, of(counts, c.Test)...), true
		}
	}
	return before + begin + format(out) + end + after, nil
}

// split returns the table of a document, and the text before and after it.
func split(doc string) (before, table, after string, err error) {
	before, rest, ok := strings.Cut(doc, begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		err = fmt.Errorf("expected a line %q and after it a line %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before, table, after, err
}

// of returns the rows of a test.
func of(rows []tally.Row, test string) (out []tally.Row) {
	for _, r := range rows {
		if r.Test == test {
			out = append(out, r)
		}
	}
	return out
}

// sum parses the lines that tests have written, and adds up those with the same words. They are sorted by the test
// and the words.
func sum(lines []byte) ([]tally.Row, error) {
	var rows []tally.Row
	for line := range bytes.Lines(lines) {
		var r tally.Row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		same := func(o tally.Row) bool { return o.Test == r.Test && o.Broken == r.Broken && o.Holds == r.Holds }
		if i := slices.IndexFunc(rows, same); i >= 0 {
			rows[i].Tried += r.Tried
			rows[i].Failed += r.Failed
			continue
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b tally.Row) int {
		return strings.Compare(a.Test+"\x00"+a.Broken, b.Test+"\x00"+b.Broken)
	})
	return rows, nil
}

func format(rows []tally.Row) string {
	var b strings.Builder
	b.WriteString(head)
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | `%s` | %d | %d |\n", cell(r.Broken), cell(r.Holds), r.Test, r.Tried, r.Failed)
	}
	return b.String()
}

// parse parses the output of format.
func parse(table string) (rows []tally.Row, err error) {
	lines := strings.SplitAfter(table, "\n")
	for _, line := range lines[min(2, len(lines)):] {
		if line == "" {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|\n"), `\|`, "\x00"), "|")
		if len(cells) != 5 {
			return nil, fmt.Errorf("expected five cells, got %d: %s", len(cells), line)
		}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
		}
		r := tally.Row{Broken: cells[0], Holds: cells[1], Test: strings.Trim(cells[2], "`")}
		for i, to := range []*int64{&r.Tried, &r.Failed} {
			if *to, err = strconv.ParseInt(cells[3+i], 10, 64); err != nil {
				return nil, fmt.Errorf("%w: %s", err, line)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}
