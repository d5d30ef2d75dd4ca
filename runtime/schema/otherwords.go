package schema

import (
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
)

// ansibleWords has the properties of ccm for words of Ansible. The first that a type has is the one that is meant.
var ansibleWords = map[string][]string{
	"state":         {"ensure"},
	"src":           {"source"},
	"dest":          {"extract_parent", "path", "name"},
	"ignore_errors": {"ignore_failure"},
	"become_user":   {"user"},
	"chdir":         {"cwd"},
	"changed_when":  {"changed_if"},
	"failed_when":   {"returns"},
	"until":         {"tries"},
	"delay":         {"try_sleep"},
	"regexp":        {"match"},
}

// ansibleHints has what to do instead of a word of Ansible for which there is no property.
var ansibleHints = map[string]string{
	"when":        "use if, or in a manifest control: { if: ... }",
	"loop":        loopHint,
	"with_items":  loopHint,
	"become":      becomeHint,
	"become_user": becomeHint,
	"register":    "use the handle that the resource returns",
}

const (
	loopHint   = "use for, or range in a template"
	becomeHint = "run ccm as root, or with ccm ssh --sudo"
)

// An unknownProperty is about a name that is none of the properties.
type unknownProperty struct {
	error
	hint string
}

// Unwrap returns the message.
func (e *unknownProperty) Unwrap() error { return e.error }

// Hint returns what to write instead, or "".
func (e *unknownProperty) Hint() string { return e.hint }

// UnknownProperty returns [diag.Unknown] for a property, with a hint also for a word of Ansible.
func UnknownProperty(name string, known []string) error {
	err := diag.Unknown("property", name, known)
	for _, property := range ansibleWords[name] {
		if slices.Contains(known, property) {
			return &unknownProperty{err, "use " + property}
		}
	}
	if hint := ansibleHints[name]; hint != "" {
		return &unknownProperty{err, hint}
	}
	return err
}
