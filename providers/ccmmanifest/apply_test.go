package ccmmanifest

import (
	"testing"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
)

func TestApplySuite(t *testing.T) {
	resourcetest.Suite[resources.Apply, resources.ApplyState, resources.ApplyProvider]{
		Type: resources.ApplyType, Provider: manifests{},
		Starts: map[string]func(*testing.T, string) host.Runner{"empty": func(*testing.T, string) host.Runner { return nil }},
		Wants: map[string]resources.Apply{
			"manifest": {Name: "web.yaml", Ensure: resources.ApplyPresent, AllowApply: true},
			"noop":     {Name: "web.lua", Ensure: resources.ApplyPresent, Noop: true},
		},
		Phrases: map[string][]string{"empty/manifest": {}, "empty/noop": {}},
	}.Run(t)
}
