// Package machine finds what was changed on a machine since its installation, and writes it as a site.
//
// The scan reads the databases of the package manager, compares configuration files with them, and lists files that no
// package owns, services, accounts and settings. It changes nothing, needs no name of anything, and has no content of
// files, so it holds no secrets. Everything that it reads is untrusted.
//
// Begin with [Read]; [Writer] writes a site.
package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// A Kind is the kind of an item of a scan.
type Kind string

// The kinds of items. Those that are the name of a resource type are declared with it.
const (
	Package         Kind = "package"
	File            Kind = "file"
	Link            Kind = "link"
	Directory       Kind = "directory"
	Unit            Kind = "unit"
	Service         Kind = "service"
	User            Kind = "user"
	Group           Kind = "group"
	AuthorizedKey   Kind = "authorized_key"
	Mount           Kind = "mount"
	Hostname        Kind = "hostname"
	Timezone        Kind = "timezone"
	Locale          Kind = "locale"
	Host            Kind = "host"
	Alternative     Kind = "alternative"
	SELinuxBoolean  Kind = "selinux_boolean"
	LanguagePackage Kind = "language_package"
)

// Groups are the words of --only: groups of kinds.
var Groups = map[string][]Kind{
	"packages": {Package, LanguagePackage},
	"files":    {File, Link, Directory},
	"services": {Unit, Service},
	"users":    {User, Group, AuthorizedKey},
	"system":   {Mount, Hostname, Timezone, Locale, Host, Alternative, SELinuxBoolean},
}

// An Item is one thing that was changed on the machine.
type Item struct {
	Kind Kind `json:"kind"`
	// Name is the name of the thing: the path of a file, the user of an authorized key.
	Name string `json:"name"`
	// Path is the path of its file, "" if it has none.
	Path string `json:"path,omitempty"`
	// Package is the package that it belongs to, "" if there is none or it is not known.
	Package string `json:"package,omitempty"`
	// Version is that of a package, "" if it is not known.
	Version string `json:"version,omitempty"`
	// Reason is why it counts as changed.
	Reason string `json:"reason"`
	// Value is what else names it: an authorized key, the manager of a language package.
	Value string `json:"value,omitempty"`
	// Held is set if a package is on hold.
	Held bool `json:"held,omitempty"`
	// Removed is set if a file of a package was removed.
	Removed bool `json:"removed,omitempty"`
	// Changed is the time of the last change, zero if it is not known.
	Changed time.Time `json:"changed,omitzero"`
	// Size is the size of a file in bytes.
	Size int64 `json:"size,omitempty"`

	original string   // the digest of the file in its package
	copies   []string // other files of packages with that digest
}

// ID returns the item as a reference to a resource, such as package#nginx.
func (i Item) ID() string { return string(i.Kind) + "#" + i.Name }

// A LeftOut is something that was found and is not an item.
type LeftOut struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// A Scan is what was changed on a machine.
type Scan struct {
	// Hostname is the name of the machine, Distribution its distribution.
	Hostname     string `json:"hostname,omitempty"`
	Distribution string `json:"distribution,omitempty"`
	// Manager is the package manager, "" if none was found.
	Manager string `json:"manager,omitempty"`
	// Damage is what is wrong with the database of the package manager, "" if nothing was found.
	Damage  string    `json:"damage,omitempty"`
	Items   []Item    `json:"items"`
	LeftOut []LeftOut `json:"left_out"`

	options Options
	// generated are the rows of generated.txt that files without a package matched.
	generated map[generatedRow]bool
	older     []Item            // items that Options.Since leaves out
	rest      []Item            // items beyond mostItems
	enabled   map[string]bool   // the units that start at boot
	shipped   map[string]string // the packages of the units that packages ship
}

// Options limit a scan.
type Options struct {
	// Only are names of Groups; none means all.
	Only []string
	// Ignore are patterns (path.Match) of names and paths to leave out. One without a slash matches the last element of a
	// path. Entries below a matching directory are left out too.
	Ignore []string
	// Since leaves out what was changed earlier; zero means no limit. Items whose time is not known stay.
	Since time.Time
}

// Limits of a scan.
const (
	largestFile     = 1 << 20  // bytes of a file that is written to a site
	largestCompared = 64 << 20 // bytes of a file that is compared with its package
	largestDatabase = 64 << 20 // bytes of a file of a package database
	mostInTree      = 300      // files in a directory that no package owns
	mostBytesInTree = 8 << 20  // bytes in such a directory
	mostNames       = 300_000  // names below one directory that is searched
	mostItems       = 20_000   // items of a scan
)

// tooMany is the reason why items of a scan are not in Items.
var tooMany = fmt.Sprintf("a scan has at most %d", mostItems)

// All returns the items, also those beyond the limit of Items.
func (s *Scan) All() []Item { return slices.Concat(s.Items, s.rest) }

