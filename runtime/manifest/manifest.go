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
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/template"
)

// A Loader loads the manifests of one run into one catalog. Registry and ReadFile
// are required. It is not safe for use by several goroutines.
type Loader struct {
	// Registry has the types that can be declared.
	Registry *resource.Registry
	// Facts are what is so about the machine.
	Facts *facts.Facts
	// Environ is the environment that expressions see, with that of ./.env.
	Environ map[string]string
	// ReadFile reads a file of the user.
	ReadFile func(path string) ([]byte, error)
	// Now is the time that expressions see.
	Now func() time.Time
	// Overlays are hierarchy documents whose data is merged over that of every
	// manifest.
	Overlays []Source
	// Module loads a module with types for the manifest u, which finds it as a
	// script in its place would. Nil refuses them.
	Module func(ctx context.Context, u *catalog.Unit, name string) error
	// Fetch gets what is behind an http or https URL, for TinyCM templates. Nil
	// refuses them.
	Fetch func(ctx context.Context, url string) ([]byte, error)
	// Secrets learns of what is marked as sensitive. May be nil.
	Secrets *secret.Keeper
	// Dialect is "ccm" or "tinycm"; left empty, the name of a manifest tells.
	Dialect string
	// Warn takes what is probably a mistake, with its place. May be nil.
	Warn func(pos diag.Pos, msg string)
	// Strict makes mistakes of what is otherwise warned of.
	Strict bool
	// Timeout is how long it may take to read one manifest and to evaluate its
	// expressions; 0 for as long as it takes.
	Timeout time.Duration
	// Light leaves out what only [Manifest.Render] and [Manifest.Convert] need.
	Light bool

	base    *template.Env
	overlay *data.Resolution // the overlays, merged
	texts   map[string]string
}

// A Source is the text of a file.
type Source struct{ File, Text string }

// A Manifest is what was loaded besides resources.
type Manifest struct {
	// Data is the resolved data.
	Data map[string]any
	// FailOnError ends the run at the first failure.
	FailOnError bool
	// PreMessage and PostMessage are shown before and after the run.
	PreMessage, PostMessage string
	// Modules are those whose types the manifest uses.
	Modules []string
	// Declared are the resources of this manifest, in their order; none if the Loader
	// is Light.
	Declared []Declared

	file     string
	usesData bool // it has data, hierarchy or overrides
	env      *template.Env
}

// Load declares the resources of a manifest in u. Its error is a [diag.List] of
// every mistake in it and in all that it applies.
func (l *Loader) Load(ctx context.Context, u *catalog.Unit, text string) (*Manifest, error) {
	l.remember(u.Name, text)
	r := &reader{Unit: u, loader: l, ctx: ctx, text: text, m: &Manifest{file: u.Name}, reported: make(map[diag.Pos]bool)}
	if l.isTinyCM(u.Name) {
		t := &tiny{reader: r, constants: make(map[string]any), byName: make(map[string]*definition)}
		return t.manifest()
	}
	return r.manifest()
}

// env returns the expressions that know facts and environment.
func (l *Loader) env() *template.Env {
	if l.base == nil {
		l.base = template.New(template.Options{Facts: l.Facts, Environ: l.Environ, ReadFile: l.readTemplate, Now: l.Now})
	}
	return l.base
}

// readTemplate reads a file that an expression names, and keeps its text for
// messages.
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
		return l.Secrets.Starred(data.HideMarked(text)), ok
	}
}

// remember keeps a text for messages.
func (l *Loader) remember(file, text string) {
	if l.texts == nil {
		l.texts = make(map[string]string)
	}
	l.texts[file] = text
}

// overlaid returns the data of the overlays, merged in order.
func (l *Loader) overlaid() (data.Resolution, error) {
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
	return data.Resolve(doc, l.env().Sealed(), l.Secrets.Keep, others...)
}

// Data returns the resolved data of a hierarchy document, with what given and
// the overlays hold over it, checked. A manifest is a hierarchy document too.
func (l *Loader) Data(src Source, given map[string]any) (map[string]any, error) {
	r, err := l.resolve(src, "ccm")
	if err != nil {
		return nil, err
	}
	return l.merged(r, given)
}

// merged lays what is given and the overlays over data, and checks the result.
func (l *Loader) merged(r data.Resolution, given map[string]any) (map[string]any, error) {
	over, err := l.overlaid()
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

// Env returns what evaluates expressions and lookups that see the given data,
// with relative paths beginning at dir.
func (l *Loader) Env(tree map[string]any, dir string) *template.Env { return l.env().With(tree, dir) }

// isTinyCM reports whether a file is in the dialect of TinyCM.
func (l *Loader) isTinyCM(name string) bool {
	if l.Dialect != "" {
		return l.Dialect == "tinycm"
	}
	base := strings.ToLower(filepath.Base(name))
	return strings.HasSuffix(base, ".cm.yml") || strings.HasSuffix(base, ".cm.yaml")
}
