package main

import (
	"context"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
)

// renderManifest prints the manifest with all that is resolved in it.
func renderManifest(ctx context.Context, e *env, name string, f *siteFlags) error {
	m, err := loadManifest(ctx, e, name, f)
	if err != nil {
		return err
	}
	text, err := m.Render()
	if err != nil {
		return err
	}
	_, err = e.print().data().Write(text)
	return err
}

// loadManifest reads a manifest. A script is refused.
func loadManifest(ctx context.Context, e *env, name string, f *siteFlags) (*manifest.Manifest, error) {
	m, err := e.LoadManifest(ctx, name, f.options())
	if err == nil && m == nil {
		err = diag.Errorf(diag.Pos{File: name}, "want a manifest, found a Lua script")
	}
	return m, err
}
