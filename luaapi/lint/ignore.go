package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// An ignoreList is the patterns of what is content and no script. They are written as
// in gitignore(5), without ** and without exceptions.
type ignoreList []ignorePattern

type ignorePattern struct {
	pattern  string
	anchored bool // to the directory; otherwise it is matched with names at any depth
	dirs     bool // matches directories only
}

// readIgnore reads the file .ccmignore of a directory, if there is one.
func readIgnore(dir string) (ignoreList, error) {
	name := filepath.Join(dir, ".ccmignore")
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
	return parseIgnore(name, strings.Split(string(text), "\n"))
}

// parseIgnore reads patterns, one a line. Errors begin with where.
func parseIgnore(where string, lines []string) (list ignoreList, err error) {
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p := ignorePattern{pattern: strings.TrimSuffix(line, "/"), dirs: strings.HasSuffix(line, "/")}
		p.anchored = strings.Contains(p.pattern, "/")
		p.pattern = strings.TrimPrefix(p.pattern, "/")
		if _, err := path.Match(p.pattern, ""); err != nil || strings.Contains(p.pattern, "**") || p.pattern == "" || strings.HasPrefix(p.pattern, "!") {
			return nil, fmt.Errorf("%s:%d: want a pattern of names with *, ? and [a-z], got %q", where, i+1, line)
		}
		list = append(list, p)
	}
	return list, nil
}

// matches reports whether a path below the directory is left out.
func (l ignoreList) matches(rel string, dir bool) bool {
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
