package manifest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A tinyReader reads a manifest of TinyCM: a document with constants, and documents
// with one definition each.
type tinyReader struct {
	*reader
	file      *resource.Type
	constants map[string]any
	list      []*definition
	byName    map[string]*definition
	check     func() error // the error with which the manifest has to end
}

// manifest loads a manifest of TinyCM.
func (t *tinyReader) manifest() (*Manifest, error) {
	t.check = t.deadline()
	docs, err := data.ParseUnder(t.check, t.Name, t.text)
	if err != nil {
		return nil, t.positionTimeout(err)
	}
	t.file = t.loader.Registry.Type("file")
	if t.file == nil {
		return nil, diag.List{docs[0].Root.Errorf("%w", diag.Requires("a TinyCM definition", "the type file"))}
	}
	for i, doc := range docs {
		switch root := doc.Root; {
		case root.IsNil():
		case root.Kind != schema.Map:
			t.fail(root, "", "%w", diag.Expected("a definition").Got("%s", root.Describe()))
		case i == 0 && !isDefinition(root):
			t.header(root)
		default:
			t.definition(root)
		}
	}
	if t.Data != nil {
		maps.Copy(t.constants, t.Data)
	}
	t.m.Data = t.constants
	for _, d := range t.list {
		t.declare(d)
	}
	if err := t.errs.Err(); err != nil {
		return nil, err
	}
	return t.m, nil
}

// isDefinition reports whether a document is a definition and not a header.
func isDefinition(n *data.Node) bool { return n.Get("file") != nil || n.Get("name") != nil }

var headerKeys = []string{"global", "host", "hosts"}

// header reads the constants: global ones and those of hosts.
func (t *tinyReader) header(n *data.Node) {
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "global":
			t.constant("global", e.Val)
		case "host", "hosts":
		case "plugins", "arguments":
			t.fail(e.Key, "", "%s of TinyCM are not supported", e.Key.Text)
		default:
			t.fail(e.Key, "", "%w", diag.Unknown("key", e.Key.Text, headerKeys))
		}
	}
	for _, key := range []string{"host", "hosts"} {
		hosts := n.Get(key)
		if hosts.IsNil() {
			continue
		}
		if hosts.Kind != schema.List {
			t.fail(hosts, "", "%s: %w", key, diag.Expected("a list").Got("%s", hosts.Describe()))
			continue
		}
		for _, h := range hosts.Items {
			t.host(key, h)
		}
	}
}

// host merges the constants of a host over the global ones if its filter matches the
// beginning of the name of this machine.
func (t *tinyReader) host(key string, n *data.Node) {
	if n.Kind != schema.Map {
		t.fail(n, "", "%s: %w", key, diag.Expected("a table with filter and constants").Got("%s", n.Describe()))
		return
	}
	for _, e := range n.Entries {
		if e.Key.Text != "filter" && e.Key.Text != "constants" {
			t.fail(e.Key, "", "%s: %w", key, diag.Unknown("key", e.Key.Text, []string{"filter", "constants"}))
		}
	}
	filter, constants := n.Get("filter"), n.Get("constants")
	if filter.IsNil() || filter.Kind == schema.List || filter.Kind == schema.Map {
		t.fail(n, "", "%s: %w", key, diag.Required("filter"))
		return
	}
	re, err := regexp.Compile("^(?:" + filter.Text + ")")
	if err != nil {
		t.fail(filter, "", "%s: filter: %w", key, err)
		return
	}
	name, err := t.hostname()
	if err != nil {
		t.errs.Add(err)
	} else if re.MatchString(name) {
		t.constant(key+".constants", constants)
	}
}

// hostname returns the name of this machine for filters: with its domain, as in TinyCM.
func (t *tinyReader) hostname() (string, error) {
	val, err := t.loader.Facts.Get("fqdn")
	return fmt.Sprint(val), err
}

func (t *tinyReader) constant(name string, n *data.Node) {
	if n.IsNil() {
		return
	}
	if n.Kind != schema.Map {
		t.fail(n, "", "%s: %w", name, diag.Expected("a table of constants").Got("%s", n.Describe()))
		return
	}
	maps.Copy(t.constants, n.Go().(map[string]any))
}

// tinyKeys are the properties of a file definition.
var tinyKeys = []string{"name", "ensure", "type", "contents", "interpolate", "encoding", "owner", "group", "permission-mask", "after"}

