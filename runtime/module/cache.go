package module

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/trust"
)

// Caches returns the directories that may hold modules. The first is modules in the cache directory of ccm, the only
// one that ccm writes to. When a user runs ccm as root through sudo or pkexec, the user's own cache comes second,
// because modules are often downloaded without root. Files of a cache are trusted by their hash only.
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

// treesDir is the subdirectory of a cache that holds the modules, each in a directory named by its hash.
const treesDir = "h1"

// TreeDir returns the directory in a cache for the module with a hash ("h1:...").
func TreeDir(cache, hash string) (string, error) {
	key, err := HashKey(hash)
	return filepath.Join(cache, treesDir, key), err
}

func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
