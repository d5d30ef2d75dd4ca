package resource

import (
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Tag is a word by which resources are selected. It has no space and no comma, which
// separate tags on the command line.
type Tag string

// UnmarshalText reads a tag.
func (t *Tag) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "" {
		return diag.Expected("a tag").Got("an empty text")
	}
	if strings.HasPrefix(s, "-") || strings.ContainsFunc(s, notInTag) {
		return diag.Expected("a tag of letters, digits and _ - . : / such as web").Got("%q", s)
	}
	*t = Tag(s)
	return nil
}

// String returns the word.
func (t Tag) String() string { return string(t) }

// JSONSchema implements schema.JSONSchemer.
func (Tag) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[\p{L}\p{N}_.:/][\p{L}\p{N}_.:/-]*$`}
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_-.:/", r)
}
