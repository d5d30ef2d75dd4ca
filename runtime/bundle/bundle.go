// Package bundle packs the folder of a site into one file, and unpacks it again: a tar archive
// (POSIX.1-2001 pax) that is compressed by gzip (RFC 1952). Equal folders give equal bytes.
//
// [Write] makes one. [Unpack] reads one, whoever has made it, into a [Place], which is a
// directory that nobody else can look into.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// Limits are how much a bundle may hold.
type Limits struct {
	Entries    int   // files, links and directories
	Bytes      int64 // of all files together
	PackedSize int64 // of the bundle itself
}

// DefaultLimits are what bundles are made and read with. They are far above sites that people
// write, and far below what fills a machine.
var DefaultLimits = Limits{Entries: 100_000, Bytes: 4 << 30, PackedSize: 1 << 30}

// A LimitError says that a bundle holds more than it may.
type LimitError struct{ Limit string }

// Error says how much it may hold.
func (e *LimitError) Error() string {
	return "the bundle holds more than " + e.Limit + ", which is the limit"
}

func tooMany(l Limits) error {
	return &LimitError{fmt.Sprintf("%d files, links and directories", l.Entries)}
}
func tooLarge(l Limits) error {
	return &LimitError{bytesize.Format(l.Bytes)}
}

// SignatureSuffix is how the name of a signature ends, behind that of what was signed, and
// SignatureNamespace is what for it was signed (ssh-keygen -Y sign -n).
const (
	SignatureSuffix    = ".sig"
	SignatureNamespace = "ccm-bundle"
)

// metaName is the file of a bundle that says which script or manifest is run, if that is none
// of entries. It is a name of the bundle only: no site can have it.
const metaName = ".ccm/bundle.json"

// protocol and format are those of the file metaName.
const (
	protocol = "io.choria.ccm.v1.bundle"
	format   = 1
)

// A meta is what the file metaName holds.
type meta struct {
	Protocol string `json:"protocol"`
	Format   int    `json:"format"`
	Entry    string `json:"entry"`
}

// entries are the scripts and manifests that are run if nothing else is said, the first that
// is there. Bundles of Choria CCM have the second.
var entries = []string{"site.lua", "manifest.yaml"}

// EntryOf returns which script or manifest of a folder is run: what text says, which is that of
// the file metaName or "", else one of entries. They are looked for in the folder itself, and
// then in the folders in it, as archives of a whole folder have them.
func entryOf(fsys fs.FS, text string, dirs []string) (string, error) {
	if text != "" {
		return entryOfMeta(fsys, text)
	}
	for _, dir := range [][]string{{"."}, dirs} {
		var found []string
		for _, d := range dir {
			for _, name := range entries {
				name = path.Join(d, name)
				if fi, err := fs.Stat(fsys, name); err == nil && fi.Mode().IsRegular() {
					found = append(found, name)
					break
				}
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return "", fmt.Errorf("want one script or manifest, found %s", strings.Join(found, " and "))
		}
	}
	return "", &NoEntryError{}
}

// A NoEntryError says that a folder or bundle has nothing that can be run.
type NoEntryError struct{}

// Error says what is looked for.
func (*NoEntryError) Error() string { return "it has neither " + strings.Join(entries, " nor ") }

func entryOfMeta(fsys fs.FS, text string) (string, error) {
	var m meta
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Protocol != protocol {
		return "", fmt.Errorf("%s is damaged", metaName)
	}
	if m.Format != format {
		return "", fmt.Errorf("the bundle is of format %d, and this ccm knows %d", m.Format, format)
	}
	if !isName(m.Entry) {
		return "", fmt.Errorf("%s names %q, which is no file of the bundle", metaName, m.Entry)
	}
	if fi, err := fs.Stat(fsys, m.Entry); err != nil || !fi.Mode().IsRegular() {
		return "", fmt.Errorf("%s names %q, which is no file of the bundle", metaName, m.Entry)
	}
	return m.Entry, nil
}

// FindEntry returns which script or manifest of a folder a bundle of it would run.
func FindEntry(fsys fs.FS) (string, error) { return entryOf(fsys, "", nil) }

// isName reports whether a path is one below a folder, in its shortest form.
func isName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "\x00") && len(name) <= maxName
}

// maxName is how long a path in a bundle may be (PATH_MAX).
const maxName = 4095

// errNotName says what a path in a bundle must be.
var errNotName = errors.New("want a path below the folder, in UTF-8")

// versionControl are the names of what version control keeps in a folder.
var versionControl = []string{".git", ".hg", ".svn", ".jj", ".bzr"}

// IsVersionControl reports whether something is left out of bundles because of its name.
func IsVersionControl(rel string) bool { return slices.Contains(versionControl, path.Base(rel)) }
