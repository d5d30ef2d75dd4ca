package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/diag"
)

// Decode fills the struct that dst points to, or holds (see [Holder]), from t. It
// returns every mistake it finds, each at its place, as a [diag.List].
func (s *Schema) Decode(t *Table, dst any) error {
	return Union{s}.Decode(t, dst)
}

// A Union is the schema of tables whose properties belong to several structs: those of a type, and
// those of every type.
type Union []*Schema

// Decode is like [Schema.Decode] with one struct for each schema. A dst that points to a
// nil pointer gets a new struct if the table has a property for it.
func (m Union) Decode(t *Table, dst ...any) error {
	d := newDecoder(t)
	for _, p := range dst {
		d.dst = append(d.dst, structOf(p))
	}
	d.objects(m, t, d.dst)
	return d.end()
}

// Names returns the names of all properties of all schemas, aliases last.
func (m Union) Names() []string {
	var names []string
	for _, s := range m {
		names = append(names, s.Names()...)
	}
	return names
}

func (d *decoder) object(s *Schema, t *Table, dst reflect.Value) {
	d.objects(Union{s}, t, []reflect.Value{dst})
}

func (d *decoder) objects(m Union, t *Table, dst []reflect.Value) {
	// One bit for each property in the table; see maxProperties.
	var given [4]uint64
	for i := range t.Entries {
		e := &t.Entries[i]
		d.enter(e.Key)
		if k, at, ok := find(m, e.Key); !ok {
			d.fail(true, "", "%s%w", d.outerPrefix(), UnknownProperty(e.Key, m.Names()))
		} else if f := &m[k].Fields[at]; given[k]&(1<<at) != 0 {
			d.fail(true, "", "duplicate %s%s", d.outerPrefix(), f.displayName(e.Key))
		} else if e.Val.Kind != Nil {
			given[k] |= 1 << at
			if e.Val.Kind != Lazy {
				before := len(d.errs)
				f.assign(d, field(dst, k, f), e.Val)
				m.suggest(d.errs[before:], f, e.Key)
			}
		}
		d.leave()
	}
	for k, s := range m {
		for at := range s.Fields {
			f := &s.Fields[at]
			if given[k]&(1<<at) != 0 {
				continue
			}
			switch {
			case f.Default != "":
				f.assign(d, field(dst, k, f), TextValue(f.Default))
			case f.Required || f.IsName:
				d.fail(false, "", "%s%w", d.prefix(), diag.Required(f.Name))
			}
		}
	}
}

// suggest adds a hint to mistakes in references under key if another property may be meant that
// is called alike: insert_before for before.
func (m Union) suggest(mistakes diag.List, f *Field, key string) {
	if len(mistakes) == 0 || f.KindOfValue() != "ref" {
		return
	}
	if other := diag.LastPart(key, m.Names()); other != "" {
		for _, e := range mistakes {
			if e.Hint == "" {
				e.Hint = fmt.Sprintf("did you mean %s?", other)
			}
		}
	}
}

// field returns the destination of the value of f, in struct number k.
func field(dst []reflect.Value, k int, f *Field) reflect.Value {
	if dst[k].Kind() == reflect.Pointer {
		if dst[k].IsNil() {
			dst[k].Set(reflect.New(dst[k].Type().Elem()))
		}
		dst[k] = dst[k].Elem()
	}
	return dst[k].Field(f.index)
}

// displayName returns the name of f for messages, given the name or alias in the table.
func (f *Field) displayName(key string) string {
	if key == f.Name {
		return key
	}
	return fmt.Sprintf("%s (same as %s)", key, f.Name)
}

// A setter stores v in dst.
type setter func(d *decoder, f *Field, dst reflect.Value, v Value)

// assign sets dst, or the value behind dst if that is a pointer.
func (f *Field) assign(d *decoder, dst reflect.Value, v Value) {
	if dst.Kind() == reflect.Pointer {
		p := reflect.New(dst.Type().Elem())
		f.setter(d, f, p.Elem(), v)
		dst.Set(p)
		return
	}
	f.setter(d, f, dst, v)
}

// hasLeadingZero reports whether v is a number that is octal in YAML 1.1 and decimal in YAML 1.2.
func (v Value) hasLeadingZero() bool {
	digits := strings.TrimLeft(v.S, "+-")
	return (v.Kind == Int || v.Kind == Float) && len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("0123456789_", rune(digits[1]))
}

