package studio

import (
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/studio/guard"
)

// maxListed is the most entries of a directory in the list.
const maxListed = 2000

// manifestSection matches the line before the resources of a manifest.
var manifestSection = lazyregexp.New(`(?m)^(?:ccm|"ccm"|'ccm')[ \t]*:`)

// kindOf returns the kind of a file, by its name and, for YAML, its text if known.
func kindOf(name string, text *string) string {
	base := strings.ToLower(path.Base(name))
	dirs := strings.Split(path.Dir(name), "/")
	in := func(dir string) bool { return slices.Contains(dirs, dir) }
	switch languageOf(name) {
	case "yaml":
		if text != nil && !manifestSection().MatchString(*text) && !strings.HasSuffix(base, ".cm.yml") && !strings.HasSuffix(base, ".cm.yaml") {
			return "data"
		}
		if text == nil && (in("data") || in("facts") || base == "hiera.yaml" || base == "hiera.yml") {
			return "data"
		}
		return "manifest"
	case "lua":
		switch {
		case strings.HasSuffix(base, "_spec.lua"):
			return "spec"
		case in("lib"), in("modules"), in("meta"), base == ".luacheckrc":
			return "module"
		}
		return "script"
	case "json", "toml":
		return "data"
	}
	if ext := path.Ext(base); ext == ".jet" || ext == ".tmpl" || ext == ".j2" || ext == ".templ" || in("templates") {
		return "template"
	}
	return "other"
}

// serveFiles answers GET /api/files.
func (s *Server) serveFiles(w http.ResponseWriter, _ *http.Request) {
	out := Files{Directory: s.options.Directory, Files: []File{}}
	out.Files, out.Cut = s.directory.list()
	open := s.workspace.openFiles()
	listed := map[string]bool{}
	for i := range out.Files {
		f := &out.Files[i]
		listed[f.Name] = true
		f.Edited, f.Open = open[f.Name]
	}
	for name, edited := range open { // never saved
		if !listed[name] && edited {
			out.Files = append(out.Files, File{Name: name, Kind: kindOf(name, nil), Open: true, Edited: true})
		}
	}
	slices.SortFunc(out.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	guard.Reply(w, http.StatusOK, out)
}

// isEdited reports whether a document has unsaved changes.
func (d *document) isEdited() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.saved() && (d.text != "" || d.disk.Digest != "")
}

// list returns the entries of the directory, and whether the list is incomplete. It leaves out
// hidden directories, and names that are not valid text.
func (d *directory) list() (list []File, cut bool) {
	list = []File{}
	_ = fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if name == "." {
			return err
		}
		if err != nil || checkFileName(name) != nil {
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if len(list) >= maxListed {
			cut = true
			return fs.SkipAll
		}
		base := path.Base(name)
		if entry.IsDir() && (strings.HasPrefix(base, ".") || base == "node_modules") {
			return fs.SkipDir
		}
		if strings.HasPrefix(base, ".") && isSaving(base) {
			return nil
		}
		f := File{Name: name}
		switch {
		case entry.IsDir():
			f.Kind = "directory"
		case entry.Type() == fs.ModeSymlink:
			f.Kind = "link"
			if to, err := d.root.Readlink(name); err == nil {
				f.Target = terminal.Line(to)
			}
		case entry.Type().IsRegular():
			f.Kind = d.kind(name)
			if fi, err := entry.Info(); err == nil {
				f.Size = fi.Size()
			}
		default:
			return nil
		}
		list = append(list, f)
		return nil
	})
	return list, cut
}

// isSaving reports whether a name is that of a temporary file of a save.
func isSaving(base string) bool {
	at := strings.LastIndexByte(base, '.')
	return at > 0 && len(base)-at-1 == 16 && strings.Trim(base[at+1:], "0123456789abcdef") == ""
}

// kind returns the kind of a file on the disk.
func (d *directory) kind(name string) string {
	if languageOf(name) != "yaml" {
		return kindOf(name, nil)
	}
	t, err := d.read(name)
	if err != nil {
		return "other"
	}
	return kindOf(name, &t.text)
}
