package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Flag is a property as a flag of the command line:
//
//	--mode 0644                 a value
//	--enable, --no-enable       a boolean
//	--require a#b --require c#d a list: one item each time
//	--headers KEY=VALUE         a map: one entry each time
//	--health-checks JSON        an object, or a list item that is one: a JSON object
//
// A value stays text until it is decoded, so that it takes the type of its
// property.
type Flag struct {
	Field *Field
	// Name is the name of the flag without dashes.
	Name string

	table *Table
	no    bool // the --no- form of a boolean
}

var _ pflag.Value = (*Flag)(nil)

// Flags adds flags for the properties of m to fs, except for those in leaveOut, and
// returns them in order. They store their arguments in t. A flag has the name of its
// property, with hyphens for underscores; if taken reports that another flag has that
// name, prefix and a hyphen are before it. Aliases are hidden flags.
func (m Union) Flags(fs *pflag.FlagSet, t *Table, prefix string, taken func(name string) bool, leaveOut ...string) []*Flag {
	var all []*Flag
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(flagName(name))
	})
	add := func(f *Field, name string, hidden bool) {
		name = flagName(name)
		if taken(name) {
			name = prefix + "-" + name
		}
		if fs.Lookup(name) != nil {
			return // an earlier schema has the property
		}
		forms := []*Flag{{Field: f, Name: name, table: t}}
		if f.Kind == Bool {
			forms = append(forms, &Flag{Field: f, Name: "no-" + name, table: t, no: true})
		}
		for _, x := range forms {
			p := fs.VarPF(x, x.Name, "", "")
			// The --no- form has a use only if "not managed" is a third value.
			p.Hidden = hidden || x.no && !f.Optional
			if p.DefValue = f.Default; f.Kind == Bool {
				p.NoOptDefVal, p.DefValue = "true", ""
			}
			p.Usage = x.usage()
			if !p.Hidden {
				all = append(all, x)
			}
		}
	}
	for _, s := range m {
		for i := range s.Fields {
			f := &s.Fields[i]
			if f.IsName || slices.Contains(leaveOut, f.Name) {
				continue
			}
			add(f, f.Name, false)
			for _, alias := range f.Aliases {
				add(f, alias, true)
			}
		}
	}
	return all
}

func flagName(property string) string { return strings.ReplaceAll(property, "_", "-") }

// Describe fills in the help of the flags in fs, whose schemas have been
// documented since the flags were made (see [Document]).
func Describe(fs *pflag.FlagSet) {
	fs.VisitAll(func(p *pflag.Flag) {
		if f, ok := p.Value.(*Flag); ok {
			p.Usage = f.usage()
		}
	})
}

