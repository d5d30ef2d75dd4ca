// Package state keeps what outlives a run: the lock that makes runs exclusive.
package state

import (
	"os"
	"os/user"
	"path/filepath"
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