// Check returns the mistake in the options, nil if there is none.
func (o Options) Check() error {
	for _, only := range o.Only {
		if _, ok := Groups[only]; !ok {
			names := make([]string, 0, len(Groups))
			for name := range Groups {
				names = append(names, name)
			}
			slices.Sort(names)
			return diag.Expected("%s", strings.Join(names, ", ")).Got("%q", only)
		}
	}
	for _, pattern := range o.Ignore {
		if _, err := path.Match(pattern, ""); err != nil {
			return diag.Expected("a pattern such as /etc/*.bak").Got("%q", pattern)
		}
	}
	return nil
}

// A reader reads a scan.
type reader struct {
	ctx  context.Context
	v    *host.View
	o    Options
	db   *database
	scan *Scan
}

// Read scans the machine of a view. What cannot be read is in LeftOut; the error is one of ctx or of the options.
func Read(ctx context.Context, v *host.View, o Options) (*Scan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, v: v, o: o, scan: &Scan{Items: []Item{}, LeftOut: []LeftOut{}, options: o, generated: map[generatedRow]bool{}}}
	r.db = r.readDatabase()
	r.scan.Manager = r.db.manager
	r.identity()
	r.packages()
	r.accounts()
	r.system()
	r.services()
	r.files()
	r.listed()
	r.usualPackages()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.scan.Items = slices.DeleteFunc(r.scan.Items, func(i Item) bool { return !r.includes(i) })
	if len(r.scan.Items) > mostItems {
		r.scan.Items, r.scan.rest = r.scan.Items[:mostItems:mostItems], r.scan.Items[mostItems:]
	}
	slices.SortStableFunc(r.scan.LeftOut, func(a, b LeftOut) int { return cmp.Compare(a.Name, b.Name) })
	r.scan.LeftOut = slices.Compact(r.scan.LeftOut)
	if more := len(r.scan.LeftOut) - mostItems; more > 0 {
		r.scan.LeftOut = r.scan.LeftOut[:mostItems]
		r.leave(fmt.Sprintf("%d more", more), fmt.Sprintf("a scan lists at most %d of what it leaves out", mostItems))
	}
	if over := len(r.scan.rest); over > 0 {
		r.leave(fmt.Sprintf("%d more items", over), tooMany)
	}
	return r.scan, nil
}

// includes reports whether the options select an item, and notes one that is too old.
func (r *reader) includes(i Item) bool {
	if !r.o.includes(i) {
		return false
	}
	if !r.o.Since.IsZero() && !i.Changed.IsZero() && i.Changed.Before(r.o.Since) {
		r.scan.older = append(r.scan.older, i)
		return false
	}
	return true
}

// includes reports whether the names of the options select an item.
func (o Options) includes(i Item) bool {
	if len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(only string) bool { return slices.Contains(Groups[only], i.Kind) }) {
		return false
	}
	return !o.ignores(i.Name) && (i.Path == "" || !o.ignores(i.Path))
}

// ignores reports whether a name, or a directory above it, matches a pattern to ignore.
func (o Options) ignores(name string) bool {
	for _, pattern := range o.Ignore {
		for at := name; ; at = path.Dir(at) {
			what := at
			if !strings.Contains(pattern, "/") {
				what = path.Base(at)
			}
			if ok, _ := path.Match(pattern, what); ok {
				return true
			}
			if !strings.HasPrefix(at, "/") || at == "/" {
				break
			}
		}
	}
	return false
}

func (r *reader) add(i Item) { r.scan.Items = append(r.scan.Items, i) }

func (r *reader) leave(name, reason string) {
	r.scan.LeftOut = append(r.scan.LeftOut, LeftOut{name, reason})
}

// cannot leaves out what could not be read. A missing file is nothing to tell.
func (r *reader) cannot(name string, err error) {
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, fs.ErrPermission):
		r.leave(name, "permission denied: run the import as root")
	default:
		r.leave(name, oneLine(err.Error()))
	}
}

// text returns a file of the machine, "" if it is missing or cannot be read.
func (r *reader) text(name string) string {
	text, err := r.v.ReadText(name, largestDatabase)
	r.cannot(name, err)
	return text
}

// names returns the names in a directory, none if it is missing or cannot be read.
func (r *reader) names(dir string) []string {
	if is, err := r.v.IsDirectory(dir); err == nil && !is {
		return nil
	}
	names, err := r.v.Names(r.ctx, dir, mostNames)
	r.cannot(dir, err)
	return names
}

// oneLine returns a text without line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// settings returns the lines of a text without comments and empty ones.
func settings(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != ';' {
			list = append(list, line)
		}
	}
	return list
}

// identity reads the name of the machine and of its distribution.
func (r *reader) identity() {
	r.scan.Hostname = firstWord(r.text("/etc/hostname"))
	for _, line := range settings(r.text("/etc/os-release")) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			r.scan.Distribution = strings.Trim(name, `"'`)
		}
	}
}

// firstWord returns the first word of the first setting of a text.
func firstWord(text string) string {
	for _, line := range settings(text) {
		return strings.Fields(line)[0]
	}
	return ""
}
