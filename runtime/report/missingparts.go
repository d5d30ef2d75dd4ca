package report

import (
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/resource"
)

// maxParts is how many missing parts are named without Verbose.
const maxParts = 3

// missingParts returns the names of parts that are not there, such as files of a scaffold.
func missingParts(diff []resource.Delta) (names []string) {
	for _, d := range diff {
		if name, ok := resource.CutMissingPart(d.Have); ok {
			names = append(names, name)
		}
	}
	return names
}

// firstParts lists the first names on one line, and how many more there are. If only one
// would be left out it is listed too.
func firstParts(names []string) string {
	if len(names) <= maxParts+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxParts], ", "), len(names)-maxParts)
}
