package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
	"github.com/luaccm/ccm/runtime/schema"
)

// Contents are a scan with what a site for it declares, for a site that another machine writes. It has contents of files,
// but no secrets, unless they are encrypted.
type Contents struct {
	Scan
	// Host is the fact hostname.
	Host      string     `json:"host"`
	Resources []Resource `json:"resources"`
	// Unmanaged are the lines of UnmanagedFile, with their reasons.
	Unmanaged []LeftOut `json:"unmanaged"`
	// Generated are patterns of the files that packages and the system make by themselves.
	Generated []LeftOut `json:"generated,omitempty"`
	// Recipients is the file of the keys that secrets are encrypted to.
	Recipients string `json:"recipients,omitempty"`
}

// A Resource is a resource of a site.
type Resource struct {
	// Block is the file of the site that has it, and its title there.
	Block      string        `json:"block"`
	Type       string        `json:"type"`
	Name       string        `json:"name"`
	Properties *schema.Table `json:"properties"`
	// Remarks are the comments above it.
	Remarks []string `json:"remarks,omitempty"`
	// Secrets are the encrypted files by the placeholder for their content in the properties.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Files are the files of the site that it needs; Encrypted is how many of them are encrypted.
	Files     []SiteFile `json:"files,omitempty"`
	Encrypted int        `json:"encrypted,omitempty"`
}

// Contents returns the contents of a scan. The error is one of ctx or of the recipients.
func (w *Writer) Contents(ctx context.Context, s *Scan) (*Contents, error) {
	if err := w.collect(ctx, s); err != nil {
		return nil, err
	}
	w.noteOptions(s)
	c := &Contents{Scan: *s, Host: w.host(), Resources: []Resource{}, Unmanaged: w.unmanaged, Generated: s.madeBySystem(), Recipients: w.recipients}
	c.Items, c.LeftOut = slices.Clone(s.Items), slices.Clone(w.out.LeftOut)
	for n, i := range c.Items {
		c.Items[n].Name, c.Items[n].Path = w.shown(i.Name), w.shown(i.Path)
	}
	for n, l := range c.LeftOut {
		c.LeftOut[n].Name = w.shown(l.Name)
	}
	for _, block := range w.order {
		for _, d := range w.blocks[block] {
			c.Resources = append(c.Resources, Resource{block, d.typ, d.name, d.properties, d.remarks, d.secrets, d.files, d.encrypted})
		}
	}
	return c, nil
}

// host returns the fact hostname, "" if it is unknown.
func (w *Writer) host() string {
	if w.Facts == nil {
		return ""
	}
	name, err := w.Facts.Get("hostname")
	if text, ok := name.(string); err == nil && ok {
		return text
	}
	return ""
}

// ParseContents reads Contents as JSON.
func ParseContents(text []byte) (*Contents, error) {
	c := new(Contents)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, diag.Not("", "the output of ccm import machine: %w", err)
	}
	if c.Resources == nil {
		return nil, diag.Expected("the output of ccm import machine --contents").Found("a scan without contents")
	}
	return c, nil
}

// ReadContents reads a file with Contents.
func ReadContents(read func(name string) ([]byte, error), name string) (c *Contents, err error) {
	text, err := read(name)
	if err == nil {
		c, err = ParseContents(text)
	}
	if err != nil {
		return nil, diag.About(name, err)
	}
	return c, nil
}

// declarations checks resources, which come from another machine, and returns them by block.
func (w *Writer) declarations(list []Resource) (order []string, blocks map[string][]*declaration, err error) {
	blocks = map[string][]*declaration{}
	for _, r := range list {
		d := &declaration{typ: r.Type, name: r.Name, properties: r.Properties, remarks: r.Remarks, secrets: r.Secrets, files: r.Files, encrypted: r.Encrypted}
		part, _, _ := strings.Cut(r.Block, ":")
		t := w.Registry.Type(r.Type)
		switch {
		case t == nil:
			return nil, nil, diag.NotFound("type", r.Type, nil)
		case r.Properties == nil || !slices.Contains(parts, part):
			return nil, nil, diag.Expected("a resource of a site").Got("%s", quoted(r.Type+"#"+r.Name))
		case !isShowable(r.Name):
			return nil, nil, diag.Expected("a name without control characters").Got("%s", quoted(r.Type+"#"+r.Name))
		}
		d.public = r.Type == string(AuthorizedKey)
		if err := w.secretIn(d); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", quoted(r.Type+"#"+r.Name), err)
		}
		for n, f := range r.Files {
			if !isSiteFile(f.Name) {
				return nil, nil, diag.Expected("the name of a file of a site").Got("%s", quoted(f.Name))
			}
			r.Files[n].Mode &= 0o644
		}
		for _, f := range r.Secrets {
			if !isSiteFile(f) {
				return nil, nil, diag.Expected("the name of a file of a site").Got("%s", quoted(f))
			}
		}
		if blocks[r.Block] == nil {
			order = append(order, r.Block)
		}
		blocks[r.Block] = append(blocks[r.Block], d)
	}
	return order, blocks, nil
}

