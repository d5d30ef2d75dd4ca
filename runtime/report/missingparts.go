package report

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
)

// maxParts is the number of missing parts that are named without Verbose.
const maxParts = 3

// missingParts returns the names of missing parts, such as files of a scaffold.
func missingParts(diff []resource.Delta) (names []string) {
	for _, d := range diff {
		if name, ok := resource.CutMissingPart(d.Have); ok {
			names = append(names, name)
		}
	}
	return names
}

// firstParts lists the first names on one line, and the number of the others. If there is only
// one more, it is listed too.
func firstParts(names []string) string {
	if len(names) <= maxParts+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxParts], ", "), len(names)-maxParts)
}
