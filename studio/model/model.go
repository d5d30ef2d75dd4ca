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
	"errors"

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
	ID         string // type#name; of a name that is an expression, the text of that
	Type, Name string
	Names      []string // all names of a call that declares several, Name among them; else nil
	// Path leads to its properties in a manifest: ccm, resources, 0, file, 2, /etc/motd.
	Path []any
	// Call is its number in a script, from 0; -1 in a manifest.
	Call int
	// From and To are the bytes of the declaration, without comments above it.
	From, To int
	// Line and Column are where the catalog places it: its name in a manifest, its constructor in a script. Both
	// count from 1; Column counts bytes.
	Line, Column int
	// Group is which item of ccm.resources it is in, and Item which resource of that item, from
	// 0; of a script Group is -1 and Item the same as Call.
	Group, Item int
	// Props are its properties in the order of the text, without the name.
	Props []Prop
	// Defaults are those that come from the defaults of its group.
	Defaults []Prop
	Form     Form
	// Reason says in a sentence what keeps a form from editing all of it, if Form is not Literal.
	Reason string
	// Shared counts the other resources that an edit of it changes too, because of an anchor or a list of names.
	Shared int

	nameProperty string // that has its name, if the name is among its properties
}

// A Prop is one property as it is written.
type Prop struct {
	Name string
	// Value is what is written, of nil, bool, int64, float64, string, []any and map[string]any.
	// Of a property that is not literal it is nil in a script, and the text in a manifest.
	Value any
	// Text is how the value stands in the file.
	Text string
	// Literal is whether the value is known without evaluating anything.
	Literal bool
	// Reason says what keeps the value from being edited as such, if anything does.
	Reason   string
	From, To int // of the value, in bytes
	Line     int // from 1
}

// Form says how much of a resource a form can edit.
type Form string

// The forms.
const (
	Literal Form = "literal" // all of it
	Partly  Form = "partly"  // some values are expressions, which can be replaced as text
	None    Form = "none"    // only the text
)

// Op is what an edit does.
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
	Split  Op = "split"  // Resource: off a list of names (Name says which), an alias, or its group
)

// An Edit is one wish. Which fields count depends on Op.
type Edit struct {
	Op        Op
	Resource  string
	Resources []string
	Property  string
	Path      []any // of a manifest or a data file: strings are keys, ints are items
	Value     any   // as in Prop
	// Expression is Lua, or a text with ${ } of a manifest, that is put there as it is.
	Expression string
	Type, Name string
	Props      []Prop // Name and Value, or Text of one that is not Literal
	// At is the resource before which something comes; if empty it comes last.
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

// Prop returns the property of that name, nil if it is not written.
func (r *Resource) Prop(name string) *Prop {
	for i := range r.Props {
		if r.Props[i].Name == name {
			return &r.Props[i]
		}
	}
	return nil
}

// Why edits are refused. The error is a *Refusal that wraps one of them.
var (
	ErrShape  = errors.New("this place cannot be edited without changing what is around it")
	ErrShared = errors.New("the value stands elsewhere, behind an alias")
	ErrPath   = errors.New("there is no such place")
)

// A Refusal says why an edit was not made, and where in the text a person can make it.
type Refusal struct {
	Err  error // from 1; 0 for no place
	Line int   // from 1; 0 if there is no place
	Hint string
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Err }

// A Mark is a line of a derived text with something that the file cannot say.
type Mark struct {
	Line     int // of the derived text, from 1
	Resource string
	Property string
	Reason   string // a sentence
}
