package resources

// A Secret is a text that no message, report or plan shows. What needs it
// converts it to a string.
type Secret string

// String returns (secret), or "" if there is none.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString returns what String returns, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns what String returns, for JSON and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