// usage is the first sentence of the documentation.
func (x *Flag) usage() string {
	f := x.Field
	if x.no {
		return "the opposite of --" + strings.TrimPrefix(x.Name, "no-")
	}
	text := strings.Join(strings.Fields(f.Doc), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSuffix(text, ".")
	if rest, ok := strings.CutPrefix(text, f.Name+" "); ok {
		for _, verb := range []string{"is ", "are "} {
			if what, ok := strings.CutPrefix(rest, verb); ok {
				rest = what
			}
		}
		text = rest
	}
	if f.Kind == List || f.Kind == Map || f.Words {
		text = strings.TrimLeft(text+" (repeatable)", " ")
	}
	// pflag takes a word in back quotes for the type of the value.
	return strings.ReplaceAll(text, "`", "'")
}

// String implements pflag.Value. A flag has no text of its own.
func (*Flag) String() string { return "" }

// Type implements pflag.Value: it describes what the flag takes, for help.
func (x *Flag) Type() string {
	f := x.Field
	if f.Kind == List {
		f = f.Elem
	}
	switch {
	case f.Kind == Bool:
		return "bool"
	case f.Values != nil:
		return strings.Join(f.Values, "|")
	case f.Kind == Map && isScalar(f.Elem):
		return "KEY=VALUE"
	case f.Kind == Map || f.Kind == Object:
		return "JSON"
	case f.Words, f.Scalar && f.Kind == String:
		return "string"
	}
	return strings.ReplaceAll(f.Describe(), " ", "-")
}

func isScalar(f *Field) bool { return f.Kind != Map && f.Kind != Object && f.Kind != List }

// Set implements pflag.Value: it adds what was given to the table.
func (x *Flag) Set(s string) error {
	f, name := x.Field, x.Field.Name
	switch {
	case x.no && s != "true":
		return errors.New("does not take a value")
	case x.no:
		x.table.Entries = append(x.table.Entries, Entry{name, BoolValue(false)})
		return nil
	case f.Words:
		x.addWord(s)
		return nil
	case f.Kind != List && f.Kind != Map:
		v, err := argument(f, s)
		// A second one is added as well: that it is given twice is for the decoder
		// to say.
		x.table.Entries = append(x.table.Entries, Entry{name, v})
		return err
	}
	had, given := x.table.Get(name)
	if f.Kind == List {
		v, err := argument(f.Elem, s)
		x.table.Set(name, ListValue(append(had.Items(), v)...))
		return err
	}
	v, err := argument(f, s)
	if err != nil {
		return err
	}
	if given {
		for _, e := range v.Table().Entries {
			if _, twice := had.Table().Get(e.Key); twice {
				return diag.Duplicate("%s", e.Key)
			}
			had.Table().Entries = append(had.Table().Entries, e)
		}
		v = had
	}
	x.table.Set(name, v)
	return nil
}

// addWord adds a text that may be a list of words: given once it is a line, given again each is a word.
func (x *Flag) addWord(s string) {
	name, v := x.Field.Name, TextValue(s)
	if had, given := x.table.Get(name); given && had.Kind == List {
		v = ListValue(append(had.Items(), v)...)
	} else if given {
		v = ListValue(had, v)
	}
	x.table.Set(name, v)
}

// argument returns the value of one argument for f.
func argument(f *Field, s string) (Value, error) {
	switch {
	case f.Kind == Map && isScalar(f.Elem):
		key, val, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return Value{}, diag.Expected("KEY=VALUE").Got("%q", s)
		}
		v, err := argument(f.Elem, val)
		return MapValue(&Table{Entries: []Entry{{key, v}}}), err
	case f.Kind == Map, f.Kind == Object:
		v, err := jsonArgument(s)
		if err == nil && v.Kind != Map {
			err = fmt.Errorf("got %s", v.describe())
		}
		if err != nil {
			return Value{}, diag.Expected("a JSON object, %w", err)
		}
		return v, nil
	case f.Kind == List:
		v, err := jsonArgument(s)
		if err == nil && v.Kind != List {
			err = fmt.Errorf("got %s", v.describe())
		}
		if err != nil {
			return Value{}, diag.Expected("a JSON array, %w", err)
		}
		return v, nil
	case f.Kind == Any:
		// What is JSON is what it says, anything else is text.
		if v, err := jsonArgument(s); err == nil {
			return v, nil
		}
	}
	return TextValue(s), nil
}

// jsonArgument reads a text that is one JSON value.
func jsonArgument(s string) (Value, error) {
	v, err := parseValue([]byte(s))
	if err != nil {
		return Value{}, fmt.Errorf("got %q: %w", s, err)
	}
	return v, nil
}

// Suggestions returns values that can be offered for f: all there are of a closed
// set, and those that its JSON Schema lists of an open one.
func (f *Field) Suggestions() []string {
	if f.Kind == List {
		return f.Elem.Suggestions()
	}
	if f.Values != nil {
		return f.Values
	}
	if f.Kind != String {
		return nil
	}
	return enumOf(f.shape())
}

func enumOf(shape map[string]any) []string {
	var out []string
	add := func(list any) {
		items, _ := list.([]any)
		for _, item := range items {
			switch x := item.(type) {
			case string:
				out = append(out, x)
			case map[string]any:
				out = append(out, enumOf(x)...)
			}
		}
	}
	add(shape["enum"])
	add(shape["anyOf"])
	return out
}
