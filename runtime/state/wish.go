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

// String formats w as a line of the file.
func (w wish) String() string {
	return fmt.Sprintf("%016x %016x %s %s", w.spec, w.all, strconv.Quote(w.found), strconv.Quote(w.id))
}

func parseWish(line string) (w wish, err error) {
	spec, line, _ := strings.Cut(line, " ")
	all, line, _ := strings.Cut(line, " ")
	found, errQuote := strconv.QuotedPrefix(line)
	var errs [4]error
	w.spec, errs[0] = strconv.ParseUint(spec, 16, 64)
	w.all, errs[1] = strconv.ParseUint(all, 16, 64)
	w.found, errs[2] = strconv.Unquote(found)
	w.id, errs[3] = strconv.Unquote(strings.TrimPrefix(strings.TrimPrefix(line, found), " "))
	return w, errors.Join(errQuote, errors.Join(errs[:]...))
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
		found := past.byID[id].found
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

// fingerprints returns the fingerprints of all that is declared about each of many
// resources.
func (a *applied) fingerprints(list []*resource.Resource) []uint64 {
	const part = 1024
	sums := make([]uint64, len(list))
	var parts sync.WaitGroup
	for from := 0; from < len(list); from += part {
		to := min(from+part, len(list))
		parts.Go(func() {
			for i, r := range list[from:to] {
				_, sums[from+i] = a.fingerprint(r)
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
