package resources

import (
	"net/url"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// A URL is an absolute http or https URL. It prints without its user, its
// password and its query.
type URL struct{ text string }

// UnmarshalText reads a URL such as https://example.net/app.tar.gz.
func (u *URL) UnmarshalText(text []byte) error {
	parsed, err := url.Parse(string(text))
	if err != nil {
		// The error of Parse quotes the text, which may have a secret.
		return diag.Expected("a URL such as https://example.net/app.tar.gz").Got("one that cannot be read")
	}
	shown := fetch.RedactURL(parsed)
	switch {
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return diag.Expected("a URL that begins with http:// or https://").Got("%q", shown)
	case parsed.Hostname() == "":
		return diag.Expected("a URL with a host").Got("%q", shown)
	}
	*u = URL{string(text)}
	return nil
}

// IsZero reports whether there is no URL.
func (u URL) IsZero() bool { return u.text == "" }

// Parse returns the parsed URL, nil if there is none.
func (u URL) Parse() *url.URL {
	if u.text == "" {
		return nil
	}
	parsed, err := url.Parse(u.text)
	if err != nil {
		return nil // UnmarshalText has parsed the text
	}
	return parsed
}

// String formats u for messages.
func (u URL) String() string {
	if parsed := u.Parse(); parsed != nil {
		return fetch.RedactURL(parsed)
	}
	return ""
}

// GoString returns the same as String, for %#v.
func (u URL) GoString() string { return u.String() }

// MarshalText returns the same as String, for JSON and the like.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// PropertyKind implements schema.KindReporter.
func (URL) PropertyKind() string { return "url" }

// JSONSchema implements schema.JSONSchemer.
func (URL) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://.+"}
}
