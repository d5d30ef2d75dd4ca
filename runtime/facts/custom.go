package facts

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/trust"
)

// A Loader reads the facts that a user keeps in files: tables in JSON or YAML.
type Loader struct {
	View *host.View
	// YAML decodes the text of a YAML file to plain data. Its errors carry their
	// place in the file. If it is nil, YAML is refused.
	YAML func(file string, text []byte) (any, error)
	// Trust decides which files and directories are trusted. Files in the configuration directories
	// count as found, not as named by the user.
	Trust *trust.Policy
}

// Load reads the configuration directories in order, in each facts.json, facts.yaml, facts.yml and then the .json,
// .yaml and .yml files of facts.d by name. Later facts are merged deeply over earlier ones. Missing files are
// skipped, and so are symbolic links, with a warning.
//
// It returns all mistakes, with the facts that could be read.
func (l Loader) Load(dirs ...string) (map[string]any, error) {
	tree := make(map[string]any)
	var errs diag.List
	for _, dir := range dirs {
		files, err := l.files(dir)
		errs.Add(err)
		for _, file := range files {
			got, err := l.ownFile(file)
			errs.Add(err)
			tree = Merge(tree, got).(map[string]any)
		}
	}
	return tree, errs.Err()
}

// File reads one file that the user named. It lies outside the root, links are
// followed, and a name that does not end in .json is YAML. What the shell has opened is
// read until the context ends.
func (l Loader) File(ctx context.Context, name string) (map[string]any, error) {
	text, err := l.Trust.ReadFile(ctx, name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.table(name, text)
}

// files returns the files of a configuration directory that may hold facts.
func (l Loader) files(dir string) ([]string, error) {
	// The dot makes Open follow a link at the end.
	top, err := l.openDirectory(dir, dir+"/.")
	if top == nil {
		return nil, err
	}
	top.Close()
	files := []string{filepath.Join(dir, "facts.json"), filepath.Join(dir, "facts.yaml"), filepath.Join(dir, "facts.yml")}

	sub := filepath.Join(dir, "facts.d")
	if skip, err := l.isLink(sub); skip || err != nil {
		return files, err
	}
	d, err := l.openDirectory(sub, sub)
	if d == nil {
		return files, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return files, unreadable(sub, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasPrefix(name, ".") && slices.Contains([]string{".json", ".yaml", ".yml"}, suffix(name)) {
			files = append(files, filepath.Join(sub, name))
		}
	}
	return files, nil
}

var errNoDirectory = diag.Expected("a directory").Got("something else")

// openDirectory opens the directory at the path; name is its name in messages. It returns nil if
// the directory does not exist.
func (l Loader) openDirectory(name, path string) (*os.File, error) {
	d, err := l.View.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		if info, _ := l.View.Lstat(name); info.Kind == safepath.Missing {
			return nil, nil // below something that is no directory, such as a HOME of /dev/null
		}
		err = errNoDirectory
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	fi, err := d.Stat()
	if err == nil && !fi.IsDir() {
		err = errNoDirectory
	}
	if err == nil {
		err = l.checkOwn(path)
	}
	if err != nil {
		d.Close()
		return nil, unreadable(name, err)
	}
	return d, nil
}

// ownFile reads one file of a configuration directory, which need not be there.
func (l Loader) ownFile(name string) (map[string]any, error) {
	if skip, err := l.isLink(name); skip || err != nil {
		return nil, err
	}
	f, err := l.View.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	if err := l.checkOwn(name); err != nil {
		f.Close()
		return nil, unreadable(name, err)
	}
	text, err := trust.ReadOpened(f, name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.table(name, text)
}

// table decodes the text of a file.
func (l Loader) table(name string, text []byte) (map[string]any, error) {
	val, err := l.decode(name, text)
	if err != nil {
		return nil, err
	}
	switch x := val.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return x, nil
	}
	return nil, diag.At(diag.Pos{File: name}, diag.Expected("a table of facts").Got("%s", kindOf(val)))
}

func (l Loader) decode(name string, text []byte) (any, error) {
	if suffix(name) == ".json" {
		return decodeJSON(name, text)
	}
	if l.YAML == nil {
		return nil, diag.At(diag.Pos{File: name}, diag.Expected("JSON").Got("a name that does not end in .json"))
	}
	return l.YAML(name, text)
}

// checkOwn refuses a file or directory of the machine that is not believed.
func (l Loader) checkOwn(name string) error {
	path, err := l.View.Real(name)
	if err != nil {
		return err
	}
	return l.Trust.CheckFound(path)
}

// isLink reports whether the path is a symbolic link, and warns about a link.
func (l Loader) isLink(name string) (bool, error) {
	info, err := l.View.Lstat(name)
	if err != nil {
		return false, unreadable(name, err)
	}
	if info.Kind == safepath.Symlink {
		l.View.Log().Warn("symbolic links are not followed for facts", "path", name)
		return true, nil
	}
	return false, nil
}

// unreadable returns err with the name of the file, once.
func unreadable(name string, err error) error {
	if placed, ok := errors.AsType[*diag.Error](err); ok {
		return placed
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &diag.Error{Pos: diag.Pos{File: name}, Err: err}
}

func suffix(name string) string { return strings.ToLower(filepath.Ext(name)) }

func kindOf(val any) string {
	switch val.(type) {
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "a boolean"
	}
	return "a number"
}
