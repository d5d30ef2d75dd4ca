package ssh

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/trust"
)

// digests are the SHA-256 of programs by their absolute paths. They are remembered in a file: for a
// host that has its program, reading the program would take longer than all other local work.
type digests struct {
	file    string // "" if they are not remembered
	digests map[string]digest
	changed bool
}

// A digest is the digest of a file, with the file's stat data at that time.
type digest struct {
	Size   int64  `json:"size"`
	Stamp  string `json:"stamp"`
	SHA256 string `json:"sha256"`
}

// largestDigests is the most bytes of the file of digests.
const largestDigests = 1 << 20

// readDigests reads the remembered digests in a directory. A file that is damaged, or that others
// could have written, is ignored.
func readDigests(dir string) digests {
	d := digests{digests: make(map[string]digest)}
	if dir == "" {
		return d
	}
	file := filepath.Join(dir, "programs.json")
	if err := trust.Of(os.Geteuid(), os.Getenv).CheckKept(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d
	}
	d.file = file
	if text, err := (&safepath.Resolver{Root: "/"}).ReadRegular(file, largestDigests); err == nil && json.Unmarshal(text, &d.digests) != nil || d.digests == nil {
		d.digests = make(map[string]digest)
	}
	return d
}

// isDigest matches a digest, which becomes a word of each host's script.
var isDigest = lazyregexp.New(`^[0-9a-f]{64}$`)

// of returns the digest of a program, at the present time at.
func (d *digests) of(name string, at time.Time) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	now := digest{Size: fi.Size(), Stamp: sources.StatDataOf(fi, at).Stamp()}
	before := d.digests[name]
	if now.Stamp != "" && now.Size == before.Size && now.Stamp == before.Stamp && isDigest().MatchString(before.SHA256) {
		return before.SHA256, nil
	}
	if now.SHA256, err = sha256sum.Reader(f); err != nil {
		return "", err
	}
	if now.Stamp != "" {
		d.digests[name], d.changed = now, true
	}
	return now.SHA256, nil
}

// save writes the digests if they have changed. An error is ignored, because it costs only time.
func (d *digests) save() {
	if !d.changed || d.file == "" {
		return
	}
	d.changed = false
	for name := range d.digests {
		if _, err := os.Stat(name); os.IsNotExist(err) {
			delete(d.digests, name)
		}
	}
	if os.MkdirAll(filepath.Dir(d.file), 0o700) != nil {
		return
	}
	if text, err := json.Marshal(d.digests); err == nil {
		_ = host.New(host.Options{}).Save(d.file, text, 0o600)
	}
}
