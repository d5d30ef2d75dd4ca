package module

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
)

// knownFile is the file in a cache that lists verified directories.
const knownFile = "verified"

// maxKnown limits the list. The oldest entries are dropped.
const maxKnown = 4096

// quiet is how old the last change of a directory must be for an entry: two changes of a file within one tick of the
// kernel's clock have the same metadata.
const quiet = 2 * time.Second

// A treeCache knows directories that were verified before. A line of its file has the digest of a directory's
// metadata and the hash of its contents, so it applies only while no file has changed. The file needs no protection
// of its own: who can write it can also write the cache and trace this process.
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

// save writes the list if it has new entries. If several processes save at once the last one wins, and the entries of
// the others are verified again later.
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
	_ = atomicfile.Write(k.file, atomicfile.Options{Shared: true}, atomicfile.Text(b.Bytes())) // without it, all are verified again
}
