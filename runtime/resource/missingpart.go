package resource

import "strings"

const missing = " is missing"

// MissingPart represents a part that is not there, such as a file of a tree, in a
// difference.
func MissingPart(name string) string { return name + missing }

// CutMissingPart returns the name that a text of MissingPart has.
func CutMissingPart(side string) (name string, ok bool) { return strings.CutSuffix(side, missing) }
