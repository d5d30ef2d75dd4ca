package main

import (
	"slices"

	"github.com/luaccm/ccm/providers/apt"
	"github.com/luaccm/ccm/providers/ccmmanifest"
	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/providers/dnf"
	"github.com/luaccm/ccm/providers/http"
	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/providers/systemd"
	"github.com/luaccm/ccm/runtime/resource"
)

// registry returns the types and providers that ship with ccm: one line for
// each folder in providers. Templates see s. Types that scripts define are added
// to it, those that ship with ccm when they are asked for.
func registry(s *surroundings) (*resource.Registry, error) {
	all := slices.Concat(
		apt.Providers(),
		ccmmanifest.Providers(),
		choria.Providers(s.environment),
		dnf.Providers(),
		http.Providers(),
		posix.Providers(),
		systemd.Providers(),
	)
	for _, x := range s.instead {
		all = slices.DeleteFunc(all, func(f resource.Factory) bool { return f.Type == x.Type })
	}
	reg, err := resource.NewRegistry(append(all, s.instead...)...)
	if err != nil {
		return nil, err
	}
	return reg.WithFinder(findShipped), nil
}
