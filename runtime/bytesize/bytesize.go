// Package bytesize formats numbers of bytes for people.
package bytesize

import "fmt"

// Format formats a number of bytes for people, in units of 1024.
func Format(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1024, 0
	for x >= 1024 && unit < 4 {
		x, unit = x/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", x, "KMGTP"[unit])
}
