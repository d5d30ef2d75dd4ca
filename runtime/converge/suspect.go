package converge

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A plan knows all effects of most pending resources: the view shows them. Of the others
// it knows only possible effects. A resource whose status depends on one of these is
// unknown because of it.
//
// It is assumed that none of them changes a path or a unit that another resource of the
// site manages.

// An incompleteEffect is a pending resource whose effects a plan does not all know.
type incompleteEffect struct {
	index int
	r     *resource.Resource
	// brings says that it brings files that other resources manage, as packages do.
	brings bool
	// text is its declaration, which is searched for names.
	text func() string
}

// A rank says why a resource is a suspect: the lower, the surer.
type rank uint8

const (
	declared rank = iota // the order says that one comes after the other
	fits                 // what it is about has the path or name that was looked at
	mayBe                // nothing speaks against it
	unrelated
)

// A suspect is a pending resource that may change the result of a look.
type suspect struct {
	index int
	rank  rank
}

// addIncompleteEffect notes that nobody knows all that resource i does.
func (w *walk) addIncompleteEffect(i int) {
	r := w.catalog.Resources[i]
	_, brings := r.Spec.(resource.FileInstaller)
	w.incompleteEffects = append(w.incompleteEffects, incompleteEffect{index: i, r: r, brings: brings, text: sync.OnceValue(func() string { return w.textOf(r) })})
}

// textOf returns what is written about a resource.
func (w *walk) textOf(r *resource.Resource) string {
	if c, ok := r.Spec.(resource.CommandRunner); ok {
		return w.view.CommandText(c.PlannedCommand())
	}
	var b strings.Builder
	b.WriteString(r.ID.Name)
	for _, e := range (schema.Union{r.Type.Schema()}).Encode(r.Spec).Entries {
		fmt.Fprintf(&b, "\n%v", e.Val.Go())
	}
	return b.String()
}

// suspects returns the resources that may change the results of the looks of resource i,
// the surest first.
func (w *walk) suspects(i int, looks *host.Looks) []suspect {
	if looks == nil {
		return nil
	}
	ranks := make(map[int]rank)
	blame := func(k int, why rank) {
		if old, ok := ranks[k]; w.without[k] {
			return
		} else if !ok || why < old {
			ranks[k] = why
		}
	}
	for _, by := range looks.Doubts() {
		if k, ok := by.(int); ok && k != i {
			blame(k, fits)
		}
	}
	list := looks.List()
	if w.dependsOnAnything(i, list) {
		for k, o := range w.outcomes[:i] {
			if (o == Pending || o == Unknown) && w.comesAfter(i, k) {
				blame(k, declared)
			}
		}
	}
	for n := range w.incompleteEffects {
		if len(list) == 0 && w.failing {
			blame(w.incompleteEffects[n].index, mayBe) // it has other ways to look
		}
		for _, look := range list {
			if why := w.rankOf(i, &w.incompleteEffects[n], look); why != unrelated {
				blame(w.incompleteEffects[n].index, why)
			}
		}
	}
	for k := range maps.Clone(ranks) {
		for _, deeper := range w.because[k] { // what hides behind what k may do
			blame(deeper, mayBe)
		}
	}
	var all []suspect
	for k, why := range ranks {
		if w.comesAfter(i, k) {
			why = declared
		}
		all = append(all, suspect{k, why})
	}
	slices.SortFunc(all, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(w.outcomes[a.index], w.outcomes[b.index]), cmp.Compare(a.index, b.index))
	})
	return all
}

// dependsOnAnything reports whether the looks of resource i may depend on anything.
func (w *walk) dependsOnAnything(i int, list []host.Look) bool {
	if !resource.UncertainAfterPending(w.catalog.Resources[i].Spec) {
		return false
	}
	return len(list) == 0 || slices.ContainsFunc(list, func(l host.Look) bool { return l.Kind == host.CommandLook })
}

