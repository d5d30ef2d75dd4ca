package cli

import (
	"context"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
)

// RenderManifest prints a manifest with all its expressions resolved.
func RenderManifest(ctx context.Context, e *Env, name string, f *SiteFlags) error {
	m, err := LoadManifest(ctx, e, name, f)
	if err != nil {
		return err
	}
	text, err := m.Render()
	if err != nil {
		return err
	}
	_, err = e.Print().Data().Write(text)
	return err
}

// LoadManifest reads a manifest. A script is refused.
func LoadManifest(ctx context.Context, e *Env, name string, f *SiteFlags) (*manifest.Manifest, error) {
	o := *f.SiteOptions()
	o.Whole = true
	s, err := e.Load(ctx, name, nil, &o)
	switch {
	case err != nil:
		return nil, err
	case s.Manifest == nil:
		return nil, diag.At(diag.Pos{File: name}, diag.Expected("a manifest").Found("a Lua script"))
	}
	return s.Manifest, nil
}
