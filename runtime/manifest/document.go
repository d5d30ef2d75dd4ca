package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// ccmKeys are the keys of the section ccm.
var ccmKeys = []string{"modules", "resources", "resources_jet_file", "fail_on_error", "pre_message", "post_message"}

// A reader reads one manifest and collects its mistakes.
type reader struct {
	*catalog.Unit
	loader *Loader
	ctx    context.Context
	full   *atomic.Bool // the memory limit is exceeded
	text   string
	env    *template.Env
	m      *Manifest
	errs   diag.List
	// reported are the positions in defaults with a mistake that was reported.
	reported map[diag.Pos]bool

	index     *positionIndex // of the current list
	freeTable *table         // that is not needed any more
	entries   []data.Entry   // of the last declaration
}

func (r *reader) fail(n *data.Node, hint, format string, args ...any) {
	e := n.Errorf(format, args...)
	e.Hint = cmp.Or(hint, e.Hint)
	r.errs = append(r.errs, e)
}

// manifest loads a manifest of CCM.
func (r *reader) manifest() (*Manifest, error) {
	check := r.deadline()
	docs, err := data.ParseUnder(check, r.Name, r.text)
	if err != nil {
		return nil, r.positionTimeout(err)
	}
	root := docs[0].Root
	switch {
	case len(docs) > 1:
		r.fail(docs[1].Root, "for several documents, use --dialect tinycm", "%w", diag.Expected("one document").Found("a second one"))
	case root.IsNil():
		r.fail(root, "", "%w", diag.Expected("a manifest with a section ccm").Found("nothing"))
	case root.Kind != schema.Map:
		hint := ""
		if root.Kind == schema.List {
			hint = "ccm docs coming-from-ansible shows what playbooks become"
		}
		r.fail(root, hint, "%w", diag.Expected("a manifest with a section ccm").Got("%s", root.Describe()))
	}
	if len(r.errs) > 0 {
		return nil, r.errs.Err()
	}
	for _, key := range data.Sections {
		r.m.usesData = r.m.usesData || !root.Get(key).IsNil()
	}
	resolved, err := data.Resolve(docs[0], r.loader.env().ForData().WithCheck(check), r.loader.Secrets.Keep, r.loader.Open, "ccm")
	r.errs.Add(err)
	r.m.Data = resolved.Data
	if err == nil {
		r.m.Data, err = r.loader.mergeOverlays(resolved, r.Data)
		r.errs.Add(err)
	}
	r.env = r.loader.Env(r.m.Data, r.Dir).WithCheck(check)
	r.m.env = r.env
	before := len(r.errs)
	if ccm := root.Get("ccm"); ccm == nil {
		r.fail(root, "", "%w", diag.Expected("a section ccm with resources").Found("none"))
	} else {
		r.section(ccm)
	}
	if err != nil {
		// A name may be missing because its expression failed above.
		r.errs = slices.Concat(r.errs[:before], slices.DeleteFunc(r.errs[before:], func(e *diag.Error) bool { return template.IsMissing(e) }))
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	return r.m, nil
}

// section reads the section ccm.
func (r *reader) section(ccm *data.Node) {
	if ccm.Kind != schema.Map {
		r.fail(ccm, "", "ccm: %w", diag.Expected("a table with resources").Got("%s", ccm.Describe()))
		return
	}
	before := len(r.errs)
	for _, e := range ccm.Entries {
		if !slices.Contains(ccmKeys, e.Key.Text) {
			r.fail(e.Key, "", "ccm: %w", diag.Unknown("key", e.Key.Text, ccmKeys))
		}
	}
	unknown := len(r.errs) > before
	r.m.FailOnError = r.boolean(ccm, "fail_on_error")
	r.Scope.FailOnError = r.m.FailOnError
	r.m.PreMessage = r.message(ccm, "pre_message")
	r.m.PostMessage = r.message(ccm, "post_message")
	if n := ccm.Get("modules"); !n.IsNil() && !r.modules(n) {
		return // their types are unknown
	}
	list, jet := ccm.Get("resources"), ccm.Get("resources_jet_file")
	switch {
	case jet.IsNil() && list == nil && unknown: // one of the keys may be misspelled
	case jet.IsNil() && list == nil:
		r.fail(ccm, "", "ccm: %w", diag.Expected("resources or resources_jet_file").Found("neither"))
	case !jet.IsNil() && list != nil:
		r.fail(ccm.Key("resources_jet_file"), "", "ccm: %w", diag.Conflicting("resources", "resources_jet_file"))
	case !jet.IsNil():
		r.jetFile(jet)
	default:
		r.index = r.newIndex(parseResources(r.Name, r.text))
		r.resources(list)
	}
}

// parseResources returns a function that parses the list of resources in a manifest.
func parseResources(name, text string) func() *data.Node {
	return func() *data.Node {
		docs, err := data.ParseAll(name, text)
		if err != nil {
			return nil
		}
		return docs[0].Root.Get("ccm").Get("resources")
	}
}

// modules loads the modules of the manifest, and reports whether all could be loaded.
func (r *reader) modules(list *data.Node) bool {
	before := len(r.errs)
	if list.Kind != schema.List {
		r.fail(list, "", "ccm.modules: %w", diag.Expected("a list of names").Got("%s", list.Describe()))
		return false
	}
	for i, n := range list.Items {
		property := fmt.Sprintf("ccm.modules[%d]", i+1)
		switch {
		case n.Kind != schema.String:
			r.fail(n, `such as "nginx", which is nginx.lua or lib/nginx.lua`, "%s: %w", property, diag.Expected("the name of a module").Got("%s", n.Describe()))
			continue
		case r.loader.Module == nil:
			r.fail(n, "", "%s: modules are not supported in manifests here", property)
			continue
		}
		var errs diag.List
		errs.Add(r.loader.Module(r.ctx, r.Unit, n.Text))
		for _, e := range errs {
			if e.Pos.IsZero() {
				e = n.Place(property, e)
			}
			r.errs = append(r.errs, e)
		}
		r.m.Modules = append(r.m.Modules, n.Text)
	}
	return len(r.errs) == before
}

// boolean reads a boolean key of the section ccm.
func (r *reader) boolean(ccm *data.Node, key string) bool {
	n := ccm.Get(key)
	if n.IsNil() {
		return false
	}
	v, ok := r.expand(n, "ccm."+key)
	if ok && v.Kind != schema.Bool {
		r.fail(n, "", "ccm.%s: %w", key, diag.Expected("true or false").Got("%s", n.Describe()))
	}
	return v.B
}

// message reads a text of the section ccm.
func (r *reader) message(ccm *data.Node, key string) string {
	n := ccm.Get(key)
	if n.IsNil() {
		return ""
	}
	if n.Kind == schema.List || n.Kind == schema.Map {
		r.fail(n, "", "ccm.%s: %w", key, diag.Expected("a text").Got("%s", n.Describe()))
		return ""
	}
	v, _ := r.expand(n, "ccm."+key)
	return v.S
}

// expand returns a scalar of the section ccm, with expressions evaluated.
func (r *reader) expand(n *data.Node, name string) (schema.Value, bool) {
	v, err := scalar(r.env, n)
	if err != nil {
		r.errs.Add(n.Place(name, err))
		return schema.Value{}, false
	}
	return v, true
}

// jetFile reads the resources that a Jet template generates. Mistakes in them get the line of the
// template as position.
func (r *reader) jetFile(n *data.Node) {
	v, ok := r.expand(n, "ccm.resources_jet_file")
	if !ok {
		return
	}
	name, path := r.NameOf(v.S), r.PathOf(v.S)
	text, err := r.loader.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = diag.None("file %s", path)
	}
	if err != nil {
		r.fail(n, "", "ccm.resources_jet_file: %w", err)
		return
	}
	r.loader.remember(name, string(text))
	from := diag.Note{Pos: n.Pos(), Text: "rendered from here"}
	before := len(r.errs)
	out, err := r.env.RenderManifest(name, string(text))
	if err != nil {
		r.errs.Add(err)
	} else if strings.TrimSpace(template.Clean(out.Text)) != "" {
		r.generated(name, out)
	}
	for i, e := range r.errs[before:] {
		c := *e
		c.Notes = append(c.Notes[:len(c.Notes):len(c.Notes)], from)
		r.errs[before+i] = &c
	}
}

// generated reads the resources in the output of a template.
func (r *reader) generated(name string, out template.Output) {
	read := func() (*data.Document, error) {
		return data.ParseGenerated(name, out.Text, func(line int) diag.Pos {
			at := out.Lines[min(max(line, 1), len(out.Lines))-1]
			return diag.Pos{File: at.File, Line: at.Line}
		})
	}
	doc, err := read()
	if err != nil {
		r.errs.Add(err)
		return
	}
	if doc.Root.IsNil() {
		return
	}
	r.index = r.newIndex(func() *data.Node {
		if doc, err := read(); err == nil {
			return doc.Root
		}
		return nil
	})
	r.resources(doc.Root)
}
