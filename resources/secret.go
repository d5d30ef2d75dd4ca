package resources

// A Secret is a text that no message, report or plan shows. Code that needs the text converts it
// to a string.
type Secret string

// String returns (secret), or "" if there is none.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString returns the same as String, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the same as String, for JSON and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
