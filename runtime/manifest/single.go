package manifest

import (
	"context"
	"errors"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/template"
)

// A Single is one resource from a command line or a program.
type Single struct {
	Type *resource.Type
	// Properties includes the name. Texts in it may be expressions, unless it is Literal. Its Where may be nil.
	Properties *schema.Table
	Literal    bool
	// If and Unless are conditions, or nil. Prefix is prepended to their names in
	// messages.
	If, Unless *string
	Prefix     string
	// Sensitive names the properties that are secret.
	Sensitive []string
	// Pos is the position of the resource, for messages.
	Pos diag.Pos
}

// Single declares s in u, a unit of the catalog. Expressions see tree as data. The error is a
// [diag.List] of every mistake.
func (l *Loader) Single(ctx context.Context, u *catalog.Unit, s Single, tree map[string]any) (*resource.Resource, error) {
	env := l.Env(tree, u.Dir)
	from := resource.Origin{Pos: s.Pos, Dir: u.Dir, Scope: u.Scope}
	where := locator{s.Properties.Positions, s.Pos}
	var errs diag.List
	at := func(path schema.Path, err error) {
		errs.Add(withPosition(err, where.Locate(path, false), path))
	}
	for _, c := range []struct {
		name string
		text *string
		want bool
	}{{"if", s.If, true}, {"unless", s.Unless, false}} {
		if c.text == nil {
			continue
		}
		yes, err := env.Condition(*c.text)
		if err != nil {
			at(schema.Path{s.Prefix + c.name}, err)
		} else if yes != c.want && from.Skip == "" {
			from.Skip = s.Prefix + c.name + " is " + map[bool]string{true: "true", false: "false"}[yes]
		}
	}
	if len(errs) > 0 {
		return nil, s.about(errs.Err())
	}
	tab := &schema.Table{Positions: where}
	for _, e := range s.Properties.Entries {
		if from.Skip != "" && s.Type.Schema().Field(e.Key) != s.Type.Schema().Name() && e.Key != "alias" {
			continue // a skipped resource is not validated
		}
		val := e.Val
		if !s.Literal {
			val = evaluate(env, e.Val, schema.Path{e.Key}, at)
		}
		tab.Entries = append(tab.Entries, schema.Entry{Key: e.Key, Val: val})
	}
	if len(errs) > 0 {
		return nil, s.about(errs.Err())
	}
	r, err := s.resource(tab, from)
	if err != nil {
		return nil, err
	}
	if err := l.Registry.CheckProvider(r); err != nil {
		return nil, err
	}
	if err := r.Mark(l.Secrets, s.Sensitive...); err != nil {
		errs.Add(err)
		return nil, s.about(errs.Err())
	}
	return u.Add(ctx, r)
}

// resource makes the resource of evaluated properties.
func (s Single) resource(tab *schema.Table, from resource.Origin) (*resource.Resource, error) {
	if from.Skip == "" {
		return s.Type.Decode(tab, from)
	}
	var name, alias string
	for _, e := range tab.Entries {
		if e.Key == "alias" {
			alias = e.Val.S
		} else {
			name = e.Val.S
		}
	}
	return s.Type.NewSkipped(name, alias, tab.Positions, from), nil
}

// about adds to mistakes the resource that they are in, as far as its name is known.
func (s Single) about(err error) error {
	subject := s.Type.Name
	for _, e := range s.Properties.Entries {
		if s.Type.Schema().Field(e.Key) == s.Type.Schema().Name() && e.Val.S != "" {
			subject += "#" + e.Val.S
			break
		}
	}
	list, _ := errors.AsType[diag.List](err)
	for _, e := range list {
		e.Subject = subject
	}
	return list.Err()
}

// A locator is a schema.Locator that may be nil, with a position for that case.
type locator struct {
	locate schema.Locator
	pos    diag.Pos
}

// Locate implements schema.Locator.
func (l locator) Locate(path schema.Path, key bool) diag.Pos {
	if l.locate == nil {
		return l.pos
	}
	return l.locate.Locate(path, key)
}

// withPosition adds the position and the property to an error of an expression.
func withPosition(err error, pos diag.Pos, path schema.Path) *diag.Error {
	e := &diag.Error{Err: err}
	if inner, ok := errors.AsType[*diag.Error](err); ok {
		c := *inner
		e = &c
	}
	if e.Pos.IsZero() {
		e.Pos = pos
	}
	e.Err = diag.Errorf(diag.Pos{}, "%s: %w", path, e.Err).Err
	return e
}

// evaluate returns a value with its expressions evaluated. It calls fail with the
// mistakes.
func evaluate(env *template.Env, v schema.Value, path schema.Path, fail func(schema.Path, error)) schema.Value {
	switch v.Kind {
	case schema.String, schema.Text:
		if !template.HasExpression(v.S) {
			return v
		}
		val, err := env.Expand(v.S)
		if err != nil {
			fail(path, err)
			return v
		}
		if s, ok := val.(string); ok {
			return schema.Value{Kind: v.Kind, S: template.Clean(s)}
		}
		return valueOf(val)
	case schema.List:
		items := make([]schema.Value, 0, len(v.Items()))
		for i, item := range v.Items() {
			got := evaluate(env, item, append(path[:len(path):len(path)], i), fail)
			if got.Kind == schema.List && item.Kind == schema.Text {
				// One argument gives several items.
				items = append(items, got.Items()...)
				continue
			}
			items = append(items, got)
		}
		return schema.ListValue(items...)
	case schema.Map:
		t := new(schema.Table)
		for _, e := range v.Table().Entries {
			got := evaluate(env, e.Val, append(path[:len(path):len(path)], e.Key), fail)
			t.Entries = append(t.Entries, schema.Entry{Key: e.Key, Val: got})
		}
		return schema.MapValue(t)
	}
	return v
}
