package module

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// knownFile is where in a cache it is kept which directories hold what.
const knownFile = "verified"

// maxKnown is how many directories are kept. Old ones fall out.
const maxKnown = 4096

// quiet is how long ago files must have been changed to be taken as known: what the kernel
// says of a file that is changed twice within one tick of its clock is the same after both.
const quiet = 2 * time.Second

// A treeCache has the hashes of directories that were read before. A line is the
// digest of what the kernel said of the files, and their hash; both together are found again
// only if nobody has touched a file since. The file lies in the cache of the user of ccm:
// who can write it can write the cache, and the process itself.
type treeCache struct {
	file  string
	lines []string
	set   map[string]bool
	added bool
}

func newKnownTrees(cache string) *treeCache {
	return &treeCache{file: filepath.Join(cache, knownFile), set: make(map[string]bool)}
}

func readKnownTrees(cache string) *treeCache {
	k := newKnownTrees(cache)
	text, err := readOwn(k.file)
	if err != nil {
		return k
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); len(line) < 200 && len(k.lines) < maxKnown {
			k.lines = append(k.lines, line)
			k.set[line] = true
		}
	}
	return k
}

// readOwn reads a file if it belongs to this user and nobody else may write it.
func readOwn(file string) ([]byte, error) {
	st, err := owner(file)
	if err != nil {
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 || st.Size > maxKnown*200 {
		return nil, os.ErrPermission
	}
	return os.ReadFile(file)
}

func knownLine(hash string, t *tree) string { return hex.EncodeToString(t.stats[:]) + " " + hash }

func (k *treeCache) has(hash string, t *tree) bool { return k.set[knownLine(hash, t)] }

func (k *treeCache) add(hash string, t *tree) {
	line := knownLine(hash, t)
	if since := time.Since(t.changeTime); since < quiet || k.set[line] {
		return
	}
	k.lines, k.set[line], k.added = append(k.lines, line), true, true
}

// save writes what is new. Another process may do so at the same time: one of them wins, and
// the other reads some files again.
func (k *treeCache) save() {
	if !k.added || !isDir(filepath.Dir(k.file)) {
		return
	}
	k.added = false
	lines := k.lines
	if len(lines) > maxKnown {
		lines = slices.Clone(lines[len(lines)-maxKnown:])
	}
	var b bytes.Buffer
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	f, err := os.CreateTemp(filepath.Dir(k.file), knownFile+".*")
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if f.Close() != nil || err != nil || os.Rename(f.Name(), k.file) != nil {
		_ = os.Remove(f.Name())
	}
}