// isSiteFile reports whether a name is one of a file below files.
func isSiteFile(name string) bool {
	return strings.HasPrefix(name, "files/") && filepath.IsLocal(name) && path.Clean(name) == name && sitePath(strings.ReplaceAll(name, "%", "")) == strings.ReplaceAll(name, "%", "")
}

// merge merges the declarations of another machine into those of this one: what both have stays once, values that differ
// become data of each host, and the rest is declared on its host.
func (w *Writer) merge(here string, other *Contents) error {
	if here == "" || other.Host == "" || here == other.Host {
		return diag.Expected("another host name, which selects what differs").Got("%q for both machines", here)
	}
	order, theirs, err := w.declarations(other.Resources)
	if err != nil {
		return err
	}
	w.hosts = []string{here, other.Host}
	match, blockOf := map[string]*declaration{}, map[string]string{}
	for _, block := range order {
		for _, d := range theirs[block] {
			match[d.id()], blockOf[d.id()] = d, block
		}
	}
	for block, list := range w.blocks {
		var kept []*declaration
		for _, d := range list {
			switch m := match[d.id()]; {
			case d.typ == string(Hostname): // of the other machine, too
				reason := ownReason("the site selects what differs by the host name")
				w.leave(d.id(), reason)
				w.unmanaged = append(w.unmanaged, LeftOut{d.typ + "#*", string(reason)})
			case m != nil && blockOf[d.id()] == block && w.unite(d, m):
				delete(match, d.id())
				kept = append(kept, d)
			default:
				kept = append(kept, d.on(here))
			}
		}
		w.blocks[block] = kept
	}
	w.order = interleave(w.order, order, func(a string) string { return a })
	for _, block := range order {
		var list []*declaration
		for _, d := range theirs[block] {
			switch {
			case d.typ == string(Hostname):
			case match[d.id()] != nil:
				list = append(list, d.on(other.Host))
			default:
				list = append(list, d) // stands for the one of this machine
			}
		}
		w.blocks[block] = interleave(w.blocks[block], list, func(d *declaration) string { return d.id() + " " + d.host })
	}
	for _, l := range other.LeftOut {
		if !slices.Contains(w.out.LeftOut, l) {
			w.out.LeftOut = append(w.out.LeftOut, LeftOut{l.Name, l.Reason + " (on " + other.Host + ")"})
		}
	}
	return w.leaveAlone(other.Unmanaged)
}

// on makes a declaration one of a host, with files of its own.
func (d *declaration) on(host string) *declaration {
	d.host = host
	for n, f := range d.files {
		own := "files/" + sitePath(host) + strings.TrimPrefix(f.Name, "files")
		for k, e := range d.properties.Entries {
			if e.Val.Kind == schema.String && e.Val.S == "../"+f.Name {
				d.properties.Entries[k].Val = schema.StringValue("../" + own)
			}
		}
		for placeholder, name := range d.secrets {
			if name == f.Name {
				d.secrets[placeholder] = own
			}
		}
		d.files[n].Name = own
	}
	return d
}

