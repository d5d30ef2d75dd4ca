package resources

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Size is a number of bytes, written as a whole number with a unit: 512MiB,
// 10GiB, 2GB, 4096B.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// UnmarshalText reads a size of one byte or more.
func (s *Size) UnmarshalText(text []byte) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(string(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return diag.Expected(`a size such as "512MiB" or "10GiB"`).Got("%q", text)
}

// NumberHint is the advice for a bare number.
func (Size) NumberHint(num string) string { return fmt.Sprintf(`write the unit: "%sB"`, num) }

// String formats s so that UnmarshalText reads it.
func (s Size) String() string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// PropertyKind implements schema.KindReporter.
func (Size) PropertyKind() string { return "size" }

// JSONSchema implements schema.JSONSchemer.
func (Size) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^[0-9]+ ?([KMGT]i?B|kB|B)$", "examples": []any{"512MiB", "10GiB"}}
}
