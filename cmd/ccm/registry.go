package main

import (
	"slices"

	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/runtime/resource"
)

// registry returns the types and providers that ship with ccm: one line for
// each folder in providers.
func registry() (*resource.Registry, error) {
	return resource.NewRegistry(slices.Concat(
		posix.Providers(),
	)...)
}
