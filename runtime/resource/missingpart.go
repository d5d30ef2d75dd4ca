package resource

import "strings"

const missing = " is missing"

// MissingPart represents, in a difference, a part that is missing, such as a file of a tree.
func MissingPart(name string) string { return name + missing }

// CutMissingPart returns the name in a text of MissingPart.
func CutMissingPart(side string) (name string, ok bool) { return strings.CutSuffix(side, missing) }
