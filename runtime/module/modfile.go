package module

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/luadata"
)

// A File is the content of a ccm.mod.lua, which describes a module, a site, or both.
type File struct {
	Doc *luadata.Document

	Name        string // "" for a site that is not a module
	Description string
	CCM         Rule // the versions of ccm that the code works with
	// Exports are the names that other modules and sites may require.
	Exports []string
	// Dependencies are in the order of the file.
	Dependencies []Dependency
	// Capabilities are the rights that the code needs beyond the sandbox.
	Capabilities []string
	// Tests are the files and directories with specs.
	Tests []string

	// The following fields count only in the ccm.mod.lua of a site.

	// Replace has the local folders that are used instead of modules, by the names of the modules.
	Replace map[string]string
	// Allow has the capabilities that the site grants to modules, by their names.
	Allow map[string][]string
	// Signers has the files of keys that may sign a module's tags, by the name of the module; "*" represents all
	// other modules.
	Signers map[string]string
}

// A Dependency is a module that a module or a site needs.
type Dependency struct {
	Name    string
	Version string // the least version that is accepted
	Source  Source
	Pos     diag.Pos
}

// A Source is the place from which a module is downloaded.
type Source struct {
	Git    string `json:"git,omitempty"`    // the address of a repository
	URL    string `json:"url,omitempty"`    // the URL of an archive; {version} in it represents the version without its v
	Folder string `json:"folder,omitempty"` // the module's folder in the repository or archive, "" for the top
}

// String returns the source for messages.
func (s Source) String() string {
	at := s.Git
	if at == "" {
		at = s.URL
	}
	if s.Folder != "" {
		at += "//" + s.Folder
	}
	return at
}

// A Capability is a right that the code of a module can have beyond the sandbox.
type Capability struct {
	Doc string
}

// Capabilities has all capabilities by name.
var Capabilities = map[string]Capability{
	"capture": {"runs commands while the site is evaluated"},
	"http":    {"contacts servers"},
	"fs":      {"reads files and templates outside of the module"},
	"env":     {"reads environment variables of ccm"},
	"data":    {"reads arguments of the site"},
	"secret":  {"reads secrets"},
}

// CapabilityOf returns the capability that a module needs for a global of scripts, "" if it needs none.
func CapabilityOf(global string) string {
	switch global { // a switch, because each run asks for each global of each module
	case "capture", "http", "fs", "env", "data", "secret":
		return global
	case "lookup":
		return "data"
	case "registrations":
		return "http"
	}
	return ""
}

// ParseFile reads the text of a ccm.mod.lua. file names it in errors. An error is a [diag.List].
func ParseFile(file, text string) (*File, error) {
	doc, err := luadata.Parse(file, text)
	if err != nil {
		return nil, err
	}
	r := &fileReader{doc: doc}
	f := r.file()
	return f, r.errs.Err()
}

// A fileReader builds a File from a parsed document, and collects mistakes.
type fileReader struct {
	doc  *luadata.Document
	errs diag.List
}

// note records a mistake at a value.
func (r *fileReader) note(at *luadata.Value, format string, args ...any) *diag.Error {
	e := diag.Errorf(r.doc.PosOf(at), format, args...)
	r.errs = append(r.errs, e)
	return e
}

func (r *fileReader) file() *File {
	f := &File{Doc: r.doc, Replace: map[string]string{}, Allow: map[string][]string{}, Signers: map[string]string{}}
	r.fields(r.doc.Root, map[string]func(v *luadata.Value){
		"name":        func(v *luadata.Value) { f.Name = r.checked(v, CheckName) },
		"description": func(v *luadata.Value) { f.Description = r.text(v) },
		"ccm": func(v *luadata.Value) {
			f.CCM = Rule(r.checked(v, func(s string) error { _, err := Rule(s).terms(); return err }))
		},
		"exports":      func(v *luadata.Value) { f.Exports = r.texts(v, nil) },
		"dependencies": func(v *luadata.Value) { f.Dependencies = r.dependencies(v) },
		"capabilities": func(v *luadata.Value) { f.Capabilities = r.texts(v, checkCapability) },
		"tests":        func(v *luadata.Value) { f.Tests = r.texts(v, checkFolder) },
		"replace": func(v *luadata.Value) {
			r.byModule(v, func(name string, v *luadata.Value) { f.Replace[name] = r.checked(v, checkPath) })
		},
		"allow": func(v *luadata.Value) {
			r.byModule(v, func(name string, v *luadata.Value) { f.Allow[name] = r.texts(v, checkCapability) })
		},
		"signers": func(v *luadata.Value) {
			r.byModule(v, func(name string, v *luadata.Value) { f.Signers[name] = r.checked(v, checkPath) })
		},
	})
	if f.Name != "" {
		if exports := r.doc.Root.Field("exports"); exports != nil {
			for i, e := range f.Exports {
				if err := CheckExport(f.Name, e); err != nil {
					r.note(exports.Value.Fields[i].Value, "%w", err)
				}
			}
		}
	} else if len(f.Exports) > 0 {
		r.note(r.doc.Root.Field("exports").Value, "exports requires a module name").WithHint(`add name = %q`, strings.Split(f.Exports[0], ".")[0])
	}
	return f
}

// fields calls known[key] for each field of a table, and notes a mistake for a key that is not in known.
func (r *fileReader) fields(t *luadata.Value, known map[string]func(*luadata.Value)) {
	names := slices.Sorted(maps.Keys(known))
	for _, f := range t.Fields {
		read := known[f.Key]
		switch {
		case f.Key == "":
			r.note(f.Value, "%w", diag.Expected("names before values, such as %s = ...", names[0]))
		case read == nil:
			e := diag.At(r.doc.Pos(f.Start, f.Start+len(f.Key)), diag.Unknown("key", f.Key, names))
			r.errs = append(r.errs, e)
		default:
			read(f.Value)
		}
	}
}

