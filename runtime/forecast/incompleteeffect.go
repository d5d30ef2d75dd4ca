package forecast

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// An incompleteEffect is a pending resource whose effects a plan does not all know.
type incompleteEffect struct {
	index int
	r     *resource.Resource
	// installsFiles says that it installs files that other resources manage, as packages do.
	installsFiles bool
	// removes says that it may take away files that other resources manage.
	removes bool
	// names are its own and those of what is removed with it.
	names []string
	// onlyCommands says that its effects on files are known.
	onlyCommands bool
	// text is its declaration, which is searched for names.
	text string
}

// incompleteEffects are those of a walk. They can be found by names, because every resource
// that follows asks.
type incompleteEffects struct {
	list []*incompleteEffect
	// byIndex is the same by resource.
	byIndex map[int]*incompleteEffect
	// changingFiles is those that may change files too.
	changingFiles []*incompleteEffect
	// notServices and repositories are those that start nothing that has to stay up, and
	// those that may add repositories of packages.
	notServices, repositories []*incompleteEffect
	// indexed is how many of changingFiles are in the indexes.
	indexed int
	// installers are those that install files.
	installers, otherWords wordIndex
	packages               pieceIndex
	// mentions is those that install no files of others, by the paths in their declarations and all
	// above these.
	mentions map[string][]*incompleteEffect
	textOf   func(r *resource.Resource) (text string, paths []string)
}

// addIncompleteEffect notes that nobody knows all that resource i does. OnlyCommands says
// that its effects on files are known, removes what it removes besides itself.
func (s *suspectFinder) addIncompleteEffect(i int, onlyCommands bool, removes []string) {
	r := s.catalog.Resources[i]
	_, installsFiles := r.Spec.(resource.FileInstaller)
	x := &incompleteEffect{index: i, r: r, installsFiles: installsFiles, onlyCommands: onlyCommands, names: append([]string{r.ID.Name}, removes...)}
	want, ok := r.Spec.(resource.EnsureReporter)
	x.removes = installsFiles && (ok && resource.IsAbsent(want.WantedEnsure()) || len(removes) > 0)
	e := &s.effects
	if e.byIndex == nil {
		e.byIndex, e.mentions = make(map[int]*incompleteEffect), make(map[string][]*incompleteEffect)
		e.textOf = func(r *resource.Resource) (string, []string) { return declarationText(s.view, r) }
	}
	e.list, e.byIndex[i] = append(e.list, x), x
	if onlyCommands {
		return
	}
	e.changingFiles = append(e.changingFiles, x)
	if !isService(r) {
		e.notServices = append(e.notServices, x)
	}
	if x.mayAddRepository() {
		e.repositories = append(e.repositories, x)
	}
}

// declarationText returns what is written about a resource, and the paths that are in it.
func declarationText(v *host.View, r *resource.Resource) (text string, paths []string) {
	if c, ok := r.Spec.(resource.CommandRunner); ok {
		cmd := c.PlannedCommand()
		text = v.Plan().Commands().Text(cmd)
		return text, v.Plan().Commands().Paths(cmd, text)
	}
	var b strings.Builder
	b.WriteString(r.ID.Name)
	properties := r.Type.Schema()
	for _, e := range (schema.Union{properties}).Encode(r.Spec).Entries {
		if f := properties.Field(e.Key); f != nil && f.Values != nil {
			continue // a word of the type, such as the scope system, names nothing of the machine
		}
		fmt.Fprintf(&b, "\n%v", e.Val.Go())
	}
	return b.String(), host.PathsInText(b.String())
}

// index brings the indexes up to date: most plans never ask for a name.
func (e *incompleteEffects) index() {
	for ; e.indexed < len(e.changingFiles); e.indexed++ {
		x := e.changingFiles[e.indexed]
		text, paths := e.textOf(x.r)
		x.text = strings.Join(append([]string{text}, x.names[1:]...), "\n")
		if !x.installsFiles {
			e.otherWords.add(x)
			for _, p := range paths {
				e.addMention(p, x)
			}
			continue
		}
		e.installers.add(x)
		e.packages.add(x)
	}
}

