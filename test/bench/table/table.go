// Package table writes a large table of data, for the benchmarks of all that
// reads such tables.
package table

import (
	"fmt"
	"strings"
)

// Values is how many values a table has that benchmarks read.
const Values = 100_000

// JSON returns a list of n/4 objects with four values each, in JSON.
func JSON(n int) string {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range n / 4 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `  {"name": "host-%06d", "address": "10.%d.%d.%d", "port": %d, "enabled": %v}`, i, i>>16, i>>8&255, i&255, 1024+i%60000, i%3 > 0)
	}
	b.WriteString("\n]\n")
	return b.String()
}

// YAML returns the same in YAML.
func YAML(n int) string {
	var b strings.Builder
	for i := range n / 4 {
		fmt.Fprintf(&b, "- name: host-%06d\n  address: 10.%d.%d.%d\n  port: %d\n  enabled: %v\n", i, i>>16, i>>8&255, i&255, 1024+i%60000, i%3 > 0)
	}
	return b.String()
}