// mayBring reports whether anything may bring the thing that resource i did not find.
func (w *walk) mayBring(i int, look host.Look) bool {
	for n := range w.incompleteEffects {
		if w.rankOf(i, &w.incompleteEffects[n], look) != unrelated {
			return true
		}
	}
	return false
}

// rankOf tells why an influence may make a look of resource i see something else.
func (w *walk) rankOf(i int, x *incompleteEffect, look host.Look) rank {
	if x.index == i || look.Kind.MattersMissing() && (look.Found || !w.failing) {
		return unrelated
	}
	if x.matches(look) {
		return w.rankOfMatch(i, x, look)
	}
	after := w.comesAfter(i, x.index)
	if !after && isService(w.catalog.Resources[i]) && isService(x.r) {
		return unrelated // one that is started says nothing of others
	}
	if _, own := w.catalog.Resources[i].Spec.(*resource.Properties); own && !w.failing && look.Kind <= host.TreeLook {
		return unrelated // it looks at what it manages itself
	}
	switch look.Kind {
	case host.CommandLook:
		if resource.UncertainAfterPending(w.catalog.Resources[i].Spec) || after {
			return mayBe
		}
		return unrelated
	case host.PathLook, host.TreeLook:
		switch {
		case w.isManaged(look.Name):
			return unrelated
		case look.Found && w.isOfSite(i, look.Name) && !after:
			return unrelated
		}
		return mayBe
	case host.RepositoryLook:
		if look.Found || !x.mayBringRepository() && !after {
			return unrelated
		}
		return mayBe
	}
	return mayBe
}

// isService reports whether a resource starts something that has to stay up.
func isService(r *resource.Resource) bool {
	_, ok := r.Spec.(resource.SettleDelay)
	return ok
}

// repository is in the names of packages that bring repositories.
var repository = regexp.MustCompile(`repo|release|keyring|sources|apt-config`)

// mayBringRepository reports whether packages that cannot be had may be had
// afterwards.
func (x *incompleteEffect) mayBringRepository() bool {
	switch x.r.Spec.(type) {
	case resource.CommandRunner, *resource.Properties:
		return true
	}
	return x.brings && repository.MatchString(x.r.ID.Name)
}

// rankOfMatch is touches for a look at something that fits the influence.
func (w *walk) rankOfMatch(i int, x *incompleteEffect, look host.Look) rank {
	switch look.Kind {
	case host.CommandLook:
		return fits
	case host.PathLook, host.TreeLook:
		if w.isManaged(look.Name) && (look.Found || !x.brings) {
			return unrelated
		}
		return fits
	case host.RepositoryLook:
		if look.Found || x.brings && !x.mayBringRepository() {
			return unrelated // a package is no repository for one of a like name
		}
		return fits
	}
	return fits
}

// matches reports whether what an influence is about has the path or name of a look.
func (x *incompleteEffect) matches(look host.Look) bool {
	if look.Kind == host.CommandLook {
		return false // whatever it says hangs on more than its words
	}
	text := x.text()
	if look.Kind > host.TreeLook {
		name := strings.TrimSuffix(path.Base(look.Name), ".service")
		return hasWord(text, name) || x.brings && sharesName(x.r.ID.Name, name)
	}
	if strings.Contains(text, look.Name) || hasWord(text, path.Base(look.Name)) {
		return true
	}
	return x.brings && slices.ContainsFunc(strings.Split(look.Name, "/"), func(part string) bool { return sharesName(x.r.ID.Name, part) })
}

// hasWord reports whether a text has a name that stands by itself.
func hasWord(text, name string) bool {
	if len(name) < 2 {
		return false
	}
	for rest := text; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		before, after := rest[:at], rest[at+len(name):]
		if !endsInName(before) && !beginsName(after) {
			return true
		}
		rest = after
	}
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

func endsInName(s string) bool { return s != "" && isNameByte(s[len(s)-1]) }

func beginsName(s string) bool { return s != "" && isNameByte(s[0]) && s[0] != '.' }

var nameParts = regexp.MustCompile(`[a-z]{3,}[0-9]*`)

