// Package bundles makes bundles of sites, and unpacks them for runs.
//
// [Folder] finds what to pack, [RefusePlain] looks for plain secrets in it, and [Save] writes the bundle. [Enter]
// unpacks a bundle, or a remote script or manifest.
package bundles

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/ignore"
	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/plainsecret"
	"github.com/luaccm/ccm/site"
)

// Folder returns the folder to pack for a site, which is named by its folder, script or
// manifest. Exclude are patterns as in lines of .ccmignore. The modules in the site's lock are
// added in vendor, where a run looks first. If the lock is in a folder above, that folder is
// packed.
func Folder(files *site.Files, name string, exclude []string) (f bundle.Folder, err error) {
	f = bundle.Folder{Dir: name, Limits: bundle.DefaultLimits, Check: files.Trust().Check}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return f, err
	case fi.Mode().IsRegular():
		f.Dir, f.Entry = filepath.Dir(name), filepath.Base(name)
	case !fi.IsDir():
		return f, diag.At(diag.Pos{}, diag.Expected("a site directory, got %s", name))
	}
	s, err := files.LockedSite(f.Dir, false)
	if err != nil {
		return f, err
	}
	if err := addModules(&f, s); err != nil {
		return f, err
	}
	ignored, err := ignore.Read(f.Dir)
	if err != nil {
		return f, err
	}
	left, err := ignore.Parse("--exclude", exclude)
	f.Leave = func(rel string, dir bool) bool { return ignored.Matches(rel, dir) || left.Matches(rel, dir) }
	return f, err
}

// addModules adds the modules in the lock of a site to the folder. The site may be nil.
func addModules(f *bundle.Folder, s *module.Site) error {
	if s == nil || s.Lock == nil {
		return nil
	}
	if err := s.Check(); err != nil {
		return err
	}
	abs, err := filepath.Abs(f.Dir)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(s.Dir, abs)
	if err != nil {
		return err
	}
	if below != "." {
		if f.Entry == "" {
			if f.Entry, err = bundle.FindEntry(os.DirFS(abs)); err != nil {
				return fmt.Errorf("%s: %w", f.Dir, err)
			}
		}
		f.Dir, f.Entry = s.Dir, path.Join(filepath.ToSlash(below), f.Entry)
	}
	copies, err := s.Copies()
	if err != nil {
		return err
	}
	f.Mounts = make(map[string]string)
	for _, c := range copies {
		if c.Replace == "" {
			f.Mounts[path.Join(module.VendorDir, c.Name)] = c.Dir
			continue
		}
		if rel, err := filepath.Rel(s.Dir, c.Dir); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return diag.At(diag.Pos{File: filepath.Join(f.Dir, module.FileName)}, diag.Cannot("pack", c.Name, diag.Not("its replacement "+c.Dir, "in this directory"))).
				WithHint("run ccm mod vendor, or move it into the directory")
		}
	}
	return nil
}

// RefusePlain returns the likely secrets that a bundle would have in plain text, as a
// [diag.List]. Allowed are patterns, as in lines of .ccmignore, of files that may have them.
func RefusePlain(f bundle.Folder, allowed []string) error {
	except, err := ignore.Parse("--allow-plain", allowed)
	if err != nil {
		return err
	}
	found, err := plainsecret.Scan(os.DirFS(f.Dir), func(rel string, dir bool) bool {
		_, module := f.Mounts[rel]
		return module || bundle.IsVersionControl(rel) || f.Leave(rel, dir) || except.Matches(rel, dir)
	})
	if err != nil {
		return err
	}
	var list diag.List
	for _, x := range found {
		list.Add(&diag.Error{Pos: diag.Pos{File: filepath.Join(f.Dir, x.File), Line: x.Line, Col: x.Column, Len: x.Length}, Err: errors.New(x.Message())})
	}
	if len(list) > 0 {
		list.Add(diag.At(diag.Pos{}, diag.Cannot("pack", "the bundle", diag.Contains("it", "plain secrets"))).
			WithHint("encrypt them, exclude them in .ccmignore, or allow false alarms with --allow-plain PATTERN"))
	}
	return list.Err()
}
