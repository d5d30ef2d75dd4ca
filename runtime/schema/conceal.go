package schema

// Concealed is what is shown in the place of a secret.
const Concealed = "(secret)"

// Conceal returns t with what is secret in it concealed: the texts in it, at any
// depth. The names in a secret table are kept.
func (m Mix) Conceal(t *Table) *Table {
	out := &Table{Entries: make([]Entry, len(t.Entries)), Where: t.Where}
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
		return concealed(v)
	case f.Object != nil && v.Kind == Map:
		return MapValue(Mix{f.Object}.Conceal(v.Table()))
	case f.Elem != nil && v.Kind == List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = f.Elem.conceal(item)
		}
		return ListValue(items...)
	}
	return v
}

// concealed returns v with every scalar in it replaced.
func concealed(v Value) Value {
	switch v.Kind {
	case Nil:
		return v
	case List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = concealed(item)
		}
		return ListValue(items...)
	case Map:
		t := new(Table)
		for _, e := range v.Table().Entries {
			t.Entries = append(t.Entries, Entry{e.Key, concealed(e.Val)})
		}
		return MapValue(t)
	}
	return StringValue(Concealed)
}
