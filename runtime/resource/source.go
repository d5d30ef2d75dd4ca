package resource

import "embed"

// Source is the source text from which the reference of the common properties is generated.
//
//go:embed resource.go healthcheck.go registration.go
var Source embed.FS
