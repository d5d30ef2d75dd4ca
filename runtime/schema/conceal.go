package schema

// SecretText replaces the texts of secret properties.
const SecretText = "(secret)"

// Conceal returns t with its secrets concealed: the texts of secret properties, at any depth. Names
// in a secret table stay.
func (m Union) Conceal(t *Table) *Table {
	out := &Table{Entries: make([]Entry, len(t.Entries)), Positions: t.Positions}
	for i, e := range t.Entries {
		out.Entries[i] = e
		for _, s := range m {
			if f := s.Field(e.Key); f != nil {
				out.Entries[i].Val = f.conceal(e.Val)
				break
			}
		}
	}
	return out
}

func (f *Field) conceal(v Value) Value {
	switch {
	case f.Secret:
		return concealScalars(v)
	case f.Object != nil && v.Kind == Map:
		return MapValue(Union{f.Object}.Conceal(v.Table()))
	case f.Elem != nil && v.Kind == List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = f.Elem.conceal(item)
		}
		return ListValue(items...)
	}
	return v
}

// concealScalars returns v with every scalar replaced by [SecretText].
func concealScalars(v Value) Value {
	switch v.Kind {
	case Nil:
		return v
	case List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = concealScalars(item)
		}
		return ListValue(items...)
	case Map:
		t := new(Table)
		for _, e := range v.Table().Entries {
			t.Entries = append(t.Entries, Entry{e.Key, concealScalars(e.Val)})
		}
		return MapValue(t)
	}
	return StringValue(SecretText)
}
