// Package manifest translates YAML manifests into the catalog that Lua scripts
// build, with the place of everything that it declares.
//
// Package site makes one [Loader] for a run, which declares a manifest in a unit
// of the catalog:
//
//	l := &manifest.Loader{Registry: reg, Facts: fs, Environ: env, ReadFile: os.ReadFile, Now: h.Now}
//	m, err := l.Load(ctx, units.Root("site.yaml", dir), text) // the error is a diag.List of every mistake
//
// Loader.Sources has the texts for diag.Render.
package manifest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/heap"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/template"
)

// A Loader loads the manifests of one run into one catalog. Registry and ReadFile are required. It
// is not safe for concurrent use.
type Loader struct {
	// Registry has the types that can be declared.
	Registry *resource.Registry
	// Facts are the facts of the machine.
	Facts *facts.Facts
	// Environ is the environment in expressions, including ./.env.
	Environ map[string]string
	// ReadFile reads a file of the user.
	ReadFile func(path string) ([]byte, error)
	// Now is the time in expressions.
	Now func() time.Time
	// Overlays are hierarchy documents whose data is merged over the data of every manifest.
	Overlays []Source
	// Module loads a module with types for the manifest u, with the search path of a script in the
	// same place. Nil refuses modules.
	Module func(ctx context.Context, u *catalog.Unit, name string) error
	// Fetch downloads an http or https URL, for TinyCM templates. Nil refuses them.
	Fetch func(ctx context.Context, url string) ([]byte, error)
	// KVGet returns the value of a key in a key-value bucket. Nil: expressions have no kvGet().
	KVGet func(bucket, key string) (string, error)
	// Registrations finds services in the registry. Nil: expressions have no registrations().
	Registrations func(cluster, protocol, service, address string) (any, error)
	// Secrets gets the texts of sensitive tables. May be nil.
	Secrets *secret.Keeper
	// Open decrypts a text of data. Nil leaves encrypted texts unchanged.
	Open data.Opener
	// Dialect is "ccm" or "tinycm"; if empty, the name of the manifest decides.
	Dialect string
	// Warn gets probable mistakes with their positions. May be nil.
	Warn func(pos diag.Pos, msg string)
	// Strict turns warnings into mistakes.
	Strict bool
	// Timeout bounds the time for reading one manifest and evaluating its expressions; 0
	// for none.
	Timeout time.Duration
	// WaitTime is the total time of questions to a person so far in this process, which Timeout
	// excludes. May be nil.
	WaitTime func() time.Duration
	// Light saves memory by dropping data that only [Manifest.Render] and [Manifest.Convert] need.
	Light bool

	base    *template.Env
	overlay *data.Resolution // the overlays, merged
	texts   map[string]string
}

// A Source is the text of a file.
type Source struct{ File, Text string }

// A Manifest is the result of loading a manifest; its resources are in the catalog.
type Manifest struct {
	// Data is the resolved data.
	Data map[string]any
	// FailOnError ends the run at the first failure.
	FailOnError bool
	// PreMessage and PostMessage are shown before and after the run.
	PreMessage, PostMessage string
	// Modules are the modules whose types the manifest uses.
	Modules []string
	// Resources are the resources of this manifest, in order; none if the Loader is Light.
	Resources []ResolvedResource

	file     string
	usesData bool // whether the manifest has data, hierarchy or overrides
	env      *template.Env
}

// Load declares the resources of a manifest in u. Its error is a [diag.List] of every mistake in
// the manifest and in the files that it applies.
func (l *Loader) Load(ctx context.Context, u *catalog.Unit, text string) (*Manifest, error) {
	l.remember(u.Name, text)
	full := new(atomic.Bool)
	defer heap.Watch(maxMemory, func() { full.Store(true) }).Stop()
	r := &reader{full: full, Unit: u, loader: l, ctx: ctx, text: text, m: &Manifest{file: u.Name}, reported: make(map[diag.Pos]bool)}
	if l.isTinyCM(u.Name) {
		t := &tinyReader{reader: r, constants: make(map[string]any), byName: make(map[string]*definition)}
		return t.manifest()
	}
	return r.manifest()
}

// env returns an environment of expressions with facts and environment, without data.
func (l *Loader) env() *template.Env {
	if l.base == nil {
		l.base = template.New(template.Options{Facts: l.Facts, Environ: l.Environ, ReadFile: l.readTemplate, KVGet: l.KVGet, Registrations: l.Registrations, Now: l.Now})
	}
	return l.base
}

// readTemplate reads a file for an expression, and keeps its text for messages.
func (l *Loader) readTemplate(path string) ([]byte, error) {
	text, err := l.ReadFile(path)
	if err == nil {
		l.remember(path, string(text))
	}
	return text, err
}

// Sources finds the texts that were loaded.
func (l *Loader) Sources() diag.Sources {
	return func(file string) (string, bool) {
		text, ok := l.texts[file]
		return l.Secrets.Stars(data.HideSensitive(text)), ok
	}
}

// remember keeps a text for messages.
func (l *Loader) remember(file, text string) {
	if l.texts == nil {
		l.texts = make(map[string]string)
	}
	l.texts[file] = text
}

// overlayData returns the merged data of the overlays.
func (l *Loader) overlayData() (data.Resolution, error) {
	if l.overlay != nil {
		return *l.overlay, nil
	}
	var all data.Resolution
	var errs diag.List
	for _, src := range l.Overlays {
		r, err := l.resolve(src, "ccm")
		errs.Add(err)
		all.Data = data.Merge(all.Data, r.Data)
		all.Rules = append(all.Rules, r.Rules...)
	}
	if err := errs.Err(); err != nil {
		return data.Resolution{}, err
	}
	l.overlay = &all
	return all, nil
}

// resolve returns the data of one hierarchy document.
func (l *Loader) resolve(src Source, others ...string) (data.Resolution, error) {
	l.remember(src.File, src.Text)
	doc, err := data.Parse(src.File, src.Text)
	if err != nil {
		return data.Resolution{}, err
	}
	return data.Resolve(doc, l.env().ForData(), l.Secrets.Keep, l.Open, others...)
}

// Data returns the resolved data of a hierarchy document with given and the overlays
// merged over it, and checks its rules. A manifest is a hierarchy document too.
func (l *Loader) Data(src Source, given map[string]any) (map[string]any, error) {
	r, err := l.resolve(src, "ccm")
	if err != nil {
		return nil, err
	}
	return l.mergeOverlays(r, given)
}

// mergeOverlays merges given and the overlays over data, and checks the rules.
func (l *Loader) mergeOverlays(r data.Resolution, given map[string]any) (map[string]any, error) {
	over, err := l.overlayData()
	if err != nil {
		return nil, err
	}
	if len(given) > 0 {
		revealed, err := data.Reveal(given, l.Secrets.Keep)
		if err != nil {
			return nil, err
		}
		r.Data = data.Merge(r.Data, revealed.(map[string]any))
	}
	r.Data = data.Merge(r.Data, over.Data)
	r.Rules = append(slices.Clip(r.Rules), over.Rules...)
	return r.Data, r.Check()
}

// Env returns the environment of expressions with the given data, in which relative paths
// begin at dir.
func (l *Loader) Env(tree map[string]any, dir string) *template.Env { return l.env().With(tree, dir) }

// isTinyCM reports whether a file is in the dialect of TinyCM.
func (l *Loader) isTinyCM(name string) bool {
	if l.Dialect != "" {
		return l.Dialect == "tinycm"
	}
	base := strings.ToLower(filepath.Base(name))
	return strings.HasSuffix(base, ".cm.yml") || strings.HasSuffix(base, ".cm.yaml")
}
