package lint

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/ignore"
)

// Files returns the named scripts and the scripts below named directories, in order of their paths.
// Exclude are patterns as in a line of .ccmignore; - is standard input.
func Files(args, exclude []string) ([]string, error) {
	left, err := ignore.Parse("--exclude", exclude)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, arg := range args {
		if arg == "-" {
			files = append(files, arg)
			continue
		}
		if ext := filepath.Ext(arg); ext == ".yaml" || ext == ".yml" {
			return nil, fmt.Errorf("%s: ccm lint checks Lua scripts (check manifests with: ccm plan)", arg)
		}
		ignored, err := ignore.Read(arg)
		if err != nil {
			return nil, err
		}
		leave := func(rel string, dir bool) bool {
			return dir && path.Base(rel) == "files" || left.Matches(rel, dir) || ignored.Matches(rel, dir)
		}
		found, err := FilesBelow(arg, ".lua", leave)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, diag.At(diag.Pos{}, fmt.Errorf("%s: %w", arg, diag.None("file named *.lua"))).
				WithHint("check manifests with ccm plan, and look for plain secrets with ccm secret scan")
		}
		files = append(files, found...)
	}
	return files, nil
}

// FilesBelow returns the files below a path whose names have the suffix, in order; for a file, the
// path itself. Leave gets paths below the root and reports those to leave out; nil leaves nothing
// out.
func FilesBelow(root, suffix string, leave func(rel string, dir bool) bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		left := err == nil && path != root && leave != nil && leave(filepath.ToSlash(rel), entry.IsDir())
		switch {
		case entry.IsDir():
			if path != root && (left || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "vendor") {
				return fs.SkipDir
			}
		case left:
		case path == root, strings.HasSuffix(path, suffix) && !strings.HasSuffix(path, ".d.lua"):
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}
