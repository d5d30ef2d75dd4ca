package resolve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Vendor copies the modules of the lock file to vendor/NAME of a site, and removes modules from
// vendor that are no longer locked. Each copy takes its place in one step.
func (r *Resolver) Vendor(dir string, copies []module.Copy) (removed []string, err error) {
	vendor := filepath.Join(dir, module.VendorDir)
	locked := make(map[string]bool)
	for _, c := range copies {
		locked[c.Name] = c.Replace == ""
		if c.Replace != "" {
			continue // a folder of the site already
		}
		to := filepath.Join(vendor, filepath.FromSlash(c.Name))
		if have, err := module.HashDir(to); err == nil && have == c.Hash {
			continue
		}
		if err := copyTo(c.Dir, to, c.Hash); err != nil {
			return nil, err
		}
	}
	return removeOthers(vendor, locked)
}

// copyTo copies a module.
func copyTo(from, to, hash string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(filepath.Dir(to), ".ccm-vendor-")
	if err != nil {
		return err
	}
	defer func() { removeTree(stage) }()
	if err := os.CopyFS(filepath.Join(stage, "new"), os.DirFS(from)); err != nil {
		return err
	}
	err = filepath.WalkDir(filepath.Join(stage, "new"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, map[bool]fs.FileMode{true: 0o755, false: 0o644}[d.IsDir()])
	})
	if err != nil {
		return err
	}
	if have, err := module.HashDir(filepath.Join(stage, "new")); err != nil || have != hash {
		return errors.Join(err, diag.Mismatch("copy", "the original"))
	}
	if err := os.Rename(to, filepath.Join(stage, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(stage, "new"), to)
}

// removeOthers removes modules that are not locked. What is no module is left alone: vendor may
// hold other things.
func removeOthers(vendor string, locked map[string]bool) (removed []string, err error) {
	err = filepath.WalkDir(vendor, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.IsDir() || at == vendor {
			return err
		}
		text, err := readSmall(filepath.Join(at, module.FileName))
		if err != nil {
			return nil // no module, and others may be below it
		}
		rel, _ := filepath.Rel(vendor, at)
		name := filepath.ToSlash(rel)
		file, err := module.ParseFile(at, text)
		if err == nil && file.Name == name && !locked[name] {
			removed = append(removed, name)
			removeTree(at)
			for up := filepath.Dir(at); up != vendor && strings.HasPrefix(up, vendor); up = filepath.Dir(up) {
				if os.Remove(up) != nil { // it is not empty
					break
				}
			}
		}
		return filepath.SkipDir
	})
	return removed, err
}

func readSmall(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := safepath.ReadUpTo(f, 1<<20)
	return string(text), err
}
