// Package ccmmanifest has the provider of the type apply: manifests and scripts that a site applies.
// They are read when the catalog is built, so that a mistake in one stops the run before any change.
// The provider has nothing left to do.
package ccmmanifest

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{
		resources.ApplyType.Provide("ccmmanifest", resource.Always[resources.Apply](1), manifests{}),
	}
}

type manifests struct{}

// Describe implements resource.SelfDescriber.
func (manifests) Describe() resource.Description {
	return resource.Description{Doc: "Reads the manifest or script together with the site. Its resources are managed like all others.", Commands: []string{}}
}

// Status implements resources.ApplyProvider.
func (manifests) Status(context.Context, *host.View, resources.Apply) (resources.ApplyState, error) {
	return resources.ApplyState{}, nil
}
