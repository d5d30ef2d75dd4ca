// Package resources declares the types of resource that ship with ccm, one in a file: its
// properties, its state, the interface of its providers, and its decision.
//
// A type decides and cannot act: a provider does everything that touches the machine. Begin with
// file.go.
package resources

import (
	"embed"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// Source is the source text of this package, from which the reference of the types is generated.
//
//go:embed *.go
var Source embed.FS

// checkPath returns an error if a path is not absolute and canonical.
func checkPath(property, path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		err := wrong(property, "%w", diag.Expected("an absolute path").Got("%q", path))
		err.Hint = resource.HomeHint(path)
		return err
	case filepath.Clean(path) != path:
		err := wrong(property, "%w", diag.Expected("a path without . or .. or doubled slashes").Got("%q", path))
		err.Hint = "write " + filepath.Clean(path)
		return err
	case strings.ContainsRune(path, 0):
		return wrong(property, "%w", diag.Expected("a path without NUL bytes").Got("%q", path))
	}
	return nil
}

// wrong returns an error about one property.
func wrong(property, format string, args ...any) *resource.PropertyError {
	return resource.PropertyErrorf(property, format, args...)
}
