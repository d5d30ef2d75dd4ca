package unpack

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A layout is the entries that an archive makes below a directory, by clean relative path. It
// decides what may be made there; it makes nothing.
type layout struct {
	kinds map[string]safepath.FileKind
	// links has the targets of symbolic links.
	links map[string]string
	// modes has the permissions of directories with an entry in the archive.
	modes map[string]uint32
}

func newLayout() *layout {
	return &layout{kinds: make(map[string]safepath.FileKind), links: make(map[string]string), modes: make(map[string]uint32)}
}

// Limits of the name of an entry: PATH_MAX, and more nested directories than anybody uses. The
// work for a directory grows with its depth.
const (
	maxNameLen   = 4096
	maxNameDepth = 255
)

// entryName returns the name of an archive entry as a clean relative path, "" for the target
// directory.
func entryName(name string) (string, error) {
	switch {
	case name == "":
		return "", diag.Empty("its name")
	case len(name) > maxNameLen:
		return "", diag.Exceeds("its name", "%d bytes, got %d", maxNameLen, len(name))
	case strings.ContainsRune(name, 0):
		return "", diag.Contains("its name", "a NUL byte")
	case strings.HasPrefix(name, "/"):
		return "", diag.OfKind("", "an absolute path: %w", diag.Expected("one inside the directory"))
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", diag.OfKind("", "a path with ..: %w", diag.Expected("one inside the directory"))
	}
	if name = path.Clean(name); name == "." {
		return "", nil
	}
	if depth := strings.Count(name, "/"); depth > maxNameDepth {
		return "", diag.Exceeds("its path", "%d directories, got %d", maxNameDepth, depth)
	}
	return name, nil
}

// strip returns a clean name without its first n directories, "" if nothing is left.
func strip(name string, n int) string {
	for ; n > 0; n-- {
		_, name, _ = strings.Cut(name, "/")
	}
	return name
}

// put adds an entry and the directories above it. It reports whether it replaces an earlier entry
// of the same name.
func (l *layout) put(name string, kind safepath.FileKind) (replaces bool, err error) {
	for at := parentOf(name); at != ""; at = parentOf(at) {
		if k, ok := l.kinds[at]; ok && k != safepath.Directory {
			return false, diag.OfKind("", "a path below %s, which is %s in the archive", at, k)
		}
	}
	for at := parentOf(name); at != "" && l.kinds[at] != safepath.Directory; at = parentOf(at) {
		l.kinds[at] = safepath.Directory
	}
	old, replaces := l.kinds[name]
	if replaces && (old == safepath.Directory) != (kind == safepath.Directory) {
		return false, diag.OfKind("", "both %s and %s in the archive", old, kind)
	}
	l.kinds[name] = kind
	delete(l.links, name)
	return replaces && kind != safepath.Directory, nil
}

// parentOf returns the directory of a clean relative path, "" at the top.
func parentOf(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ""
	}
	return name[:i]
}

// names returns all paths in order, directories before their entries.
func (l *layout) names() []string { return slices.Sorted(maps.Keys(l.kinds)) }

// checkLinks returns an error for a symbolic link that leads out of parent, the absolute path of
// the target directory. It follows links through other links. A missing element counts as a
// directory, because it may become one.
func (l *layout) checkLinks(parent string) error {
	for _, name := range slices.Sorted(maps.Keys(l.links)) {
		if err := l.follow(name, parent); err != nil {
			return fmt.Errorf("entry %q: %w", name, diag.OfKind("", "a symbolic link to %s, which %w", l.links[name], err))
		}
	}
	return nil
}

func (l *layout) follow(name, parent string) error {
	var at []string
	if dir := parentOf(name); dir != "" {
		at = strings.Split(dir, "/")
	}
	rest := []string{path.Base(name)}
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return errors.New("points outside of the directory")
			}
			at = at[:len(at)-1]
			continue
		}
		target, ok := l.links[path.Join(append(slices.Clone(at), part)...)]
		if !ok {
			at = append(at, part)
			continue
		}
		if links++; links > safepath.MaxLinks {
			return nil // the kernel refuses to follow it as well
		}
		if strings.HasPrefix(target, "/") {
			inside, ok := strings.CutPrefix(target+"/", strings.TrimSuffix(parent, "/")+"/")
			if !ok {
				return errors.New("points outside of the directory")
			}
			at, target = nil, inside
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return nil
}
