package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// A ResolvedResource is a resource of a manifest whose expressions can be evaluated.
type ResolvedResource struct {
	Type *resource.Type
	Name string
	// Properties are set only for a resource without a declaration in the manifest. Those of a
	// declared resource are evaluated on demand, because ten thousand tables would be as large as the
	// manifest.
	Properties *schema.Table
	// Skip is the reason why the resource is not managed, "" if it is managed.
	Skip string

	decl *declaration // nil if Properties is set
}

// A declaration is the syntax of one resource.
type declaration struct {
	typ       *resource.Type
	key       *data.Node // the name of the resource; if that is a property, the type
	name      *data.Node
	keyIsName bool // the name is the key, and not among the properties
	body      *data.Node
	defaults  *data.Node // may be nil
}

// declare adds a resource to the catalog.
func (r *reader) declare(d *declaration) {
	if r.index.add(d) {
		return
	}
	name, err := scalar(r.env, d.name)
	subject := func() string {
		if err == nil {
			return d.typ.Name + "#" + name.S
		}
		return d.typ.Name + "#" + template.Clean(d.name.Text)
	}
	from := resource.Origin{Pos: d.key.Pos(), Dir: r.Dir, Calls: r.Calls, Scope: r.Scope}
	r.entries = d.entries(r.entries[:0])
	where := r.table(d)
	tab := r.entries
	from.Skip, tab = r.control(tab, subject)
	if from.Skip == invalid {
		return
	}
	if from.Skip != "" {
		r.skip(d, tab, from, subject())
		return
	}
	if err != nil {
		r.errs = append(r.errs, withSubject(subject(), d.name.Place("", err)))
		return
	}
	where.name(d, name)
	broken := false
	for _, e := range tab {
		val, errs := value(r.env, e.Val)
		for _, err := range errs {
			r.errs = append(r.errs, withSubject(subject(), withProperty(e.Key.Text, err)))
			broken = true
		}
		if len(errs) == 0 && val.Kind == schema.Nil && !e.Val.IsNil() {
			r.noteNil(subject(), e)
		}
		if len(errs) == 0 {
			where.add(e, template.Clean(e.Key.Text), val)
		}
	}
	r.decode(d, where, from, broken)
}

// noteNil tells of a property whose expression gives nothing without saying so.
func (r *reader) noteNil(subject string, e data.Entry) {
	code := template.Clean(e.Val.Text)
	if parts, err := template.Parts(code); err == nil && len(parts) == 1 && parts[0].Code != "" {
		code = strings.TrimSpace(parts[0].Code)
	}
	if template.SaysNil(code) {
		return
	}
	err := fmt.Errorf("%s was set to nil (%s)", template.Clean(e.Key.Text), code)
	if r.loader.Strict {
		mistake := withSubject(subject, e.Val.Errorf("%w", err))
		mistake.Hint = "if it is optional, append ?? nil"
		r.errs = append(r.errs, mistake)
	} else if r.loader.Warn != nil {
		r.loader.Warn(e.Val.Pos(), err.Error())
	}
}

// decode makes a resource from its table and adds it to the catalog. Broken says that properties
// are missing because their expressions failed.
func (r *reader) decode(d *declaration, where *table, from resource.Origin, broken bool) {
	res, err := d.typ.Decode(where.tab, from)
	if err == nil {
		err = r.loader.Registry.CheckProvider(res)
	}
	if err == nil && !broken {
		err = res.Mark(r.loader.Secrets, where.secrets()...)
	}
	if err == nil && !broken {
		declared := ResolvedResource{Type: d.typ, Name: res.ID.Name, decl: d}
		if !r.keepsTable(where) {
			res.Positions = r.index.position()
		}
		if _, err = r.Add(r.ctx, res); err == nil && !r.loader.Light {
			r.m.Resources = append(r.m.Resources, declared)
		}
	}
	if err != nil || broken {
		r.AddInvalid(d.typ.DecodeInvalid(where.tab, from))
	}
	var list diag.List
	list.Add(err)
	for _, e := range list {
		if broken && e.Pos == from.Pos {
			continue // the failed property may be the missing one
		}
		if d.sharesPlace(e.Pos) {
			if r.reported[e.Pos] {
				continue // reported for another resource of the block already
			}
			r.reported[e.Pos] = true
		}
		r.errs = append(r.errs, e)
	}
}

// sharesPlace reports whether a position lies in the defaults of the block.
func (d *declaration) sharesPlace(p diag.Pos) bool {
	if d.defaults == nil {
		return false
	}
	return slices.ContainsFunc(d.defaults.Entries, func(e data.Entry) bool {
		begin := e.Key.Pos()
		end := e.Val.Pos()
		return begin == p || end == p || begin.Compare(p) < 0 && p.Compare(end) < 0
	})
}

