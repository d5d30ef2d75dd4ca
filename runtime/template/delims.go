package template

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// The delimiters of Jet templates, unless others are given.
const (
	JetLeft  = "[["
	JetRight = "]]"
)

// CheckDelims reports a Jet template that has Jet's default delimiters and none of ccm's, so that
// no value would be inserted. What is its name in the message.
func CheckDelims(what, text string) error {
	if !strings.Contains(text, "{{") || strings.Contains(text, JetLeft) {
		return nil
	}
	return diag.At(diag.Pos{}, diag.Contains(what, "{{ but no [[, so nothing in it would be rendered")).
		WithHint("use [[ ]], or set the delimiters to {{ and }}; to keep {{ literally, set them to [[ and ]]")
}
