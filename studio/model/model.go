// Package model is a site's file as studio shows it: the resources that a manifest or a script
// declares, each with its place in the text, and edits of resources as splices into that text.
// Nothing is evaluated, and no document is printed again: what an edit does not mean stays byte
// for byte. Each edit is proven by reading the new text before it is returned.
//
//	m, err := model.Read("site.yaml", text, types)
//	m, splices, err = m.Apply(model.Edit{Op: model.Set, Resource: "file#/etc/motd", Property: "owner", Value: "root"})
//
// A Model is never changed; an edit returns another one.
package model

import (
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/luaedit"
	"github.com/luaccm/ccm/studio/yamledit"
)

// The languages of files.
const (
	YAML = "yaml"
	Lua  = "lua"
)

// A Splice replaces a range of bytes of a text. splice.UTF16 converts offsets for web pages.
type Splice = splice.Splice

// Types are what can be declared, by the names of constructors.
type Types map[string]Type

// A Type has the properties of a type of resources that the model uses.
type Type struct {
	// NameProperties are the property that names a resource, and its aliases.
	NameProperties []string
	// Module is the module that defines the type, which is also the expression for its constructor in a script: std.line. It
	// is "" for types whose constructors are globals.
	Module string
}

// A Model is the text of a file and what it declares.
type Model struct {
	File      string
	Language  string // YAML or Lua
	Text      string
	Resources []Resource // in the order of the text

	reader reader
	doc    *yamledit.Doc   // of a manifest
	script *luaedit.Script // of a script
}

// A Resource is one declaration. A call in a script that declares several resources is one
// Resource, with all names.
type Resource struct {
	// Key names the resource in edits of this text: its ID, followed by ~2 and so on if an earlier
	// one has the same ID.
	Key        string
	ID         string // type#name; if the name is an expression, with its text
	Type, Name string
	Names      []string // all names of a call that declares several, Name among them; else nil
	// Path is the path of the resource's properties in a manifest: ccm, resources, 0, file, 2,
	// /etc/motd.
	Path []any
	// Call is the number of the call in a script, from 0; -1 in a manifest.
	Call int
	// From and To are the bytes of the declaration, without comments above it.
	From, To int
	// Line and Column are the resource's place in the catalog: of its name in a manifest, of its
	// constructor in a script. Both count from 1; Column counts bytes.
	Line, Column int
	// Group is the index of the resource's item in ccm.resources, and Item its index in that item,
	// from 0; in a script Group is -1 and Item equals Call.
	Group, Item int
	// Props are the resource's properties in the order of the text, without the name.
	Props []Prop
	// Defaults are the properties from the defaults of its group.
	Defaults []Prop
	Form     Form
	// Reason describes in a sentence why a form cannot edit all of the resource, if Form is not Literal.
	Reason string
	// Shared is the number of other resources that an edit of this one changes too, because of an
	// anchor or a list of names.
	Shared int

	nameProperty string // property with the name, if it is among the properties
}

// Reasons of resources whose name, or one of them, is known only by evaluation.
const (
	nameIsExpression    = "the name is an expression"
	namesHaveExpression = "one of the names is an expression"
)

// isNameComputed reports whether a name of the resource is known only by evaluation.
func (r *Resource) isNameComputed() bool {
	return r.Reason == nameIsExpression || r.Reason == namesHaveExpression
}

// A Prop is one property in the text.
type Prop struct {
	Name string
	// Value is the value: nil, bool, int64, float64, string, []any or map[string]any. If it is not
	// literal it is nil in a script, and the text in a manifest.
	Value any
	// Text is the source text of the value.
	Text string
	// Literal is set if the value is known without evaluation.
	Literal bool
	// Reason is why the value cannot be edited as a value, if so.
	Reason   string
	From, To int // of the value, in bytes
	Line     int // from 1
}

// Form describes how much of a resource a form can edit.
type Form string

// The forms.
const (
	Literal Form = "literal" // all of it
	Partly  Form = "partly"  // some values are expressions, which can be replaced as text
	None    Form = "none"    // only the text
)

// Op is the kind of an edit.
type Op string

// The edits. Resources are named by their keys.
const (
	Set    Op = "set"    // Resource, Property, and Value or Expression; or Path and Value
	Unset  Op = "unset"  // Resource and Property; or Path
	Add    Op = "add"    // Type, Name, Props; At
	Remove Op = "remove" // Resources
	Move   Op = "move"   // Resources; At
	Rename Op = "rename" // Resource and Name; or Path and Name
	Copy   Op = "copy"   // Resources; the copies stand behind them, with new names
	Paste  Op = "paste"  // Text, declarations in the language of the file; At
	Insert Op = "insert" // Path of a list, Index, Value
	Order  Op = "order"  // Path of a list, Index, To: an item moves
	Split  Op = "split"  // Resource: off a list of names (Name determines which), an alias, or its group
)

// An Edit is one requested change. Op determines which fields count.
type Edit struct {
	Op        Op
	Resource  string
	Resources []string
	Property  string
	Path      []any // of a manifest or a data file: strings are keys, ints are items
	Value     any   // as in Prop
	// Expression is Lua, or a text with ${ } in a manifest, that is inserted unchanged.
	Expression string
	Type, Name string
	Props      []Prop // Name and Value, or Name and Text if not Literal
	// At is the key of the resource before which the edited ones are put; "" puts them last.
	At    string
	Index int
	To    int
	Text  string
}

// Resource returns the resource with a key, nil if there is none.
func (m *Model) Resource(key string) *Resource {
	for i := range m.Resources {
		if m.Resources[i].Key == key {
			return &m.Resources[i]
		}
	}
	return nil
}

// Prop returns the property with a name, nil if the text has none.
func (r *Resource) Prop(name string) *Prop {
	for i := range r.Props {
		if r.Props[i].Name == name {
			return &r.Props[i]
		}
	}
	return nil
}

// Reasons of refused edits. The error is a *Refusal that wraps one of them.
var (
	ErrShape  = diag.SubjectCannot("", "be edited without changing the text around it")
	ErrShared = diag.OfKind("the value", "an alias of a value elsewhere")
	ErrPath   = diag.NotFound("place", "", nil)
)

// A Refusal describes why an edit was refused, and where in the text a person can make it.
type Refusal struct {
	Err  error // ErrShape, ErrShared or ErrPath, or the mistake in the edit
	Line int   // from 1; 0 for no place
	Hint string
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Err }

// A Mark is a line of a derived text with a part that the file cannot express.
type Mark struct {
	Line     int // of the derived text, from 1
	Resource string
	Property string
	Reason   string // a sentence
}