// mismatch reports that v has another kind than f wants.
func (f *Field) mismatch(d *decoder, v Value) {
	hint := ""
	if n, ok := v.X.(Numeral); ok {
		hint = fmt.Sprintf("quote it: %q", string(n))
	}
	if f.Kind == String && (v.Kind == Int || v.Kind == Float) {
		num := strings.TrimPrefix(v.describe(), "the number ")
		hint = fmt.Sprintf("quote it: %q", num)
		if h, ok := reflect.New(elemType(f.goType)).Interface().(interface{ NumberHint(string) string }); ok {
			hint = h.NumberHint(num)
		}
	}
	if (f.Kind == Int || f.Kind == Float) && v.hasLeadingZero() {
		hint = "remove the leading zero, which some readers take for octal"
	}
	if v.Kind == Bool && f.Quoted {
		hint = fmt.Sprintf("quote it to run the command %q", strconv.FormatBool(v.B))
	}
	d.fail(false, hint, "%s%w", d.prefix(), diag.Expected("%s", f.article()).Got("%s", v.describe()))
}

// prefix returns the path of the value, for messages about it; "" for the whole table.
func (d *decoder) prefix() string {
	if len(d.steps) == 0 {
		return ""
	}
	return d.path().String() + ": "
}

// outerPrefix returns the path of what the value is in, for messages about its name.
func (d *decoder) outerPrefix() string {
	last := d.steps[len(d.steps)-1]
	d.leave()
	defer func() { d.steps = append(d.steps, last) }()
	return d.prefix()
}

// article describes the values of f, with an article.
func (f *Field) article() string {
	switch {
	case f.Words:
		return "a string or a list of words"
	case f.Pairs:
		return "a list of KEY=VALUE or a table of names"
	}
	switch f.Kind {
	case Int:
		return "an integer"
	case Float:
		return "a number"
	case Bool:
		return "true or false"
	case List:
		return "a list"
	case Map, Object:
		return "a table"
	}
	return "a string"
}

func elemType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func setText(d *decoder, f *Field, dst reflect.Value, v Value) {
	s, ok := v.text()
	if !ok {
		f.mismatch(d, v)
		return
	}
	if err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		d.fail(false, "", "%s%w", d.prefix(), err)
	}
}

func setString(d *decoder, f *Field, dst reflect.Value, v Value) {
	if f.Words && v.Kind == List {
		setWords(d, dst, v)
		return
	}
	s, ok := v.text()
	if f.Scalar && !ok {
		s, ok = v.scalarText()
	}
	// A manifest that says check: true hardly means the command of that name. Manifests of Choria may say unless: false.
	if !ok || f.Quoted && v.Kind == Bool {
		f.mismatch(d, v)
		return
	}
	if f.Values != nil && !slices.Contains(f.Values, s) {
		d.fail(false, diag.DidYouMean(s, f.Values), "%s%w", d.prefix(), diag.Expected("one of %s", strings.Join(f.Values, ", ")).Got("%q", s))
		return
	}
	dst.SetString(s)
}

// setWord stores a word of a list of words, or a value of a table that becomes a list.
func setWord(d *decoder, dst *string, v Value) {
	f := Field{Kind: String, goType: reflect.TypeFor[string](), setter: setString}
	f.assign(d, reflect.ValueOf(dst).Elem(), v)
}

// setWords joins a list of words to one text, quoted so that a shell, or shellquote.Split, splits
// it into the same words.
func setWords(d *decoder, dst reflect.Value, v Value) {
	words := make([]string, len(v.Items()))
	for i, item := range v.Items() {
		d.enterItem(i)
		setWord(d, &words[i], item)
		d.leave()
	}
	dst.SetString(shellquote.Join(words...))
}

func setBool(d *decoder, f *Field, dst reflect.Value, v Value) {
	if v.Kind == Text {
		if b, err := strconv.ParseBool(v.S); err == nil {
			v = BoolValue(b)
		}
	}
	if v.Kind != Bool {
		f.mismatch(d, v)
		return
	}
	dst.SetBool(v.B)
}

func setInt(d *decoder, f *Field, dst reflect.Value, v Value) {
	if v.Kind == Text {
		if i, err := strconv.ParseInt(v.S, 10, 64); err == nil {
			v = IntValue(i)
		}
	}
	if v.Kind != Int || v.hasLeadingZero() {
		f.mismatch(d, v)
		return
	}
	dst.SetInt(v.I)
}