func (r *fileReader) text(v *luadata.Value) string {
	switch {
	case v.Kind != luadata.String:
		r.note(v, "%w", diag.Expected("%s", luadata.String).Found("%s", v.Kind))
	case strings.ContainsAny(v.Text, "\x00\n\r"):
		r.note(v, "%w", diag.Expected("a text of one line"))
	}
	return v.Text
}

// checked returns the text of v, and notes a mistake if check refuses it.
func (r *fileReader) checked(v *luadata.Value, check func(string) error) string {
	before := len(r.errs)
	s := r.text(v)
	if len(r.errs) == before && check != nil {
		if err := check(s); err != nil {
			r.note(v, "%w", err)
		}
	}
	return s
}

// texts returns a list of texts. A single text counts as a list of one.
func (r *fileReader) texts(v *luadata.Value, check func(string) error) (list []string) {
	if v.Kind == luadata.String {
		return []string{r.checked(v, check)}
	}
	if v.Kind != luadata.Table {
		r.note(v, "%w", diag.Expected("a list of texts").Found("%s", v.Kind))
		return nil
	}
	for _, f := range v.Fields {
		if f.Key != "" {
			r.note(f.Value, "%w", diag.Expected("a list").Found("the key %q", f.Key))
		}
		s := r.checked(f.Value, check)
		if slices.Contains(list, s) {
			r.note(f.Value, "duplicate %q", s)
		}
		list = append(list, s)
	}
	return list
}

// byModule calls read for each field of a table whose keys are names of modules or "*".
func (r *fileReader) byModule(v *luadata.Value, read func(name string, v *luadata.Value)) {
	if v.Kind != luadata.Table {
		r.note(v, "%w", diag.Expected("a table of modules, such as { nginx = ... }").Found("%s", v.Kind))
		return
	}
	for _, f := range v.Fields {
		if f.Key != "*" {
			if err := CheckName(f.Key); err != nil {
				r.note(f.Value, "%w", err)
				continue
			}
		}
		read(f.Key, f.Value)
	}
}

func (r *fileReader) dependencies(v *luadata.Value) (list []Dependency) {
	r.byModule(v, func(name string, v *luadata.Value) {
		d := Dependency{Name: name, Pos: r.doc.PosOf(v)}
		version := v
		if v.Kind == luadata.Table {
			if f := v.Field("version"); f != nil {
				version = f.Value
			} else {
				r.note(v, "version of %s is missing", name).WithHint(`add the minimum version: version = "v1.0.0"`)
			}
			r.fields(v, map[string]func(*luadata.Value){
				"version": func(*luadata.Value) {},
				"git":     func(v *luadata.Value) { d.Source.Git = r.checked(v, CheckGit) },
				"url":     func(v *luadata.Value) { d.Source.URL = r.checked(v, CheckURL) },
				"folder":  func(v *luadata.Value) { d.Source.Folder = path.Clean(r.checked(v, checkFolder)) },
			})
		}
		switch {
		case name == "*":
			r.note(v, "%w", diag.Expected("the name of a module"))
		case version.Kind == luadata.String:
			var err error
			if d.Version, err = CleanVersion(version.Text); err != nil {
				r.note(version, "%w", err)
			}
		case version != v || v.Kind != luadata.Table:
			r.note(version, "%w", diag.Expected(`a version such as "v1.2.0"`).Found("%s", version.Kind))
		}
		if d.Source.Git != "" && d.Source.URL != "" {
			r.note(v, "%w", diag.Expected("git or url").Found("both"))
		}
		if d.Source.Folder == "." {
			d.Source.Folder = ""
		}
		if d.Source.Git == "" && d.Source.URL == "" {
			d.Source.Git = DefaultGit(name)
		}
		list = append(list, d)
	})
	return list
}

// DefaultGit returns the repository of a module whose source is not written out: https://NAME if the name begins with
// a host name, else "".
func DefaultGit(name string) string {
	server, _, ok := strings.Cut(name, "/")
	if !ok || !strings.Contains(server, ".") {
		return ""
	}
	return "https://" + name
}

func checkCapability(s string) error {
	if _, ok := Capabilities[s]; ok {
		return nil
	}
	return fmt.Errorf("unknown capability %q (available: %s)", s, strings.Join(slices.Sorted(maps.Keys(Capabilities)), ", "))
}

// checkFolder returns an error unless s is a relative path that stays below its directory.
func checkFolder(s string) error {
	if s == "" || strings.Contains(s, "\\") || path.IsAbs(s) || slices.Contains(strings.Split(s, "/"), "..") || strings.HasPrefix(path.Clean(s), "-") {
		return diag.Not(strconv.Quote(s), "a path below this directory")
	}
	return nil
}

func checkPath(s string) error {
	if s == "" {
		return diag.Expected("a path")
	}
	return nil
}

// Dependency returns the dependency with a name, nil if there is none.
func (f *File) Dependency(name string) *Dependency {
	for i := range f.Dependencies {
		if f.Dependencies[i].Name == name {
			return &f.Dependencies[i]
		}
	}
	return nil
}

// SignersOf returns the file of keys that may sign a module's tags, "" if anybody may.
func (f *File) SignersOf(name string) string {
	if file := f.Signers[name]; file != "" {
		return file
	}
	return f.Signers["*"]
}
