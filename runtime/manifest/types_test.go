package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
)

// The types of these tests are like those that ship, as far as a front end can
// see. The real ones are loaded by the examples.

type state struct{}

type provider[P any] struct{}

func (provider[P]) Status(context.Context, *host.View, P) (state, error) { return state{}, nil }

type noState struct{}

func (noState) Validate() error                { return nil }
func (noState) Decide(state) resource.Decision { return resource.Decision{} }

// Mode is a property with its own syntax.
type Mode string

func (m *Mode) UnmarshalText(text []byte) error {
	digits := strings.TrimPrefix(string(text), "0o")
	if _, err := strconv.ParseUint(strings.ReplaceAll(digits, "x", "0"), 8, 12); err != nil {
		return fmt.Errorf("expected octal permissions such as \"0644\", got %q", text)
	}
	*m = Mode(text)
	return nil
}

// JSONSchema implements schema.JSONSchemer.
func (Mode) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^(0o)?[0-7x]{3,4}$"}
}

type Ensure string

func (Ensure) Values() []string { return []string{"present", "absent", "directory"} }

// File is like the type file.
type File struct {
	noState
	Name        string  `ccm:"name,name,alias=path"`
	Ensure      Ensure  `ccm:"ensure,default=present"`
	Content     *string `ccm:"content,alias=contents"`
	Source      string  `ccm:"source"`
	ContentOnce bool    `ccm:"content_once"`
	Owner       string  `ccm:"owner"`
	Group       string  `ccm:"group"`
	Mode        *Mode   `ccm:"mode"`
	Force       bool    `ccm:"force"`
}

func (f File) Validate() error {
	if !filepath.IsAbs(f.Name) {
		return resource.PropertyErrorf("name", "expected an absolute path, got %q", f.Name)
	}
	if f.Ensure != "absent" && f.Owner == "" {
		return &resource.PropertyError{Property: "owner", Err: errors.New("is required unless ensure is absent")}
	}
	if f.Content != nil && f.Source != "" {
		return resource.PropertyErrorf("source", "cannot be used together with content")
	}
	return nil
}

func (f *File) ResolvePaths(dir string) {
	if f.Source != "" && !filepath.IsAbs(f.Source) && !strings.Contains(f.Source, "://") {
		f.Source = filepath.Join(dir, f.Source)
	}
}

func (f File) Perform(context.Context, *host.Host, provider[File], resource.Action) error { return nil }

// Package is like the type package.
type Package struct {
	noState
	Name   string `ccm:"name,name"`
	Ensure string `ccm:"ensure,default=present"`
}

func (Package) Perform(context.Context, *host.Host, provider[Package], resource.Action) error {
	return nil
}

// Exec is like the type exec.
type Exec struct {
	noState
	Name        string            `ccm:"name,name"`
	Command     string            `ccm:"command"`
	Environment []string          `ccm:"environment"`
	Returns     []int             `ccm:"returns,default=0"`
	Timeout     host.Duration     `ccm:"timeout,default=0"`
	RefreshOnly bool              `ccm:"refreshonly,alias=refresh_only"`
	Headers     map[string]string `ccm:"headers"`
	Any         map[string]any    `ccm:"any"`
}

func (Exec) Perform(context.Context, *host.Host, provider[Exec], resource.Action) error { return nil }

func (Exec) Refresh(_ state, d resource.Decision) resource.Decision { return d }

// Apply is like the type apply.
type Apply struct {
	noState
	Name            string         `ccm:"name,name"`
	Noop            bool           `ccm:"noop"`
	HealthCheckOnly bool           `ccm:"health_check_only"`
	AllowApply      bool           `ccm:"allow_apply,default=true"`
	Data            map[string]any `ccm:"data"`
}

func (a Apply) Traits() resource.Traits { return resource.Traits{Child: a.child} }

func (a Apply) child() resource.Child {
	c := resource.Child{Path: a.Name, Data: a.Data, MayApply: a.AllowApply}
	if a.Noop {
		c.Restraint = resource.Noop
	}
	if a.HealthCheckOnly {
		c.Restraint = resource.MonitorOnly
	}
	return c
}

func (Apply) Perform(context.Context, *host.Host, provider[Apply], resource.Action) error { return nil }

func (Apply) Refresh(_ state, d resource.Decision) resource.Decision { return d }

var (
	fileType    = resource.Define[File, state, provider[File]]("file")
	packageType = resource.Define[Package, state, provider[Package]]("package")
	execType    = resource.Define[Exec, state, provider[Exec]]("exec")
	applyType   = resource.Define[Apply, state, provider[Apply]]("apply")
)

func registry(t testing.TB) *resource.Registry {
	t.Helper()
	reg, err := resource.NewRegistry(
		fileType.Provide("posix", resource.Always[File](1), provider[File]{}),
		packageType.Provide("apt", resource.Always[Package](1), provider[Package]{}),
		packageType.Provide("dnf", resource.Always[Package](1), provider[Package]{}),
		execType.Provide("posix", resource.Always[Exec](1), provider[Exec]{}),
		applyType.Provide("ccmmanifest", resource.Always[Apply](1), provider[Apply]{}),
	)
	require.NoError(t, err)
	return reg
}

// A world is the environment in which a test loads a manifest.
type world struct {
	*manifest.Loader
	catalog.Builder
	units  *catalog.Units
	script func(ctx context.Context, u *catalog.Unit, text string) error
	files  fstest.MapFS
}

// newWorld returns a world with the given files, as name and text, in /site.
func newWorld(t testing.TB, files map[string]string) *world {
	w := &world{files: make(fstest.MapFS)}
	for name, text := range files {
		w.files["site/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	w.Loader = &manifest.Loader{
		Registry: registry(t),
		Facts: facts.Static(map[string]any{
			"hostname": "web01",
			"fqdn":     "web01.office.example.com",
			"os":       map[string]any{"family": "debian"},
			"host":     map[string]any{"info": map[string]any{"os": "linux", "platformFamily": "debian", "virtualizationSystem": "docker"}},
		}),
		Environ:  map[string]string{"HOME": "/root"},
		ReadFile: func(path string) ([]byte, error) { return fs.ReadFile(w.files, strings.TrimPrefix(path, "/")) },
		Now:      func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	w.units = &catalog.Units{Builder: &w.Builder, ReadFile: w.Loader.ReadFile, Load: func(ctx context.Context, u *catalog.Unit, text string) error {
		if strings.HasSuffix(u.Name, ".lua") {
			return w.script(ctx, u, text)
		}
		_, err := w.Load(ctx, u, text)
		return err
	}}
	return w
}

// load loads a manifest in /site.
func (w *world) load(t testing.TB, name, text string) (*manifest.Manifest, error) {
	t.Helper()
	m, err := w.Load(t.Context(), w.units.Root(name, "/site"), text)
	if err == nil {
		_, err = w.Builder.Build()
	}
	return m, err
}

// loaded loads a manifest that is good.
func loaded(t testing.TB, text string) *world {
	t.Helper()
	w := newWorld(t, nil)
	_, err := w.load(t, "m.yaml", text)
	require.NoError(t, err, text)
	return w
}

// ids returns the catalog as text.
func (w *world) ids() (out []string) {
	for _, r := range w.Resources() {
		out = append(out, r.ID.String())
	}
	return out
}

func spec[P any](t testing.TB, w *world, id string) P {
	t.Helper()
	ref, err := resource.ParseID(id)
	require.NoError(t, err)
	r := w.Get(ref)
	require.NotNil(t, r, id)
	return *r.Spec.(*P)
}
