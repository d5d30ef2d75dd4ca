// Package state keeps what outlives a run: its lock, its record, the backups of what it
// changed, the refreshes that it left pending and what it wanted of each resource.
//
// Begin with [Store], which lists the files of a state directory, and [RecordWriter].
package state

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// DirVariable names the state directory.
const DirVariable = "CCM_STATE_DIR"

// SystemDir is the state directory of a system.
const SystemDir = statedir.SystemDir

// Given returns the state directory that flag or the environment names, as in [Dir]; "" if they name none.
func Given(flag string) string {
	return cmp.Or(flag, os.Getenv(DirVariable), os.Getenv("STATE_DIRECTORY"))
}

// Dir returns the state directory of the user that runs ccm: flag if it is not
// empty, else CCM_STATE_DIR, else the STATE_DIRECTORY that systemd gives a
// service, else /var/lib/ccm for root and $XDG_STATE_HOME/ccm for others (XDG
// Base Directory Specification).
func Dir(flag string) string {
	if dir := Given(flag); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return SystemDir
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ccm")
	}
	return filepath.Join(home(), ".local", "state", "ccm")
}

// CacheDir returns the directory for files that can be fetched again: CCM_CACHE_DIR, else the
// CACHE_DIRECTORY that systemd gives a service, else /var/cache/ccm for root and
// $XDG_CACHE_HOME/ccm for others.
func CacheDir() string {
	for _, dir := range []string{os.Getenv("CCM_CACHE_DIR"), os.Getenv("CACHE_DIRECTORY")} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	if os.Geteuid() == 0 {
		return "/var/cache/ccm"
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ccm")
	}
	return filepath.Join(home(), ".cache", "ccm")
}

const lockFile = "lock"

// claim makes the state directory. If it exists and others may enter it, they are shut out,
// because backups may hold what they may not read. Before the first run it may hold a key that
// somebody brought, and the directory of the agent. claim refuses a directory that holds anything
// else and no lock, such as a home directory, and one with an entry that is neither a file nor a
// directory, such as a link.
func claim(d *statedir.Dir) error {
	if os.Geteuid() == 0 { // in an image without a /var/lib, others need it, too
		if err := os.MkdirAll(filepath.Dir(d.Root), 0o755); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(d.Root, 0o700); err != nil {
		return err
	}
	tooWide, err := judge(d)
	if err != nil || !tooWide {
		return err
	}
	top, err := d.Top()
	if err != nil {
		return err
	}
	fi, err := top.Stat()
	if err != nil {
		return err
	}
	return top.Chmod(fi.Mode() &^ 0o077)
}

// judge reports whether a directory can be a state directory, and whether others have to be shut
// out first. It changes nothing.
func judge(d *statedir.Dir) (tooWide bool, err error) {
	top, err := d.Top()
	if err != nil {
		return false, err
	}
	fi, err := top.Stat()
	if err != nil {
		return false, err
	}
	entries, err := d.List(".")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			_, err := d.Stat(e.Name())
			return false, err
		}
	}
	if fi.Mode().Perm()&0o077 == 0 {
		return false, nil
	}
	isLock := func(e os.DirEntry) bool { return e.Name() == lockFile }
	other := slices.IndexFunc(entries, isForeign)
	if other < 0 || slices.ContainsFunc(entries, isLock) {
		return true, nil
	}
	return false, diag.At(diag.Pos{File: d.Root}, diag.Expected("a directory for state only, accessible only by its owner").Found("one with mode %04o that contains %s", fi.Mode().Perm(), entries[other].Name())).
		WithHint("use an empty or new one")
}

// agentDir is the directory of the agent's fetched sites. It may exist before the first run.
const agentDir = "agent"

// isForeign reports whether an entry cannot be in a state directory before its first run.
func isForeign(e os.DirEntry) bool {
	return e.Name() != keyFile && (e.Name() != agentDir || !e.IsDir())
}

// home returns the home directory of the user: HOME or, without it, the one in the user database.
func home() string {
	if dir := os.Getenv("HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return "/"
}
