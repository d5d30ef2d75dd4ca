package yamlsyntax

import (
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// otherInYAML11 matches numbers to the base of 60, numbers that contain underscores, and dates and times, in all forms of
// YAML 1.1.
var otherInYAML11 = lazyregexp.New(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$|^[-+]?(0[bx][0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$|^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)

// ReadsAsOther reports whether a string without quotes would be read as another value: by YAML 1.1, or by readers that
// take more texts for numbers. The line ends of YAML 1.1 are characters to YAML 1.2, so that the indentation behind one
// would become a part of the string.
func ReadsAsOther(s string) bool {
	if strings.ContainsAny(s, "\u0085\u2028\u2029") {
		return true
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if n.ShortTag() != "!!str" {
		return true
	}
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "=", "<<":
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || otherInYAML11().MatchString(s)
}

// FloatText returns a number as YAML. It has no exponent, because YAML 1.1 reads 1e-07 as a string.
func FloatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	case math.IsNaN(f):
		return ".nan"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
