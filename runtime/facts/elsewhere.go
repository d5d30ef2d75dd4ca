package facts

import (
	_ "embed"
	"fmt"
	"strings"
)

// elsewhere has lines of a name of a fact in facter or Ansible, and ours. They are those of the table in docs/facts.md.
//
//go:generate env UPDATE=1 go test -count=1 -run ^TestElsewhere$ .
//go:embed elsewhere.txt
var elsewhere string

// HintElsewhere returns which fact has the value that facter or Ansible has at a path, or "".
func HintElsewhere(path string) string {
	if path = strings.TrimPrefix(path, "ansible_"); path == "" {
		return ""
	}
	_, line, found := strings.Cut("\n"+elsewhere, "\n"+path+" ")
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(line, "\n")
	return fmt.Sprintf("did you mean %q?", name)
}
