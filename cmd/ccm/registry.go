package main

import (
	"slices"

	"github.com/luaccm/ccm/providers/apt"
	"github.com/luaccm/ccm/providers/dnf"
	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/providers/systemd"
	"github.com/luaccm/ccm/runtime/resource"
)

// registry returns the types and providers that ship with ccm: one line for
// each folder in providers.
func registry() (*resource.Registry, error) {
	return resource.NewRegistry(slices.Concat(
		apt.Providers(),
		dnf.Providers(),
		posix.Providers(),
		systemd.Providers(),
	)...)
}
