package forecast

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// An incompleteEffect is a pending or unknown resource with effects that a plan does not know.
type incompleteEffect struct {
	index int
	r     *resource.Resource
	// installsFiles says that the resource installs files that other resources manage, as packages
	// do.
	installsFiles bool
	// removes says that the resource may remove files that other resources manage.
	removes bool
	// names are the name of the resource and the names of resources installed or removed with it.
	names []string
	// predicted says that the provider knows what is installed and removed with it.
	predicted bool
	// files knows the files of what is installed together with the resource; nil if nothing does.
	files *resource.FileLists
	// onlyCommands says that all effects on files are known.
	onlyCommands bool
	// text is the resource's declaration, which is searched for names.
	text string
}

// incompleteEffects are the incomplete effects of a walk, indexed by names, because every later
// resource searches them.
type incompleteEffects struct {
	list []*incompleteEffect
	// byIndex is list by the index of the resource.
	byIndex map[int]*incompleteEffect
	// changingFiles are the effects that may change files too.
	changingFiles []*incompleteEffect
	// notServices are the effects of resources that start no service, and repositories those that
	// may add package repositories.
	notServices, repositories []*incompleteEffect
	// indexed is how many of changingFiles are in the indexes.
	indexed int
	// installers are the effects that install files, otherWords the other ones.
	installers, otherWords wordIndex
	packages               pieceIndex
	// mentions are the effects that install no files, by the paths in their declarations and by
	// all directories above these paths.
	mentions map[string][]*incompleteEffect
	textOf   func(r *resource.Resource) (text string, paths []string)
}

// addIncompleteEffect notes that d does not have all effects of resource i. P is the prediction of the provider, if it
// predicts many resources at once.
func (s *suspectFinder) addIncompleteEffect(i int, d resource.Decision, p resource.Prediction, predicted bool) {
	r := s.catalog.Resources[i]
	installsFiles := resource.TraitsOf(r.Spec).BringsFiles
	x := &incompleteEffect{
		index: i, r: r, installsFiles: installsFiles, onlyCommands: d.FilesComplete,
		names: slices.Concat([]string{r.ID.Name}, p.Installs, p.Removes), predicted: predicted && p.Err == nil,
	}
	want, ok := r.Spec.(resource.EnsureReporter)
	x.removes = installsFiles && (ok && resource.IsAbsent(want.WantedEnsure()) || len(p.Removes) > 0)
	if x.predicted && !x.removes {
		x.files = p.Files
	}
	e := &s.effects
	if e.byIndex == nil {
		e.byIndex, e.mentions = make(map[int]*incompleteEffect), make(map[string][]*incompleteEffect)
		e.textOf = func(r *resource.Resource) (string, []string) { return declarationText(s.view, r) }
	}
	e.list, e.byIndex[i] = append(e.list, x), x
	if x.onlyCommands {
		return
	}
	e.changingFiles = append(e.changingFiles, x)
	if !isService(r) && !d.OnlyServices {
		e.notServices = append(e.notServices, x)
	}
	if x.mayAddRepository() {
		e.repositories = append(e.repositories, x)
	}
}

