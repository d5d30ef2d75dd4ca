package module

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/trust"
)

// Caches returns the directories in which modules are looked for: first modules in the cache
// directory of ccm, the only one that is written. Root who was asked by a user through sudo reads
// the cache of that user too, for whoever gets modules is not always who runs a site. What is
// found there is believed for its hash only.
func Caches(cacheDir string, p *trust.Policy, uid int, getenv func(string) string) []string {
	list := []string{filepath.Join(cacheDir, "modules")}
	if uid != 0 || p == nil {
		return list
	}
	for _, id := range []string{getenv("SUDO_UID"), getenv("PKEXEC_UID")} {
		if u, err := user.LookupId(id); id != "" && err == nil && filepath.IsAbs(u.HomeDir) {
			list = append(list, filepath.Join(u.HomeDir, ".cache", "ccm", "modules"))
		}
	}
	return list
}

// treesDir is where in a cache the modules are, each in a directory named by its hash.
const treesDir = "h1"

// TreeDir returns the directory in a cache of the module with a hash.
func TreeDir(cache, hash string) (string, error) {
	key, err := HashKey(hash)
	return filepath.Join(cache, treesDir, key), err
}

// isDir reports whether there is a directory.
func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
