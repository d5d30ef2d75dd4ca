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

// digests are the SHA-256 of programs by their absolute paths. They are remembered in a file: to
// read a program takes longer than all else that is done here for a host that has it.
type digests struct {
	file    string // "" if they are not remembered
	digests map[string]digest
	changed bool
}

// A digest is of a file as it was when its stat data were these.
type digest struct {
	Size   int64  `json:"size"`
	Stamp  string `json:"stamp"`
	SHA256 string `json:"sha256"`
}

// largestDigests is how many bytes of them are read.
const largestDigests = 1 << 20

// readDigests reads what is remembered in a directory. A file that is damaged, or that somebody else
// could have written, counts as none.
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

// isDigest is what a digest is: it becomes a word of the script of each host.
var isDigest = lazyregexp.New(`^[0-9a-f]{64}$`)

// of returns the digest of a program, at a time.
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

// save writes them if there are others than were read. That they cannot be written costs time
// only.
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
