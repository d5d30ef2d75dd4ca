package reference

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/docs/markdown"
)

// guidesTo returns links to the guides that lead to a page of the reference, for a page in a
// folder below it.
func (s Source) guidesTo(page string) (string, error) {
	files, err := filepath.Glob(filepath.Join(s.Repository, "docs", "*.md"))
	if err != nil {
		return "", err
	}
	var links []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		doc := markdown.Parse(string(text))
		for _, l := range doc.Links() {
			if target, _, _ := strings.Cut(l.Destination, "#"); target == "reference/"+page && !strings.HasPrefix(filepath.Base(file), "coming-from-") {
				links = append(links, "["+prose(doc.Headings()[0].Text)+"](../../"+filepath.Base(file)+")")
				break
			}
		}
	}
	return strings.Join(links, ", "), nil
}
