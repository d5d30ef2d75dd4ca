package resource

import (
	"path"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A FileLists knows which files things bring that are installed together, such as the packages of a transaction. It
// reads the lists when it is asked for the first time.
type FileLists struct {
	read func(l *FileLists) bool
	once sync.Once
	// known says that the lists of all things could be read.
	known bool
	// owners are the things that bring a path, by the path without links of a merged /usr; the value says in how many of
	// their lists it is.
	owners map[string]map[string]int
	// lists is the number of lists of each thing, such as those of several versions.
	lists map[string]int
	// above are the directories above the paths, names the beginnings of the last elements of the paths.
	above, names map[string]bool
}

// NewFileLists returns lists that read fills by [FileLists.AddList] and [FileLists.Add]. Read reports whether it has
// found a list of each thing.
func NewFileLists(read func(l *FileLists) bool) *FileLists { return &FileLists{read: read} }

// AddList notes one more list of a thing.
func (l *FileLists) AddList(name string) { l.lists[name]++ }

// Add adds a path of one list of a thing. Brought is false if the thing owns the path, but may not bring it, such as a log.
func (l *FileLists) Add(name, file string, brought bool) {
	file = mergedPath(path.Clean(file))
	if l.owners[file] == nil {
		l.owners[file] = make(map[string]int)
	}
	if l.owners[file][name] += 0; brought {
		l.owners[file][name]++
	}
	for dir := path.Dir(file); dir != "/" && !l.above[dir]; dir = path.Dir(dir) {
		l.above[dir] = true
	}
	for _, x := range stemsOf(file) {
		l.names[x] = true
	}
}

// IsKnown reports whether the files of all things are known. If not, the other methods know nothing.
func (l *FileLists) IsKnown() bool {
	if l == nil {
		return false
	}
	l.once.Do(func() {
		l.owners, l.lists = make(map[string]map[string]int), make(map[string]int)
		l.above, l.names = make(map[string]bool), make(map[string]bool)
		l.known = l.read(l)
	})
	return l.known
}

// Mentions reports whether a path is in the lists or may come from a script of a thing: the path is listed, or is a
// directory above a listed one, or its name is that of a listed file, perhaps with another ending, as scripts make
// copies and links of such.
func (l *FileLists) Mentions(file string) bool {
	file = mergedPath(file)
	if l.owners[file] != nil || l.above[file] {
		return true
	}
	for _, x := range stemsOf(file) {
		if l.names[x] {
			return true
		}
	}
	return false
}

// Brings reports whether one of the things will bring a path: the path is in every list of that thing, and not below
// /usr/share, of which package managers may leave parts out.
func (l *FileLists) Brings(names []string, file string) bool {
	file = mergedPath(file)
	if strings.HasPrefix(file, "/usr/share/") {
		return false
	}
	for _, name := range names {
		if n := l.lists[name]; n > 0 && l.owners[file][name] == n {
			return true
		}
	}
	return false
}

// mergedPath returns the path in a file system where /bin, /lib and /sbin are links into /usr.
func mergedPath(file string) string {
	for _, dir := range []string{"/bin/", "/lib/", "/lib64/", "/sbin/"} {
		if strings.HasPrefix(file, dir) {
			return "/usr" + file
		}
	}
	return file
}

var orderNumber = lazyregexp.New(`^[0-9]+[-_.]?`)

// stemsOf returns what remains of the last element of a path without a number that orders it, and without endings: 20-a.conf
// and a.conf.sample have a.conf in common.
func stemsOf(file string) []string {
	name := path.Base(file)
	if rest := orderNumber().ReplaceAllString(name, ""); rest != "" {
		name = rest
	}
	list := []string{name}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '.' && strings.Contains(name[:i], ".") {
			list = append(list, name[:i])
		}
	}
	return list
}
