package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/site/remote"
)

// withNearFile adds a hint to the error of reading the named script, manifest or saved plan. If
// the file does not exist, the hint names a similar one beside it, or says how to begin.
func withNearFile(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if strings.HasPrefix(name, remote.KeyScheme) {
		return diag.At(diag.Pos{}, fmt.Errorf("%s: %w", name, diag.Contains("a key", "data, not a script or manifest"))).WithHint("use --data for it; sites come from files, obj:// and https://")
	}
	dir, base := filepath.Split(name)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // on an error there is no similar name
	var names []string
	scripts := false
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
			scripts = scripts || isScriptName(entry.Name())
		}
	}
	placed := diag.Errorf(diag.Pos{}, "%w", err)
	switch near := diag.Nearest(base, names); {
	case near != "":
		return placed.WithHint("did you mean %s?", dir+near)
	case scripts:
		return err
	}
	return placed.WithHint("create a site with: ccm init DIR")
}
