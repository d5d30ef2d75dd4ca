package site

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
)

// An UnpackedBundle is a bundle, or a remote script or manifest, that was unpacked into the working directory (package
// bundles). It is nil for a local site.
type UnpackedBundle struct {
	Name      string // as the user wrote it
	ShownName string // in messages
	StateName string // in the state directory
	Origin    string // the working directory in which ccm was started
	Dir       string // the directory into which the bundle was unpacked
	Entry     string // the script or manifest to run
	// Inputs describe the bundle in the records of runs.
	Inputs []std.Input
}

// workingDirectory returns the directory in which ccm was started.
func (b *UnpackedBundle) workingDirectory() (string, error) {
	if b != nil {
		return b.Origin, nil
	}
	return os.Getwd()
}

// fromScript returns the name of a file in messages. For a file of the bundle it is relative to
// the script, because the unpacked bundle is gone afterwards. Other files keep their names.
func (b *UnpackedBundle) fromScript(file string) string {
	if b == nil || !strings.HasPrefix(file, b.Dir+string(filepath.Separator)) {
		return file
	}
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(here, file); err == nil {
		return rel
	}
	return file
}

// fileShown returns the name in messages of a file that the user did not name. A file of the
// bundle has the name of the bundle before it. Other files keep their names.
func (b *UnpackedBundle) fileShown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.ShownName)
}

// fileKnown is fileShown for records: it uses the bundle's name in the state directory.
func (b *UnpackedBundle) fileKnown(file string) string {
	if b == nil {
		return file
	}
	return b.within(file, b.StateName)
}

// within returns the name of a file of the bundle with name before it. Other files keep their
// names.
func (b *UnpackedBundle) within(file, name string) string {
	if rel, ok := strings.CutPrefix(file, b.Dir+string(filepath.Separator)); ok {
		return name + "/" + rel
	}
	return file
}
