// Package bundle packs the folder of a site into one file, and unpacks it again: a tar archive
// (POSIX.1-2001 pax) that is compressed by gzip (RFC 1952). Equal folders give equal bytes.
//
// [Write] makes one. [Unpack] reads one, whoever has made it, into a [Place], which is a
// directory that nobody else can look into.
package bundle

import (
	"encoding/json"
	"strconv"

	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
)

// Limits are the maximum sizes of a bundle.
type Limits struct {
	Entries    int   // files, links and directories
	Bytes      int64 // of all files together
	PackedSize int64 // of the bundle itself
}

// DefaultLimits are the limits for making and reading bundles. They are far above usual sites, and
// far below the capacity of a machine.
var DefaultLimits = Limits{Entries: 100_000, Bytes: 4 << 30, PackedSize: 1 << 30}

// A LimitError reports that a bundle exceeds a limit.
type LimitError struct{ Limit string }

// Error names the limit.
func (e *LimitError) Error() string {
	return "bundle exceeds the limit of " + e.Limit
}

func tooMany(l Limits) error {
	return &LimitError{fmt.Sprintf("%d files, links and directories", l.Entries)}
}
func tooLarge(l Limits) error {
	return &LimitError{bytesize.Format(l.Bytes)}
}

// SignatureSuffix is appended to the name of a signed file for the name of its signature, and
// SignatureNamespace is the namespace of the signature (ssh-keygen -Y sign -n).
const (
	SignatureSuffix    = ".sig"
	SignatureNamespace = "ccm-bundle"
)

// metaName is the file of a bundle with the path of the script or manifest, if that is none of
// entries. The name is reserved: no site can have it.
const metaName = ".ccm/bundle.json"

// protocol and format are the values in the file metaName.
const (
	protocol = "io.choria.ccm.v1.bundle"
	format   = 1
)

// A metadata is the content of the file metaName.
type metadata struct {
	Protocol string `json:"protocol"`
	Format   int    `json:"format"`
	Entry    string `json:"entry"`
}

// entries are the default paths of the script or manifest; the first existing one is run. Bundles
// of Choria CCM have the second.
var entries = []string{"site.lua", "manifest.yaml"}

// entryOf returns the script or manifest of a folder: from text, which is the content of the file
// metaName or "", else one of entries. These are looked for in the folder itself, and then in its
// subfolders, because archives may contain a whole folder.
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
			return "", diag.Expected("one script or manifest").Found("%s", strings.Join(found, " and "))
		}
	}
	return "", &NoEntryError{}
}

// A NoEntryError reports that a folder or bundle has nothing that can be run.
type NoEntryError struct{}

// Error lists the names that were looked for.
func (*NoEntryError) Error() string { return "no " + strings.Join(entries, " or ") }

func entryOfMeta(fsys fs.FS, text string) (string, error) {
	var m metadata
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Protocol != protocol {
		return "", diag.Damaged(metaName, nil)
	}
	if m.Format != format {
		return "", diag.OtherFormat("bundle", m.Format, format)
	}
	if !isName(m.Entry) {
		return "", fmt.Errorf("%s: %w", metaName, diag.Missing(strconv.Quote(m.Entry), "in the bundle"))
	}
	if fi, err := fs.Stat(fsys, m.Entry); err != nil || !fi.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", metaName, diag.Missing(strconv.Quote(m.Entry), "in the bundle"))
	}
	return m.Entry, nil
}

// FindEntry returns the script or manifest that a bundle of a folder would run.
func FindEntry(fsys fs.FS) (string, error) { return entryOf(fsys, "", nil) }

// isName reports whether a path is below a folder and in its shortest form.
func isName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "\x00") && len(name) <= maxName
}

// maxName is the maximum length of a path in a bundle (PATH_MAX).
const maxName = 4095

// errNotName is the error about an invalid path in a bundle.
var errNotName = diag.Expected("a path below the directory, in UTF-8")

// versionControl are the directories of version control systems.
var versionControl = []string{".git", ".hg", ".svn", ".jj", ".bzr"}

// IsVersionControl reports whether bundles leave a path out because it belongs to version control.
func IsVersionControl(rel string) bool { return slices.Contains(versionControl, path.Base(rel)) }
