package stubs

import _ "embed" // for spec.lua

// Spec is the definition file of the words of spec files.
//
//go:embed spec.lua
var Spec []byte
