package resources

import (
	"errors"
	"maps"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/resource"
)

// Validate implements resource.Spec.
func (a Archive) Validate() error {
	var errs []error
	if err := checkPath("name", a.Name); err != nil {
		errs = append(errs, err)
	}
	if a.Ensure != ArchiveAbsent {
		for _, p := range []struct {
			name  string
			given bool
		}{{"url", !a.URL.IsZero() || a.Source != ""}, {"owner", a.Owner != ""}, {"group", a.Group != ""}} {
			if !p.given {
				errs = append(errs, &resource.PropertyError{Property: p.name, Err: diag.RequiredUnless("", "ensure is absent")})
			}
		}
	}
	errs = append(errs, a.checkSuffix(), a.checkExtraction(), a.checkAuthorization(), a.checkHeaders())
	return errors.Join(errs...)
}

// checkSuffix returns an error if the URL or source is no archive, or has another suffix than the
// name.
func (a Archive) checkSuffix() error {
	property, path := "source", a.Source
	switch u := a.URL.Parse(); {
	case u != nil && a.Source != "":
		return wrong("source", "%w", diag.Conflicting("", "url"))
	case u != nil:
		property, path = "url", u.Path
	case path == "":
		return nil
	case a.Username != "" || len(a.Headers) > 0:
		return wrong("source", "a path cannot be used with username or headers")
	}
	suffix := diag.Expected("a path that ends in one of %s", unpack.Suffixes())
	from, name := unpack.FormatOf(path), unpack.FormatOf(a.Name)
	switch {
	case from == "":
		return wrong(property, "%w", suffix.Got("%q", filepath.Base(path)))
	case name == "":
		return wrong("name", "%w", suffix.Got("%q", a.Name))
	case from != name:
		return wrong(property, "%w", diag.Expected("the suffix %s that the name has", name).Got("%s", from))
	}
	return nil
}

func (a Archive) checkExtraction() error {
	var errs []error
	for _, p := range []struct{ property, path string }{{"extract_parent", a.ExtractParent}, {"creates", a.Creates}} {
		if p.path != "" {
			if err := checkPath(p.property, p.path); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if a.Strip < 0 {
		errs = append(errs, wrong("strip", "%w", diag.MustBe("at least 0").Got("%d", a.Strip)))
	}
	if a.Strip > 0 && a.ExtractParent == "" {
		errs = append(errs, wrong("strip", "requires extract_parent"))
	}
	if a.Parents && a.Ensure == ArchiveAbsent {
		errs = append(errs, wrong("parents", "requires ensure present"))
	}
	if a.Cleanup && a.ExtractParent == "" {
		errs = append(errs, wrong("cleanup", "requires extract_parent"))
	}
	if a.Cleanup && a.Creates == "" {
		errs = append(errs, wrong("cleanup", "requires creates, which shows whether the archive is extracted"))
	}
	if a.Creates != "" && a.Creates == a.Name {
		errs = append(errs, wrong("creates", "%w", diag.Expected("a path in the archive").Got("the archive")))
	}
	if a.OnURLChange == ArchiveExtract && (a.Creates == "" || a.ExtractParent == "") {
		errs = append(errs, wrong("on_url_change", "extract requires extract_parent and creates"))
	}
	if a.MaxEntries < 1 {
		errs = append(errs, wrong("max_entries", "%w", diag.MustBe("at least 1").Got("%d", a.MaxEntries)))
	}
	return errors.Join(errs...)
}

// checkAuthorization returns an error if a request has several credentials.
func (a Archive) checkAuthorization() error {
	if a.Password != "" && a.Username == "" {
		return wrong("password", "requires username")
	}
	if u := a.URL.Parse(); u != nil && u.User != nil && a.Username != "" {
		return wrong("username", "%w", diag.Conflicting("", "a user in url"))
	}
	if strings.Contains(a.Username, ":") {
		return wrong("username", "%w", diag.Expected("a name without a colon"))
	}
	for name := range a.Headers {
		if a.Username != "" && strings.EqualFold(name, "Authorization") {
			return wrong("username", "%w", diag.Conflicting("", "the header Authorization"))
		}
	}
	return nil
}

func (a Archive) checkHeaders() error {
	var errs []error
	seen := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case name == "" || strings.ContainsFunc(name, notInHeaderName):
			errs = append(errs, wrong("headers", "%w", diag.Expected("the name of a header").Got("%q", name)))
		case strings.ContainsFunc(string(a.Headers[name]), notInHeaderValue):
			errs = append(errs, wrong("headers", "%w", diag.Expected("one line as the value of %s", name)))
		case seen[key]:
			errs = append(errs, wrong("headers", "%s is given twice", key))
		}
		seen[key] = true
	}
	return errors.Join(errs...)
}

// notInHeaderName reports whether c is not a tchar of RFC 9110, section 5.6.2.
func notInHeaderName(c rune) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// notInHeaderValue reports whether c is a control character other than a tab.
func notInHeaderValue(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
