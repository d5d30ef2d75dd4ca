package schema

// A SecretProperty is a property declared as secret, with its texts.
type SecretProperty struct {
	Name  string
	Texts []string
}

// HoldsSecrets reports whether a property is declared to hold secrets.
func (m Union) HoldsSecrets() bool {
	for _, s := range m {
		for i := range s.Fields {
			if s.Fields[i].isSecret() {
				return true
			}
		}
	}
	return false
}

func (f *Field) isSecret() bool {
	switch {
	case f.Secret:
		return true
	case f.Object != nil:
		return Union{f.Object}.HoldsSecrets()
	}
	return f.Elem != nil && f.Elem.isSecret()
}

// Secrets returns the properties in a table that are declared to hold secrets,
// and hold some.
func (m Union) Secrets(t *Table) (out []SecretProperty) {
	for _, e := range t.Entries {
		if f := m.Field(e.Key); f != nil && f.isSecret() {
			if texts := f.secrets(e.Val); len(texts) > 0 {
				out = append(out, SecretProperty{f.Name, texts})
			}
		}
	}
	return out
}

func (f *Field) secrets(v Value) (out []string) {
	switch {
	case f.Secret:
		return v.texts(false)
	case v.Kind == Map && f.Object != nil:
		for _, p := range (Union{f.Object}).Secrets(v.Table()) {
			out = append(out, p.Texts...)
		}
	case v.Kind == Map && f.Elem != nil:
		for _, e := range v.Table().Entries {
			out = append(out, f.Elem.secrets(e.Val)...)
		}
	case v.Kind == List && f.Elem != nil:
		for _, item := range v.Items() {
			out = append(out, f.Elem.secrets(item)...)
		}
	}
	return out
}

// Texts returns the nonempty texts in a value, at any depth, including names in tables.
func (v Value) Texts() []string { return v.texts(true) }

func (v Value) texts(names bool) (out []string) {
	switch v.Kind {
	case List:
		for _, item := range v.Items() {
			out = append(out, item.texts(names)...)
		}
	case Map:
		for _, e := range v.Table().Entries {
			if names {
				out = append(out, e.Key)
			}
			out = append(out, e.Val.texts(names)...)
		}
	case String, Text:
		if v.S != "" {
			out = append(out, v.S)
		}
	}
	return out
}

// Field returns the property of that name or alias, or nil.
func (m Union) Field(name string) *Field {
	for _, s := range m {
		if f := s.Field(name); f != nil {
			return f
		}
	}
	return nil
}
