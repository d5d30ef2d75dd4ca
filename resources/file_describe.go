package resources

import (
	"bytes"

	"fmt"
	"path"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

var (
	_ resource.Describer      = FileState{}
	_ resource.Importer[File] = FileState{}
)

// FileMetadata is the description of the entry at a path.
type FileMetadata struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"` // SHA-256 of a file
	Owner    string `json:"owner,omitempty"`
	Group    string `json:"group,omitempty"`
	Mode     string `json:"mode,omitempty"`
	// Capabilities are as getcap prints them.
	Capabilities string    `json:"capabilities,omitempty"`
	Provider     string    `json:"provider,omitempty"`
	MTime        time.Time `json:"mtime,omitzero"`
	Size         *int64    `json:"size,omitempty"`   // of a file
	Target       string    `json:"target,omitempty"` // of a symbolic link
}

// Describe implements resource.Describer.
func (s FileState) Describe(name, provider string) any {
	m := FileMetadata{Name: name, Provider: provider, Target: s.Target}
	if s.Kind == safepath.Missing {
		return m
	}
	m.Checksum, m.Owner, m.Group, m.Mode, m.MTime = s.Checksum, s.Owner, s.Group, fmt.Sprintf("%04o", s.Mode), s.MTime.UTC()
	if s.Kind == safepath.Regular {
		m.Size, m.Capabilities = &s.Size, s.Capabilities.String()
	}
	return m
}

// inlineLimit is the largest content, in bytes, that an import writes into a script.
const inlineLimit = 4 << 10

// secretReason returns the reason why a content must not be in a script, which others read and which
// goes into version control; "" if there is none. One is that only the owner may read the file.
func (s FileState) secretReason(im resource.Import, content []byte) string {
	switch {
	case im.Sensitive:
		return "contains or contained secrets"
	case slices.Contains([]string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-"}, path.Clean(im.Name)):
		return "contains password hashes"
	case bytes.Contains(content, []byte("PRIVATE KEY-----")):
		return "contains a private key"
	case s.Mode&0o077 == 0 && len(content) > 0:
		return fmt.Sprintf("only its owner can read it (mode %04o)", s.Mode)
	}
	return ""
}

// Import implements resource.Importer. Content that is large, no text, or likely secret is stored
// in a file.
func (s FileState) Import(im resource.Import) (File, error) {
	f := File{Name: im.Name, Ensure: FilePresent, Owner: s.Owner, Group: s.Group, Mode: new(ModeOf(s.Mode)), SpecialBits: s.Mode > permissionBits,
		Links: LinksRefuse, HardLinks: HardLinksReplace}
	switch {
	case s.Kind == safepath.Missing:
		return f, diag.NotFound("file or directory", "", nil)
	case s.Kind == safepath.Symlink:
		return f, diag.Expected("a file or a directory").Found("a symbolic link to %s", s.Target)
	case s.Kind == safepath.Special:
		return f, diag.Expected("a file or a directory").Found("%s", s.Kind)
	case s.Kind == safepath.Directory:
		f.Ensure = FileDirectory
		return f, nil
	}
	if s.Capabilities.Given && s.Capabilities.Root == 0 {
		f.Capabilities = &s.Capabilities
	}
	content, err := im.View.ReadFile(im.Name)
	if err != nil {
		return f, err
	}
	reason := s.secretReason(im, content)
	if reason == "" && len(content) <= inlineLimit && utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
		f.Content = new(string(content))
		return f, nil
	}
	aside, err := im.StoreFile(content)
	if err == nil && reason != "" && im.Warn != nil {
		im.Warn(fmt.Sprintf("file#%s: %s, so its content is in %s instead of the script (keep that file out of version control)", im.Name, reason, aside))
	}
	f.Source = &aside
	return f, err
}
