// Package ignore reads .ccmignore, the file with patterns of files that do not belong to a site.
//
// Begin with [Read].
package ignore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// FileName is the name of the file with patterns.
const FileName = ".ccmignore"

// A List is a list of patterns. Their syntax is that of gitignore(5), without ** and without exceptions (!).
type List []pattern

type pattern struct {
	pattern  string
	anchored bool // relative to the directory; otherwise it matches names at any depth
	dirs     bool // matches directories only
}

// Read reads the .ccmignore of a directory; without one the list is empty.
func Read(dir string) (List, error) {
	name := filepath.Join(dir, FileName)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		if fi, statErr := os.Stat(dir); statErr == nil && !fi.IsDir() {
			return nil, nil
		}
		return nil, err
	}
	return Parse(name, strings.Split(string(text), "\n"))
}

// Parse parses patterns, one a line. where is the prefix of errors.
func Parse(where string, lines []string) (list List, err error) {
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p := pattern{pattern: strings.TrimSuffix(line, "/"), dirs: strings.HasSuffix(line, "/")}
		p.anchored = strings.Contains(p.pattern, "/")
		p.pattern = strings.TrimPrefix(p.pattern, "/")
		if _, err := path.Match(p.pattern, ""); err != nil || strings.Contains(p.pattern, "**") || p.pattern == "" || strings.HasPrefix(p.pattern, "!") {
			return nil, fmt.Errorf("%s:%d: %w", where, i+1, diag.Expected("a pattern of names with *, ? and [a-z]").Got("%q", line))
		}
		list = append(list, p)
	}
	return list, nil
}

// Matches reports whether a path relative to the directory is ignored.
func (l List) Matches(rel string, dir bool) bool {
	for _, p := range l {
		name := rel
		if !p.anchored {
			name = path.Base(rel)
		}
		if ok, _ := path.Match(p.pattern, name); ok && (dir || !p.dirs) {
			return true
		}
	}
	return false
}
