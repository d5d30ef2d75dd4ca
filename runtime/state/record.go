package state

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Name is a path, the target of a link, or the ID of a resource: bytes, mostly UTF-8. In JSON it is a string if it is
// UTF-8, otherwise an object with base64.
type Name string

// InEvent returns the ID as the JSON of events has it, where bytes that are not UTF-8 are replaced.
func (n Name) InEvent() string { return string([]rune(n)) }

type rawName struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (n Name) MarshalJSON() ([]byte, error) { return n.appendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Name) UnmarshalJSON(text []byte) error { return jsonreader.Whole(text, n) }

// ReadJSON implements jsonreader.Value.
func (n *Name) ReadJSON(r *jsonreader.Reader) error {
	switch r.Next() {
	case '"':
		*n = Name(r.Text())
		return nil
	case '{':
		var raw rawName
		r.Struct(&raw)
		*n = Name(raw.Base64)
		return nil
	}
	return json.Unmarshal(r.Raw(), (*string)(n))
}

// A Mode is permission bits, in octal in JSON.
type Mode uint32

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// String formats m as four digits.
func (m Mode) String() string {
	text := strconv.FormatUint(uint64(m), 8)
	return "0000"[min(len(text), 4):] + text
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mode) UnmarshalText(text []byte) error {
	bits, err := strconv.ParseUint(string(text), 8, 12)
	*m = Mode(bits)
	return err
}

// kinds are the words for kinds of entries.
var kinds = [...]string{safepath.Missing: "absent", safepath.Regular: "file", safepath.Directory: "directory", safepath.Symlink: "link", safepath.Special: "special"}

// A Version is the entry at a path at one time.
type Version struct {
	Kind  safepath.FileKind `json:"-"`
	Mode  Mode              `json:"mode"`
	UID   uint32            `json:"uid"`
	GID   uint32            `json:"gid"`
	Size  int64             `json:"size"`
	MTime time.Time         `json:"mtime"`
	Dev   uint64            `json:"dev"`
	Ino   uint64            `json:"ino"`
	// Target is the target of a link.
	Target Name `json:"target,omitempty"`
	// Xattrs are the extended attributes of a file or directory; empty but not nil if it has none, nil if they are not
	// known: in records of older versions of ccm, and of a file before it is at its path.
	Xattrs host.Xattrs `json:"xattrs,omitzero"`
	// Object is the SHA-256 of the content, if there is a backup of it.
	Object string `json:"object,omitempty"`
	// Unkept is the reason why there is no backup of a lost content.
	Unkept string `json:"unkept,omitempty"`
}

// plainVersion is a Version without methods, for encoding/json.
type plainVersion Version

// MarshalJSON implements json.Marshaler. A Version of kind Missing has no other field.
func (v Version) MarshalJSON() ([]byte, error) { return v.appendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Version) UnmarshalJSON(text []byte) error { return jsonreader.Whole(text, v) }

// ReadJSON implements jsonreader.Value.
func (v *Version) ReadJSON(r *jsonreader.Reader) error {
	var x struct {
		Kind string `json:"kind"`
		plainVersion
	}
	r.Struct(&x)
	for k, word := range kinds {
		if word == x.Kind {
			*v = Version(x.plainVersion)
			v.Kind = safepath.FileKind(k)
			return nil
		}
	}
	return diag.Expected("a kind such as file").Got("%q", x.Kind)
}

// versionOf returns the Version of an Info.
func versionOf(i safepath.Info) Version {
	return Version{
		Kind: i.Kind, Mode: Mode(i.Mode), UID: i.UID, GID: i.GID, Size: i.Size,
		MTime: i.MTime.UTC(), Dev: i.Dev, Ino: i.Ino,
	}
}

// versionAt returns the version at a path of the machine now.
func versionAt(v *host.View, path string) (Version, error) {
	info, err := v.Lstat(path)
	if err != nil {
		return Version{}, err
	}
	x := versionOf(info)
	if x.Kind == safepath.Symlink {
		target, err := v.Readlink(path)
		x.Target = Name(target)
		return x, err
	}
	if x.Kind == safepath.Regular {
		x.Xattrs, err = host.ReadXattrs(v, path)
	}
	return x, err
}

// sameCapabilities reports whether two versions have the same capabilities, as far as they are known.
func (v Version) sameCapabilities(w Version) bool {
	return v.Xattrs == nil || w.Xattrs == nil || v.capabilities() == w.capabilities()
}

// capabilities returns the capabilities of a file. Damaged ones count as none: the kernel refuses to run the file.
func (v Version) capabilities() filecap.Capabilities {
	c, _ := filecap.FromXattr(v.Xattrs[safepath.CapabilityXattr])
	return c
}

// Is reports whether v and w are the same thing, untouched between the two times: with the same
// owner, mode, capabilities and content.
func (v Version) Is(w Version) bool {
	if v.Kind != w.Kind || v.Kind == safepath.Missing {
		return v.Kind == w.Kind
	}
	same := v.sameCapabilities(w) && v.Mode == w.Mode && v.UID == w.UID && v.GID == w.GID && v.Target == w.Target
	if v.Kind == safepath.Directory {
		return same
	}
	return same && v.sameContent(w)
}

// isLike is like Is, wherever the file is stored.
func (v Version) isLike(w Version) bool {
	w.Ino = v.Ino
	return v.Is(w)
}

// sameContent reports whether nobody wrote to the file between the two times. The device does not count: it may have
// another number after a reboot.
func (v Version) sameContent(w Version) bool {
	return v.Kind == w.Kind && v.Size == w.Size && v.MTime.Equal(w.MTime) && v.Ino == w.Ino
}

// A Change is the change of one path by a run.
type Change struct {
	Path Name `json:"path"`
	// Dir is the resolved directory of the path at the time of the change; "" in records of old
	// versions of ccm.
	Dir      Name `json:"dir,omitempty"`
	Resource Name `json:"resource,omitempty"`
	// Also lists further resources for which the path was changed, such as other edits of a file.
	// Each has a line of its own in the file.
	Also   []Name  `json:"also,omitempty"`
	Before Version `json:"before"`
	// Content is set if the content was about to change too, not only the owner and mode.
	Content bool `json:"content"`
	// Sensitive is set if the content holds or held secrets.
	Sensitive bool `json:"sensitive,omitempty"`
	// Next is the version that the run was about to make, if it was known. While After is nil, an
	// event of the resource with outcome changed confirms it.
	Next *Version `json:"next,omitempty"`
	// After is nil if the run ended before the end of the resource.
	After *Version `json:"after,omitempty"`
}

// Undone reports whether the path is as it was before.
func (c Change) Undone() bool { return c.After != nil && c.After.Is(c.Before) }
