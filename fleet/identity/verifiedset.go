package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/tidwall/gjson"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// mostVerified is the most remembered JWTs.
const mostVerified = 200_000

// A verifiedSet remembers the SHA-256 of JWTs with valid signatures: with thousands of nodes,
// checking signatures takes longer than all else of reading them. It is kept in a file of the
// user's cache, if there is one.
type verifiedSet struct {
	mu     sync.Mutex
	sums   map[[sha256.Size]byte]bool // true if used since the set was opened
	grown  bool
	file   string // "" for none
	opened bool
}

// has reports whether a JWT is known to have a valid signature.
func (v *verifiedSet) has(sum [sha256.Size]byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.opened {
		v.read()
	}
	_, ok := v.sums[sum]
	if ok {
		v.sums[sum] = true
	}
	return ok
}

func (v *verifiedSet) add(sum [sha256.Size]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sums == nil {
		v.sums = make(map[[sha256.Size]byte]bool)
	}
	if len(v.sums) < mostVerified {
		v.sums[sum], v.grown = true, true
	}
}

// read reads the file, unless it belongs to another user or others can write it.
func (v *verifiedSet) read() {
	v.opened = true
	v.sums = make(map[[sha256.Size]byte]bool)
	if v.file == "" {
		return
	}
	f, err := os.OpenFile(v.file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || info.Size() > mostVerified*sha256.Size {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return
	}
	text := make([]byte, info.Size())
	n, _ := io.ReadFull(f, text)
	for text = text[:n]; len(text) >= sha256.Size; text = text[sha256.Size:] {
		v.sums[[sha256.Size]byte(text)] = false
	}
}

// save writes the file if anything was added. Of the old content it keeps the JWTs that were used
// again.
func (v *verifiedSet) save(h *host.Host) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.grown || v.file == "" {
		return nil
	}
	v.grown = false
	text := make([]byte, 0, len(v.sums)*sha256.Size)
	for sum, used := range v.sums {
		if used {
			text = append(text, sum[:]...)
		}
	}
	if err := os.MkdirAll(filepath.Dir(v.file), 0o700); err != nil {
		return err
	}
	return h.Save(v.file, text, 0o600)
}

// KeepVerified names a directory of this user for a file of JWTs with valid signatures, so that the
// next command need not check them again. Only [Directory.SaveVerified] writes there.
func (d *Directory) KeepVerified(dir string) {
	d.verified.file = filepath.Join(dir, "nodes-"+d.Fleet.Account)
}

// SaveVerified writes the JWTs that were found valid since.
func (d *Directory) SaveVerified() error { return d.verified.save(d.host) }

// ReadNode is like [Fleet.ReadNode], but checks each signature once.
func (d *Directory) ReadNode(text string) (NodeIdentity, error) {
	text = strings.TrimSpace(text)
	sum := sha256.Sum256([]byte(text))
	if d.verified.has(sum) {
		n, account, err := parseNode(text)
		if err != nil {
			return n, err
		}
		return n, d.Fleet.believes(n, account)
	}
	n, err := d.Fleet.ReadNode(text)
	if err == nil {
		d.verified.add(sum)
	}
	return n, err
}

// parseNode reads the payload of a JWT whose signature was valid (RFC 7519 section 3; the names are those of
// github.com/nats-io/jwt, version 2).
func parseNode(text string) (NodeIdentity, string, error) {
	_, rest, _ := strings.Cut(text, ".")
	payload, _, _ := strings.Cut(rest, ".")
	bare, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return NodeIdentity{}, "", diag.Not("the payload", "base64")
	}
	if !gjson.ValidBytes(bare) {
		return NodeIdentity{}, "", diag.Expected("a JSON payload")
	}
	n := NodeIdentity{JWT: text}
	var claims gjson.Result
	gjson.ParseBytes(bare).ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "name":
			n.Name = value.Str
		case "sub":
			n.Key = value.Str
		case "iss":
			n.Issuer = value.Str
		case "iat":
			n.IssuedAt = value.Int()
		case "nats":
			claims = value
		}
		return true
	})
	var tags []string
	for _, tag := range claims.Get("tags").Array() {
		tags = append(tags, tag.Str)
	}
	n.addTags(tags)
	return n, claims.Get("issuer_account").Str, n.check()
}