// entries returns own and the defaults of the block that own does not have. It may append to the
// lists of own.
func (d *declaration) entries(own []data.Entry) []data.Entry {
	own = append(own, d.body.Entries...)
	if d.defaults == nil {
		return own
	}
	given := len(own)
next:
	for _, e := range d.defaults.Entries {
		f := d.typ.Properties().Field(e.Key.Text)
		for i, o := range own[:given] {
			if o.Key.Text != e.Key.Text && (f == nil || f != d.typ.Properties().Field(o.Key.Text)) {
				continue
			}
			if f != nil && f.Added && !o.Val.IsNil() && !e.Val.IsNil() {
				own[i].Val = o.Val.WithItems(slices.Concat(items(o.Val), items(e.Val)))
			}
			continue next
		}
		own = append(own, e)
	}
	return own
}

// items returns the items of a list, or a single node as a list.
func items(n *data.Node) []*data.Node {
	if n.Kind == schema.List {
		return n.Items
	}
	return []*data.Node{n}
}

// skip adds a resource whose control excludes it. Only its name, alias and
// tags are evaluated, if that is possible.
func (r *reader) skip(d *declaration, tab []data.Entry, from resource.Origin, subject string) {
	_, name, _ := strings.Cut(subject, "#")
	alias := ""
	var tags []resource.Tag
	for _, e := range tab {
		switch e.Key.Text {
		case "alias":
			if v, err := scalar(r.env, e.Val); err == nil {
				alias = v.S
			}
		case "tags": // needed for --tags
			v, _ := value(r.env, e.Val)
			for _, text := range v.Texts() {
				tags = append(tags, resource.Tag(text))
			}
		}
	}
	where := newTable(d.key)
	res := d.typ.NewSkipped(name, alias, where, from)
	res.Common.Tags = tags
	if _, err := r.Add(r.ctx, res); err != nil {
		r.errs.Add(err)
		return
	}
	if !r.loader.Light {
		r.m.Resources = append(r.m.Resources, ResolvedResource{Type: d.typ, Name: name, Skip: from.Skip, decl: d})
	}
}

// invalid is the result of control after a reported mistake.
const invalid = "invalid"

// control evaluates the control of a resource. It returns the reason why the resource is not
// managed, or "", and the entries without the control.
func (r *reader) control(tab []data.Entry, subject func() string) (string, []data.Entry) {
	i := slices.IndexFunc(tab, func(e data.Entry) bool { return e.Key.Text == "control" })
	if i < 0 {
		return "", tab
	}
	n := tab[i].Val
	tab = slices.Delete(tab, i, i+1)
	if n.IsNil() {
		return "", tab
	}
	before := len(r.errs)
	wrong := func(at *data.Node, hint, format string, args ...any) {
		e := at.Errorf(format, args...)
		e.Hint = cmp.Or(hint, e.Hint)
		r.errs = append(r.errs, withSubject(subject(), e))
	}
	if n.Kind != schema.Map {
		wrong(n, "", "control: %w", diag.Expected("a table with if and unless").Got("%s", n.Describe()))
		return invalid, tab
	}
	skip := ""
	for _, e := range n.Entries {
		key := e.Key.Text
		switch {
		case key != "if" && key != "unless":
			wrong(e.Key, "", "control: %w", diag.Unknown("key", key, []string{"if", "unless"}))
			continue
		case e.Val.IsNil():
			continue
		case e.Val.Kind != schema.String && e.Val.Kind != schema.Bool:
			wrong(e.Val, "", "control.%s: %w", key, diag.Expected("an expression that is true or false").Got("%s", e.Val.Describe()))
			continue
		}
		yes, err := e.Val.Scalar().B, error(nil)
		if e.Val.Kind == schema.String {
			yes, err = r.env.Condition(template.Clean(e.Val.Text))
		}
		if err != nil {
			r.errs = append(r.errs, withSubject(subject(), e.Val.Place("control."+key, err)))
			continue
		}
		if yes != (key == "if") && skip == "" {
			skip = fmt.Sprintf("control.%s is %t", key, yes)
		}
	}
	if len(r.errs) > before {
		return invalid, tab
	}
	return skip, tab
}

// withSubject adds the resource to a mistake.
func withSubject(subject string, e *diag.Error) *diag.Error {
	e.Subject = subject
	return e
}

// withProperty adds the property to a mistake.
func withProperty(property string, e *diag.Error) *diag.Error {
	e.Err = diag.Errorf(diag.Pos{}, "%s: %w", property, e.Err).Err
	return e
}
