package resolve

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/module"
)

var (
	requireCall = lazyregexp.New(`\brequire\b\s*\(?\s*(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_.\[]))`)
	luaComment  = lazyregexp.New(`(?m)--.*$`)
)

// A Usage has the names that the files of a site require.
type Usage struct {
	Names []string
	// Unsure are files with a require whose argument is not a literal.
	Unsure []string
}

// maxLooked limits the files that are searched.
const maxLooked = 20_000

// UsageIn searches the scripts and manifests below a directory for require, without vendor and hidden directories.
func UsageIn(dir string) (*Usage, error) {
	u := new(Usage)
	looked := 0
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if at != dir && (strings.HasPrefix(d.Name(), ".") || at == filepath.Join(dir, module.VendorDir)) {
				return filepath.SkipDir
			}
			return nil
		}
		ext := strings.ToLower(filepath.Ext(at))
		if !d.Type().IsRegular() || !slices.Contains([]string{".lua", ".yaml", ".yml", ".json"}, ext) || d.Name() == module.FileName {
			return nil
		}
		if looked++; looked > maxLooked {
			return filepath.SkipAll
		}
		text, err := readSmall(at)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, at)
		u.add(rel, text, ext == ".lua")
		return nil
	})
	if looked > maxLooked {
		u.Unsure = append(u.Unsure, dir)
	}
	return u, err
}

func (u *Usage) add(file, text string, isLua bool) {
	if !isLua { // a manifest names modules as plain words
		u.Names = append(u.Names, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\r,:[]{}\"'", r) })...)
		return
	}
	for _, m := range requireCall().FindAllStringSubmatch(luaComment().ReplaceAllString(text, ""), -1) {
		switch {
		case m[1] != "" || m[2] != "":
			u.Names = append(u.Names, m[1]+m[2])
		case !slices.Contains(u.Unsure, file):
			u.Unsure = append(u.Unsure, file)
		}
	}
}

// Requires reports whether a name that a module exports is required.
func (u *Usage) Requires(m *module.LockedModule) bool {
	return slices.ContainsFunc(m.Exports, func(e string) bool { return slices.Contains(u.Names, e) })
}

// ReadModule reads the ccm.mod.lua of a module in a directory, whatever its name. shown names the file in errors.
func (r *Resolver) ReadModule(dir, shown string) (*module.File, error) {
	return readFile(r.Policy, dir, shown, "")
}

// CleanStale removes the leftovers of interrupted downloads from the cache, if old accepts them.
func (r *Resolver) CleanStale(old func(fs.FileInfo) bool) {
	tmp := filepath.Join(r.Caches[0], "tmp")
	entries, _ := os.ReadDir(tmp)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && old(fi) {
			removeTree(filepath.Join(tmp, e.Name()))
		}
	}
}
