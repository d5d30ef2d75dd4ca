package model

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/textedit/splice"

	"github.com/luaccm/ccm/runtime/diag"
)

// A reader makes models of a file.
type reader struct {
	file  string
	types Types
}

// LanguageOf returns the language of a file by its name: YAML, Lua, or "" for another one.
func LanguageOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".yaml", ".yml":
		return YAML
	case ".lua":
		return Lua
	}
	return ""
}

// Read reads the text of a file. The error is a *Refusal about the syntax of the text, or about a
// manifest of more than one document. types may be nil: then names are expected as keys and, in
// scripts, nothing is a constructor.
func Read(file, text string, types Types) (*Model, error) {
	return reader{file, types}.read(LanguageOf(file), text)
}

func (r reader) read(language, text string) (*Model, error) {
	switch language {
	case YAML:
		return r.readYAML(text)
	case Lua:
		return r.readLua(text)
	}
	return nil, &Refusal{Err: diag.Not(r.file, "a manifest or script")}
}

// Apply makes an edit. The splices are of the text of m, in order. The error is a *Refusal.
func (m *Model) Apply(e Edit) (*Model, []Splice, error) {
	ed := m.edit()
	if err := apply(ed, e); err != nil {
		return nil, nil, m.refusal(err, e)
	}
	out := ed.model()
	return out, splice.Join(m.Text, ed.splices()), nil
}

// refusal adds to an error the place in the text where a person can make the edit.
func (m *Model) refusal(err error, e Edit) error {
	if r, ok := err.(*Refusal); ok {
		return r
	}
	r := &Refusal{Err: err}
	keys := append([]string{e.Resource}, e.Resources...)
	for _, key := range keys {
		res := m.Resource(key)
		if res == nil {
			continue
		}
		r.Line = res.Line
		if p := res.Prop(e.Property); p != nil {
			r.Line = p.Line
		}
		break
	}
	return r
}

// setKeys gives each resource its key.
func setKeys(list []Resource) {
	seen := make(map[string]int, len(list))
	for i := range list {
		id := list[i].ID
		seen[id]++
		list[i].Key = id
		if n := seen[id]; n > 1 {
			list[i].Key = fmt.Sprintf("%s~%d", id, n)
		}
	}
}

// setForm sets how much of a resource a form can edit.
func (r *Resource) setForm() {
	if r.Form == None {
		return
	}
	r.Form = Literal
	for _, p := range r.Props {
		if !p.Literal {
			r.Form = Partly
			if r.Reason == "" {
				r.Reason = p.Name + ": " + p.Reason
			}
		}
	}
	if r.Reason != "" {
		r.Form = Partly
	}
}

// indexOf returns the index of the resource with a key.
func indexOf(list []Resource, key string) (int, error) {
	for i := range list {
		if list[i].Key == key {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: %w", ErrPath, diag.NotFound("resource", key, nil))
}

// newName returns a name that no resource of the type has: the name with a number behind it.
func newName(list []Resource, typ, name string) string {
	taken := make(map[string]bool)
	for _, r := range list {
		taken[r.ID] = true
		for _, n := range r.Names {
			taken[r.Type+"#"+n] = true
		}
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s-%d", name, n); !taken[typ+"#"+next] {
			return next
		}
	}
}

// edit begins an edit.
func (m *Model) edit() editor {
	if m.Language == Lua {
		return &luaEditor{reader: m.reader, script: m.script, res: m.Resources, now: m}
	}
	return &yamlEditor{reader: m.reader, doc: m.doc, res: m.Resources}
}