// addMention notes that one mentions a path, or something below it.
func (e *incompleteEffects) addMention(name string, x *incompleteEffect) {
	for at := path.Clean(name); at != "/" && at != "."; at = path.Dir(at) {
		if list := e.mentions[at]; len(list) > 0 && list[len(list)-1] == x {
			return // with all above it
		}
		e.mentions[at] = append(e.mentions[at], x)
	}
}

// mentionsPath reports whether one mentions a path, or something below it.
func (e *incompleteEffects) mentionsPath(x *incompleteEffect, name string) bool {
	e.index()
	_, found := slices.BinarySearchFunc(e.mentions[name], x.index, func(x *incompleteEffect, index int) int { return cmp.Compare(x.index, index) })
	return found
}

// matching yields those that have the path or name of a look, or only such as install files.
func (e *incompleteEffects) matching(look host.Look, onlyInstallers bool) iter.Seq[*incompleteEffect] {
	return func(yield func(*incompleteEffect) bool) {
		for _, list := range e.candidates(look, onlyInstallers) {
			for _, x := range list {
				if x.matches(look) && !yield(x) {
					return
				}
			}
		}
	}
}

// candidates returns lists that have those with the path or name of a look, and few others.
func (e *incompleteEffects) candidates(look host.Look, onlyInstallers bool) [][]*incompleteEffect {
	if look.Kind == host.CommandLook {
		return nil // whatever it says hangs on more than its words
	}
	e.index()
	name, parts := namesOf(look)
	lists := [][]*incompleteEffect{e.installers.find(name)}
	if !onlyInstallers {
		lists = append(lists, e.otherWords.find(name))
	}
	for _, part := range parts {
		lists = append(lists, e.packages.find(part)...)
	}
	return lists
}

// matches reports whether one of them has the path or name of a look.
func (e *incompleteEffects) matches(x *incompleteEffect, look host.Look) bool {
	e.index()
	return x.matches(look)
}

// unrelatedTo returns those that may change what a resource sees if they have nothing in
// common with its look.
func (e *incompleteEffects) unrelatedTo(r *resource.Resource, look host.Look) []*incompleteEffect {
	switch {
	case look.Kind == host.RepositoryLook:
		return e.repositories
	case isService(r):
		return e.notServices // one that is started says nothing of others
	case look.Kind == host.CommandLook:
		return e.list
	}
	return e.changingFiles
}

// isService reports whether a resource starts something that has to stay up.
func isService(r *resource.Resource) bool {
	_, ok := r.Spec.(resource.SettleDelay)
	return ok
}

// repository is in the names of packages that add repositories.
var repository = lazyregexp.New(`repo|release|keyring|sources|apt-config`)

// mayAddRepository reports whether packages that cannot be had may be had
// afterwards.
func (x *incompleteEffect) mayAddRepository() bool {
	switch x.r.Spec.(type) {
	case resource.CommandRunner, *resource.Properties:
		return true
	}
	return x.installsFiles && repository().MatchString(x.r.ID.Name)
}

// namesOf returns the name that a look is searched by in texts, and those that are compared
// with the names of packages.
func namesOf(look host.Look) (name string, parts []string) {
	if look.Kind <= host.TreeLook {
		return path.Base(look.Name), strings.Split(look.Name, "/")
	}
	name = strings.TrimSuffix(path.Base(look.Name), ".service")
	return name, []string{name}
}

// matches reports whether what a resource is about has the path or name of a look.
func (x *incompleteEffect) matches(look host.Look) bool {
	if look.Kind == host.CommandLook {
		return false
	}
	name, parts := namesOf(look)
	isThere := look.Kind == host.PathLook && look.Found
	if hasWord(x.text, name, isThere) || look.Kind <= host.TreeLook && hasPath(x.text, look.Name, isThere) {
		return true
	}
	return x.installsFiles && slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc(x.names, func(pkg string) bool { return sharesName(pkg, part) })
	})
}
