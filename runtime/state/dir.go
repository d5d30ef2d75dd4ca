// Package state keeps what outlives a run: the lock that makes runs exclusive.
package state

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/diag"
)

// Dir returns the state directory of the user that runs ccm: flag if it is not
// empty, else CCM_STATE_DIR, else the STATE_DIRECTORY that systemd gives a
// service, else /var/lib/ccm for root and $XDG_STATE_HOME/ccm for others (XDG
// Base Directory Specification).
func Dir(flag string) string {
	for _, dir := range []string{flag, os.Getenv("CCM_STATE_DIR"), os.Getenv("STATE_DIRECTORY")} {
		if dir != "" {
			return dir
		}
	}
	if os.Geteuid() == 0 {
		return "/var/lib/ccm"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ccm")
	}
	return filepath.Join(home(), ".local", "state", "ccm")
}

const lockFile = "lock"

// claim makes the state directory. One that is there already and that others can
// look into is closed to them, because it holds what files held that they may not
// read. It may hold a key that somebody has brought. What is plainly not a state
// directory, such as the home directory of somebody, is refused instead.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Stat(dir)
	if err != nil || fi.Mode().Perm()&0o077 == 0 {
		return err
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	_, err = os.Lstat(filepath.Join(dir, lockFile))
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist) && (len(names) == 0 || len(names) == 1 && names[0].Name() == keyFile):
		return os.Chmod(dir, fi.Mode()&^0o077)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return diag.Errorf(diag.Pos{File: dir}, "want a directory for state alone that only its owner may enter, found one with mode %04o that holds %s", fi.Mode().Perm(), names[0].Name()).
		WithHint("name one that is empty or not there")
}

// home returns the home directory of the user: HOME or, without it, what the
// user database says.
func home() string {
	if dir := os.Getenv("HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return "/"
}