// sharesName reports whether a package and a part of a path, a unit or a user have a
// name in common: openssh-server and sshd, postgresql-16 and postgresql.
func sharesName(pkg, part string) bool {
	part = strings.TrimSuffix(strings.ToLower(part), path.Ext(part))
	if len(part) < 3 || common[part] {
		return false
	}
	if pkg == part {
		return true
	}
	for _, p := range nameParts.FindAllString(strings.ToLower(pkg), -1) {
		if common[p] {
			continue
		}
		if p == part || len(p) > 3 && strings.Contains(part, p) || len(part) > 2 && strings.Contains(p, strings.TrimSuffix(part, "d")) && len(strings.TrimSuffix(part, "d")) > 2 {
			return true
		}
	}
	return false
}

// common are words in the names of packages and paths that say nothing of what
// they belong to.
var common = map[string]bool{
	"etc": true, "usr": true, "var": true, "lib": true, "bin": true, "sbin": true, "opt": true, "srv": true, "run": true, "tmp": true,
	"home": true, "root": true, "share": true, "local": true, "conf": true, "config": true, "common": true, "server": true, "client": true,
	"core": true, "base": true, "utils": true, "tools": true, "data": true, "doc": true, "dev": true, "full": true, "light": true,
	"extras": true, "default": true, "system": true, "systemd": true, "service": true, "log": true, "cache": true, "proc": true, "sys": true,
	"app": true, "www": true, "the": true, "demo": true,
}

// comesAfter reports whether resource i comes after k because the site says so,
// directly or by way of others.
func (w *walk) comesAfter(i, k int) bool {
	if len(w.catalog.Deps[i]) == 0 {
		return false
	}
	seen := make(map[int]bool)
	var visit func(i int) bool
	visit = func(i int) bool {
		for _, d := range w.catalog.Deps[i] {
			if d.Index == k {
				return true
			}
			if d.Index > k && !seen[d.Index] {
				seen[d.Index] = true
				if visit(d.Index) {
					return true
				}
			}
		}
		return false
	}
	return visit(i)
}

// A manager is a resource that manages a path.
type manager struct {
	index int
	tree  bool // with all that is below it
}

// isManaged reports whether a resource of the site manages a path, or a directory
// that it is in with all that is in there.
func (w *walk) isManaged(name string) bool {
	if w.managed == nil {
		w.managed = make(map[string][]manager)
		for i, r := range w.catalog.Resources {
			paths, tree := managedBy(r)
			for _, p := range paths {
				w.managed[p] = append(w.managed[p], manager{i, tree})
				if real := w.view.PathOf(p); real != p {
					w.managed[real] = append(w.managed[real], manager{i, tree})
				}
			}
		}
	}
	counts := func(m manager) bool { return !w.without[m.index] }
	if slices.ContainsFunc(w.managed[name], counts) {
		return true
	}
	for at := path.Dir(name); at != "/" && at != "."; at = path.Dir(at) {
		if slices.ContainsFunc(w.managed[at], func(m manager) bool { return m.tree && counts(m) }) {
			return true
		}
	}
	return false
}

// managedBy returns the paths that a resource manages. Tree says that it manages all below
// them too.
func managedBy(r *resource.Resource) (list []string, tree bool) {
	if filepath.IsAbs(r.ID.Name) && r.Spec != nil {
		if _, isCommand := r.Spec.(resource.CommandRunner); !isCommand {
			list = append(list, path.Clean(r.ID.Name))
		}
	}
	if c, ok := r.Spec.(resource.EffectBound); ok {
		var paths []string
		paths, tree = c.ConfinedTo()
		list = append(list, paths...)
	}
	return list, tree
}

// isOfSite reports whether a file lies beside the script or manifest that declares
// resource i, or below.
func (w *walk) isOfSite(i int, name string) bool {
	file := w.catalog.Resources[i].Pos.File
	if file == "" {
		return false
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	return err == nil && dir != "/" && strings.HasPrefix(name, dir+"/")
}