// A definition is one file of TinyCM: all definitions with the same name, merged.
type definition struct {
	name  *data.Node
	props map[string]*data.Node
	after []*data.Node
}

// definition reads one document. The properties may stand at its top or below
// the key file.
func (t *tinyReader) definition(n *data.Node) {
	body := n
	if n.Get("name") == nil {
		if len(n.Entries) != 1 || n.Entries[0].Key.Text != "file" {
			key := n.Entries[0].Key
			if key.Text == "file" {
				key = n.Entries[1].Key
			}
			hint := "indent properties below file"
			if !slices.Contains(tinyKeys, key.Text) {
				hint = diag.DidYouMean(key.Text, []string{"file"})
			}
			t.fail(key, hint, "%w", diag.Expected("a definition of a file").Got("%q", key.Text))
			return
		}
		body = n.Entries[0].Val
		if body.Kind != schema.Map {
			t.fail(body, "", "file: %w", diag.Expected("a table of properties").Got("%s", body.Describe()))
			return
		}
	}
	d := definition{props: make(map[string]*data.Node)}
	good := true
	for _, e := range body.Entries {
		switch {
		case !slices.Contains(tinyKeys, e.Key.Text):
			t.fail(e.Key, "", "file: %w", diag.Unknown("property", e.Key.Text, tinyKeys))
			good = false
		case e.Val.IsNil():
		case e.Key.Text == "after" && e.Val.Kind == schema.List:
			d.after = append(d.after, e.Val.Items...)
		case e.Key.Text == "after":
			d.after = append(d.after, e.Val)
		case e.Key.Text != "name" && (e.Val.Kind == schema.List || e.Val.Kind == schema.Map):
			t.fail(e.Val, "", "file: %s: %w", e.Key.Text, diag.Expected("a text").Got("%s", e.Val.Describe()))
			good = false
		default:
			d.props[e.Key.Text] = e.Val
		}
	}
	name := d.props["name"]
	delete(d.props, "name")
	switch {
	case name == nil:
		t.fail(body, "", "file: %w", diag.Required("name"))
	case !good:
	case name.Kind == schema.List:
		for _, item := range name.Items {
			c := d
			c.props = maps.Clone(d.props)
			c.name = item
			t.merge(&c)
		}
	case name.Kind == schema.Map:
		t.fail(name, "", "file: name: %w", diag.Expected("a path").Got("a table"))
	default:
		d.name = name
		t.merge(&d)
	}
}

// merge adds a definition, or merges it with an earlier one of the same name. The two must not
// differ, except in digits of the permission mask that are x.
func (t *tinyReader) merge(d *definition) {
	first, ok := t.byName[d.name.Text]
	if !ok {
		t.byName[d.name.Text] = d
		t.list = append(t.list, d)
		return
	}
	first.after = append(first.after, d.after...)
	for _, key := range tinyKeys {
		n, have := d.props[key], first.props[key]
		switch {
		case n == nil:
		case have == nil:
			first.props[key] = n
		case key == "permission-mask":
			t.mergeMasks(first, d)
		case n.Text != have.Text:
			t.conflict(d, n, have, "%s: %w", key, diag.Expected("%s as before", have.Describe()).Got("%s", n.Describe()))
		}
	}
}

func (t *tinyReader) conflict(d *definition, n, first *data.Node, format string, args ...any) {
	e := n.Errorf(format, args...)
	e.Subject = "file#" + d.name.Text
	e.Notes = []diag.Note{{Pos: first.Pos(), Text: "first one"}}
	t.errs = append(t.errs, e)
}

// mergeMasks fills the x digits of one mask from the other.
func (t *tinyReader) mergeMasks(first, d *definition) {
	a, b := first.props["permission-mask"], d.props["permission-mask"]
	if !isMask(a.Text) || !isMask(b.Text) {
		return // reported at its declaration
	}
	digits := []byte(a.Text)
	for i := range digits {
		switch {
		case digits[i] == 'x':
			digits[i] = b.Text[i]
		case b.Text[i] != 'x' && b.Text[i] != digits[i]:
			t.conflict(d, b, a, "permission-mask: %s and %s differ in the digit of the %s", a.Text, b.Text, []string{"user", "group", "others"}[i])
			return
		}
	}
	merged := *a
	merged.Text = string(digits)
	first.props["permission-mask"] = &merged
}

func isMask(s string) bool {
	return len(s) == 3 && strings.Trim(s, "01234567x") == ""
}
