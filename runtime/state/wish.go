package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A wish is what was wanted of a resource when it was last in order.
type wish struct {
	id string
	// spec is the fingerprint of what is wanted, all that of everything that was
	// declared about the resource.
	spec, all uint64
	// found is the part of it that the state told (resource.Wishing), or "".
	found string
}

// append appends w to b as a line of the file, without its end.
func (w wish) append(b []byte) []byte {
	b = append(appendSum(b, w.spec), ' ')
	b = append(appendSum(b, w.all), ' ')
	b = append(strconv.AppendQuote(b, w.found), ' ')
	return strconv.AppendQuote(b, w.id)
}

// appendSum appends a fingerprint, which has 16 digits.
func appendSum(b []byte, sum uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[sum>>shift&15])
	}
	return b
}

// parseWish is the inverse of append. What it returns holds on to line.
func parseWish(line string) (w wish, err error) {
	var errs [4]error
	w.spec, line, errs[0] = cutSum(line)
	w.all, line, errs[1] = cutSum(line)
	w.found, line, errs[2] = unquoted(line)
	w.id, line, errs[3] = unquoted(strings.TrimPrefix(line, " "))
	if errs == [4]error{} && line == "" {
		return w, nil
	}
	return w, errors.Join(errors.New("no line of this file"), errors.Join(errs[:]...))
}

// cutSum returns the fingerprint at the beginning of line, and what comes after the
// blank behind it.
func cutSum(line string) (sum uint64, rest string, err error) {
	if len(line) < 17 || line[16] != ' ' {
		return 0, line, errors.New("want a fingerprint of 16 digits")
	}
	for i := range 16 {
		c := line[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, line, errors.New("want a fingerprint in hexadecimal")
		}
		sum = sum<<4 | uint64(c)
	}
	return sum, line[17:], nil
}

// unquoted returns the text that is quoted at the beginning of line, and what
// comes after it.
func unquoted(line string) (text, rest string, err error) {
	if len(line) > 0 && line[0] == '"' {
		text, rest, found := strings.Cut(line[1:], `"`)
		if found && strings.IndexByte(text, '\\') < 0 {
			return text, rest, nil // as nearly all are
		}
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", line, err
	}
	text, err = strconv.Unquote(quoted)
	return text, line[len(quoted):], err
}

// Wishes returns what tells, of a resource of an applied catalog, what its state
// said of what was wanted of it (resource.Wishing); "" if that is not known.
func (s *Store) Wishes(a Applied) func(r *resource.Resource) string {
	past := &applied{s: s, site: a.Site, root: a.Root, look: true}
	past.load()
	lazy := make(map[string]bool)
	_ = s.readCatalog(a.name, func(d declared) { lazy[d.ID] = d.Lazy }) // who reads it anyway says what is wrong
	return func(r *resource.Resource) string {
		id := r.ID.String()
		w, _ := past.wishes.of(id)
		found := w.found
		if lazy[id] {
			found = withoutFingerprint(found)
		}
		return found
	}
}

// withoutFingerprint returns what the state of a resource told of which not all is
// known when it is declared: behind it the engine puts the fingerprint of what it
// was when its turn had come.
func withoutFingerprint(found string) string { return found[:max(0, len(found)-16)] }

// withFingerprint returns what is known to have been found of a resource that has
// the fingerprint now, and was as wanted: what its state told before, if that was
// with the same one.
func withFingerprint(found string, now uint64) string {
	text := fmt.Sprintf("%016x", now)
	if strings.HasSuffix(found, text) {
		return found
	}
	return text
}

// sameFound reports whether two findings about a resource, whose fingerprint may
// be part of them, are of one wish, as far as they tell.
func sameFound(a, b string, lazy bool) bool {
	if lazy && a != "" && b != "" {
		one, other := withoutFingerprint(a), withoutFingerprint(b)
		if a[len(one):] != b[len(other):] {
			return false
		}
		a, b = one, other
	}
	return a == "" || b == "" || a == b
}

// Cause returns what tells why a resource is to be changed, as [Run.Cause] does.
// It is for plans: nothing is written.
func (s *Store) Cause(site, root string) func(r *resource.Resource, wish string) converge.Cause {
	a := &applied{s: s, site: site, root: root, look: true}
	return a.cause
}

// fingerprint returns the fingerprint of what is wanted of a resource, and that
// of all that is declared about it. If there are secrets in it they are keyed:
// what a weak secret is could be found out otherwise.
func (a *applied) fingerprint(r *resource.Resource) (spec, all uint64) {
	spec, all = fingerprint(r)
	if len(r.Sensitive) > 0 {
		return a.keyedNumber(spec), a.keyedNumber(all)
	}
	return spec, all
}

// fingerprints are those of one resource.
type fingerprints struct{ spec, all uint64 }

// fingerprints returns the fingerprints of many resources.
func (a *applied) fingerprints(list []*resource.Resource) []fingerprints {
	const part = 1024
	sums := make([]fingerprints, len(list))
	var parts sync.WaitGroup
	for from := 0; from < len(list); from += part {
		to := min(from+part, len(list))
		parts.Go(func() {
			for i, r := range list[from:to] {
				sums[from+i].spec, sums[from+i].all = a.fingerprint(r)
			}
		})
	}
	parts.Wait()
	return sums
}

func (a *applied) keyedNumber(n uint64) uint64 {
	sum, _ := strconv.ParseUint(a.s.secrets.Digest("fingerprint", strconv.FormatUint(n, 16))[:16], 16, 64)
	return sum
}

// keyed returns what a state told of a wish, keyed like a fingerprint.
func (a *applied) keyed(r *resource.Resource, found string) string {
	if found == "" || len(r.Sensitive) == 0 {
		return found
	}
	return a.s.secrets.Digest("wish", found)
}

func fingerprint(r *resource.Resource) (spec, all uint64) {
	spec = r.Type.Schema().Fingerprint(r.Spec)
	all = schema.Mixed(spec, resource.CommonSchema().Fingerprint(&r.Common))
	return spec, schema.MixedString(schema.MixedString(all, r.ID.Type), r.ID.Name)
}
