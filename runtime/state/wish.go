package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/resource"
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

// Cause returns what tells why a resource is to be changed, as [Run.Cause] does.
// It is for plans: nothing is written.
func (s *Store) Cause(site, root string) func(r *resource.Resource, wish string) converge.Cause {
	a := &applied{s: s, site: site, root: root, look: true}
	return a.cause
}
