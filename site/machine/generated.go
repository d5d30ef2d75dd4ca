package machine

import (
	_ "embed" // the table
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed generated.txt
var generatedText string

// A generatedRow is a line of generated.txt.
type generatedRow struct{ kind, pattern, reason string }

// generatedRows parses generated.txt.
var generatedRows = sync.OnceValue(func() (rows []generatedRow) {
	for _, line := range settings(generatedText) {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			rows = append(rows, generatedRow{f[0], f[1], f[2]})
		}
	}
	return rows
})

// generatedReason returns the reason why a thing of that kind is not reported, "" if it is. A path means that it is not
// reported if it is a copy of that file.
func generatedReason(kind, name string) string { return generated(kind, name).reason }

// generated returns the first row of that kind that matches a name, an empty one if there is none.
func generated(kind, name string) generatedRow {
	for _, row := range generatedRows() {
		if row.kind == kind && matches(row.pattern, name) {
			return row
		}
	}
	return generatedRow{}
}

// matches reports whether a name matches a pattern, in which * is any text and ? one byte.
func matches(pattern, name string) bool {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '*' {
			if i == len(pattern)-1 {
				return true
			}
			for at := i; at <= len(name); at++ {
				if matches(pattern[i+1:], name[at:]) {
					return true
				}
			}
			return false
		}
		if i >= len(name) || pattern[i] != '?' && pattern[i] != name[i] {
			return false
		}
	}
	return len(pattern) == len(name)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
