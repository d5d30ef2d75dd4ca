package schema

import (
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
)

// otherWords has the properties of ccm for words of Ansible, Puppet and Salt. The first that a type has is the one that is meant.
var otherWords = map[string][]string{
	"state":         {"ensure"},
	"running":       {"ensure"},
	"version":       {"ref", "ensure"},
	"revision":      {"ref"},
	"repo":          {"url"},
	"src":           {"source"},
	"dest":          {"extract_parent", "path", "name"},
	"extract_path":  {"extract_parent"},
	"ignore_errors": {"ignore_failure"},
	"become_user":   {"user"},
	"user":          {"owner"},
	"gid":           {"group"},
	"permissions":   {"mode"},
	"cmd":           {"command"},
	"args":          {"command"},
	"chdir":         {"cwd"},
	"changed_when":  {"changed_if"},
	"failed_when":   {"returns"},
	"validate_cmd":  {"validate"},
	"until":         {"tries"},
	"delay":         {"try_sleep"},
	"regexp":        {"match"},
	"fstype":        {"type"},
	"opts":          {"options"},
	"minute":        {"schedule"},
	"hour":          {"schedule"},
	"listen":        {"subscribe"},
	"onchanges":     {"subscribe"},
	"watch":         {"subscribe"},
}

// otherHints has what to do instead of such a word for which there is no property.
var otherHints = map[string]string{
	"when":        conditionHint,
	"if":          conditionHint,
	"unless":      conditionHint,
	"onlyif":      conditionHint,
	"loop":        loopHint,
	"foreach":     loopHint,
	"for_each":    loopHint,
	"with_items":  loopHint,
	"become":      becomeHint,
	"become_user": becomeHint,
	"register":    "use the handle that the resource returns",
	"recurse":     directoryHint,
	"purge":       directoryHint,
	"noop":        "run ccm with --noop",
}

const (
	conditionHint = "use if, or in a manifest control: { if: ... }"
	directoryHint = "use std.directory for a tree"

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

// UnknownProperty returns [diag.Unknown] for a property, with a hint also for a word of another tool.
func UnknownProperty(name string, known []string) error {
	err := diag.Unknown("property", name, known)
	for _, property := range otherWords[name] {
		if slices.Contains(known, property) {
			return &unknownProperty{err, "use " + property}
		}
	}
	if hint := otherHints[name]; hint != "" {
		return &unknownProperty{err, hint}
	}
	return err
}