// unite makes one declaration of two of the same resource, false if that is not possible. Values that differ are data.
func (w *Writer) unite(d, m *declaration) bool {
	if len(d.secrets)+len(m.secrets)+d.encrypted+m.encrypted > 0 || len(d.properties.Entries) != len(m.properties.Entries) {
		return false
	}
	ours, theirs := d, m
	if !slices.EqualFunc(d.files, m.files, func(a, b SiteFile) bool {
		return a.Name == b.Name && a.Mode == b.Mode && bytes.Equal(a.Content, b.Content)
	}) {
		ours, theirs = d.clone().on(w.hosts[0]), m.clone().on(w.hosts[1])
		ours.host, ours.files = "", slices.Concat(ours.files, theirs.files)
	}
	differ := map[string][2]schema.Value{}
	for _, e := range ours.properties.Entries {
		v, ok := theirs.properties.Get(e.Key)
		switch {
		case !ok:
			return false
		case sameValue(v, e.Val):
		case v.Kind == e.Val.Kind && isData(v) && isData(e.Val):
			differ[e.Key] = [2]schema.Value{e.Val, v}
		default:
			return false
		}
	}
	*d = *ours
	for _, key := range sortedKeys(differ) {
		name := d.name + " " + key
		if d.typ != string(File) {
			name = d.id() + " " + key
		}
		w.differing = append(w.differing, difference{name, differ[key]})
		placeholder := "data " + name
		d.properties.Set(key, schema.StringValue(placeholder))
		d.data = append(d.data, dataReference{placeholder, name})
	}
	return true
}

// A difference is a value that the two hosts have data for.
type difference struct {
	name   string
	values [2]schema.Value
}

// A dataReference is a text in the properties that stands for data of that name.
type dataReference struct{ placeholder, name string }

// id returns the declaration as a reference to its resource.
func (d *declaration) id() string { return d.typ + "#" + d.name }

// clone returns a copy whose properties and files are its own.
func (d *declaration) clone() *declaration {
	c := *d
	c.properties = &schema.Table{Entries: slices.Clone(d.properties.Entries)}
	c.files = slices.Clone(d.files)
	return &c
}

func sameValue(a, b schema.Value) bool {
	x, err := (&schema.Table{Entries: []schema.Entry{{Val: a}}}).MarshalJSON()
	y, err2 := (&schema.Table{Entries: []schema.Entry{{Val: b}}}).MarshalJSON()
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// isData reports whether a value stays what it is as data, in which texts may have expressions.
func isData(v schema.Value) bool {
	switch v.Kind {
	case schema.Bool, schema.Int:
		return true
	case schema.String:
		return !strings.Contains(v.S, "{{") && isPlain(v.S)
	case schema.List:
		return !slices.ContainsFunc(v.Items(), func(item schema.Value) bool { return item.Kind != schema.String || !isData(item) })
	}
	return false
}

// interleave merges two orders: what only the second has comes behind what is before it there.
func interleave[T any](a, b []T, id func(T) string) []T {
	all := slices.Clone(a)
	at := 0
	for _, x := range b {
		if n := slices.IndexFunc(all, func(y T) bool { return id(y) == id(x) }); n >= 0 {
			at = n + 1
			continue
		}
		all = slices.Insert(all, at, x)
		at++
	}
	return all
}

// dataFile is the file of the site with the data of the hosts.
const dataFile = "data.yaml"

// writeData writes the data of the hosts.
func (w *Writer) writeData() error {
	if len(w.differing) == 0 {
		return nil
	}
	overrides := new(schema.Table)
	for n, host := range w.hosts {
		own := new(schema.Table)
		for _, d := range w.differing {
			own.Set(d.name, d.values[n])
		}
		overrides.Set("host:"+host, schema.MapValue(own))
	}
	text, err := data.EncodeValue(schema.MapValue(&schema.Table{Entries: []schema.Entry{{Key: "overrides", Val: schema.MapValue(overrides)}}}))
	if err != nil {
		return err
	}
	w.add(dataFile, []byte("# What differs between the machines.\ndata: {}\nhierarchy:\n  order: [\"host:{{ lookup('facts.hostname') }}\"]\n"+text), 0o644)
	return nil
}

// literals replaces the texts in a script that stand for Lua expressions.
func (d *declaration) literals(lua string) string {
	for placeholder, at := range d.secrets {
		lua = strings.Replace(lua, luadata.Quote(placeholder), "secret.age "+luadata.Quote("../"+at), 1)
	}
	for _, r := range d.data {
		lua = strings.Replace(lua, luadata.Quote(r.placeholder), "host["+luadata.Quote(r.name)+"]", 1)
	}
	return lua
}