// declarationText returns the text of a resource's declaration, and the paths in it.
func declarationText(v *host.View, r *resource.Resource) (text string, paths []string) {
	if command := resource.TraitsOf(r.Spec).Command; command != nil {
		cmd := command()
		text = v.Overlay().Commands().Text(cmd)
		return text, v.Overlay().Commands().Paths(cmd, text)
	}
	var b strings.Builder
	b.WriteString(r.ID.Name)
	properties := r.Type.Schema()
	for _, e := range (schema.Union{properties}).Encode(r.Spec).Entries {
		if f := properties.Field(e.Key); f != nil && f.Values != nil {
			continue // a word of the type, such as the scope system, names nothing on the machine
		}
		fmt.Fprintf(&b, "\n%v", e.Val.Go())
	}
	return b.String(), overlay.PathsInText(b.String())
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

// addMention notes that x mentions a path, and thereby all directories above it.
func (e *incompleteEffects) addMention(name string, x *incompleteEffect) {
	for at := path.Clean(name); at != "/" && at != "."; at = path.Dir(at) {
		if list := e.mentions[at]; len(list) > 0 && list[len(list)-1] == x {
			return // and for all directories above
		}
		e.mentions[at] = append(e.mentions[at], x)
	}
}

// mentionsPath reports whether x mentions a path, or something below it.
func (e *incompleteEffects) mentionsPath(x *incompleteEffect, name string) bool {
	e.index()
	_, found := slices.BinarySearchFunc(e.mentions[name], x.index, func(x *incompleteEffect, index int) int { return cmp.Compare(x.index, index) })
	return found
}

// matching yields the effects that have the path or name of a look. With onlyInstallers, it
// yields only those that install files.
func (e *incompleteEffects) matching(look overlay.Look, onlyInstallers bool) iter.Seq[*incompleteEffect] {
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

// candidates returns lists with all effects that have the path or name of a look, and few others.
func (e *incompleteEffects) candidates(look overlay.Look, onlyInstallers bool) [][]*incompleteEffect {
	if look.Kind == overlay.CommandLook {
		return nil // its result depends on more than its words
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

// matches reports whether x has the path or name of a look.
func (e *incompleteEffects) matches(x *incompleteEffect, look overlay.Look) bool {
	e.index()
	return x.matches(look)
}

// unrelatedTo returns the effects that may change a look of a resource although they have nothing
// in common with it.
func (e *incompleteEffects) unrelatedTo(r *resource.Resource, look overlay.Look) []*incompleteEffect {
	switch {
	case look.Kind == overlay.RepositoryLook:
		return e.repositories
	case isService(r):
		return e.notServices // a service that is started says nothing about other services
	case look.Kind == overlay.CommandLook:
		return e.list
	}
	return e.changingFiles
}

// isService reports whether a resource starts something that has to stay up.
func isService(r *resource.Resource) bool { return resource.TraitsOf(r.Spec).IsService }

// repository matches the names of packages that add repositories.
var repository = lazyregexp.New(`repo|release|keyring|sources|apt-config`)

// mayAddRepository reports whether the resource may make packages available that were not.
func (x *incompleteEffect) mayAddRepository() bool {
	_, own := x.r.Spec.(*resource.Properties)
	return own || resource.TraitsOf(x.r.Spec).Command != nil || x.installsFiles && repository().MatchString(x.r.ID.Name)
}

// bringsNot reports whether x, a package to be installed, is known not to bring a path: neither its list of files nor
// those of the packages that are installed with it mention the path, and their scripts make nothing of an unrelated name.
func (x *incompleteEffect) bringsNot(name string) bool {
	if !x.files.IsKnown() || x.files.Mentions(name) {
		return false
	}
	parts := nameParts().FindAllString(strings.ToLower(path.Base(name)), -1)
	return !slices.ContainsFunc(append(parts, path.Base(name)), func(part string) bool {
		return slices.ContainsFunc(x.names, func(pkg string) bool { return sharesName(pkg, part) })
	})
}

// namesOf returns the name by which a look is searched for in texts, and the names that are
// compared with the names of packages.
func namesOf(look overlay.Look) (name string, parts []string) {
	if look.Kind <= overlay.TreeLook {
		return path.Base(look.Name), strings.Split(look.Name, "/")
	}
	name = strings.TrimSuffix(path.Base(look.Name), ".service")
	return name, []string{name}
}

// matches reports whether the declaration or the names of x have the path or name of a look.
func (x *incompleteEffect) matches(look overlay.Look) bool {
	if look.Kind == overlay.CommandLook {
		_, words, _ := strings.Cut(look.Name, " ")
		return slices.ContainsFunc(strings.Fields(words), x.hasName)
	}
	name, parts := namesOf(look)
	isThere := look.Kind == overlay.PathLook && look.Found
	if hasWord(x.text, name, isThere) || look.Kind <= overlay.TreeLook && hasPath(x.text, look.Name, isThere) {
		return true
	}
	return x.installsFiles && slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc(x.names, func(pkg string) bool { return sharesName(pkg, part) })
	})
}

// namesSomething reports whether a command has other words than its program and options: then a type
// asks it about these.
func namesSomething(command string) bool {
	_, words, _ := strings.Cut(command, " ")
	return slices.ContainsFunc(strings.Fields(words), func(word string) bool { return !strings.HasPrefix(word, "-") })
}

// hasName reports whether the declaration or the names of x have a word of a command, such as the name
// of a unit.
func (x *incompleteEffect) hasName(word string) bool {
	name := path.Base(word)
	name = strings.TrimSuffix(name, path.Ext(name))
	return !strings.HasPrefix(word, "-") && (hasWord(x.text, path.Base(word), false) || hasWord(x.text, name, false) ||
		x.installsFiles && slices.ContainsFunc(x.names, func(pkg string) bool { return sharesName(pkg, name) }))
}