func setFloat(d *decoder, f *Field, dst reflect.Value, v Value) {
	if v.Kind == Text {
		if x, err := strconv.ParseFloat(v.S, 64); err == nil {
			v = Value{Kind: Float, F: x}
		}
	}
	switch {
	case v.hasLeadingZero():
		f.mismatch(d, v)
	case v.Kind == Int:
		dst.SetFloat(float64(v.I))
	case v.Kind == Float:
		dst.SetFloat(v.F)
	default:
		f.mismatch(d, v)
	}
}

func setAny(d *decoder, f *Field, dst reflect.Value, v Value) {
	if _, ok := v.X.(Numeral); ok {
		f.mismatch(d, v)
		return
	}
	if x := v.Go(); x != nil {
		dst.Set(reflect.ValueOf(x))
	}
}

// setList sets a list; a single item is accepted as a list of scalars.
func setList(d *decoder, f *Field, dst reflect.Value, v Value) {
	if f.Pairs && v.Kind == Map {
		v = pairsOf(d, v.Table())
	}
	items := v.Items()
	if v.Kind == Map && len(v.Table().Entries) == 0 {
		items = []Value{} // an empty Lua table is an empty list
	} else if v.Kind != List {
		scalar := f.Elem.Kind != Object && f.Elem.Kind != Map
		if v.Kind == Map && scalar || v.Kind == Opaque || v.Kind == Bool && f.Quoted {
			f.mismatch(d, v)
			return
		}
		items = []Value{v}
	}
	if f.Added && v.Kind == List {
		items = merged(items)
	}
	list := reflect.MakeSlice(dst.Type(), len(items), len(items))
	for i, item := range items {
		if v.Kind == List {
			d.enterItem(i)
		}
		f.Elem.assign(d, list.Index(i), item)
		if v.Kind == List {
			d.leave()
		}
	}
	dst.Set(list)
}

// merged returns items without repeated texts, after a default was added to a list. Each of the two
// may be an expression whose value is a list; its items replace it.
func merged(items []Value) []Value {
	flat, seen := make([]Value, 0, len(items)), make(map[string]bool, len(items))
	for _, v := range items {
		list := []Value{v}
		if v.Kind == List {
			list = v.Items()
		}
		for _, v := range list {
			text, ok := v.text()
			if !ok || !seen[text] {
				flat = append(flat, v)
			}
			seen[text] = seen[text] || ok
		}
	}
	return flat
}

// pairsOf makes a list of KEY=VALUE, in the order of the keys, of a table.
func pairsOf(d *decoder, t *Table) Value {
	items := make([]Value, 0, len(t.Entries))
	for _, e := range t.Entries {
		d.enter(e.Key)
		var text string
		setWord(d, &text, e.Val)
		d.leave()
		items = append(items, TextValue(e.Key+"="+text))
	}
	slices.SortFunc(items, func(a, b Value) int { return strings.Compare(a.S, b.S) })
	return ListValue(items...)
}

// mapOfPairs converts a list whose items are all KEY=VALUE to a table, and returns any other list
// unchanged.
func mapOfPairs(list Value) Value {
	t := new(Table)
	for _, item := range list.Items() {
		key, val, ok := strings.Cut(item.S, "=")
		if item.Kind != Text || !ok || key == "" {
			return list
		}
		t.Entries = append(t.Entries, Entry{key, TextValue(val)})
	}
	return MapValue(t)
}

func setMap(d *decoder, f *Field, dst reflect.Value, v Value) {
	if v.Kind == Text { // k=v on the command line
		key, val, ok := strings.Cut(v.S, "=")
		if ok {
			v = MapValue(&Table{Entries: []Entry{{key, TextValue(val)}}})
		}
	}
	if v.Kind == List {
		v = mapOfPairs(v)
	}
	if v.Kind != Map {
		f.mismatch(d, v)
		return
	}
	m := reflect.MakeMapWithSize(dst.Type(), len(v.Table().Entries))
	for _, e := range v.Table().Entries {
		d.enter(e.Key)
		elem := reflect.New(dst.Type().Elem()).Elem()
		f.Elem.assign(d, elem, e.Val)
		m.SetMapIndex(reflect.ValueOf(e.Key).Convert(dst.Type().Key()), elem)
		d.leave()
	}
	dst.Set(m)
}

func setObject(d *decoder, f *Field, dst reflect.Value, v Value) {
	if v.Kind != Map {
		f.mismatch(d, v)
		return
	}
	d.object(f.Object, v.Table(), dst)
}
