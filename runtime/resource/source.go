package resource

import "embed"

// Source is the text of this package, from which the documentation of the
// properties that every type has is taken.
//
//go:embed resource.go healthcheck.go registration.go
var Source embed.FS
