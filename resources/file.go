package resources

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// FileType is the type of files and directories.
var FileType = resource.Define[File, FileState, FileProvider]("file")

// File manages one file or directory: whether it exists, its content, its
// owner, its group and its permissions.
type File struct {
	// Name is the absolute path, without . and .. components.
	Name string `ccm:"name,name,alias=path,example=/etc/motd,kind=path"`
	// Ensure is what exists at the path: a file (present), a directory, or nothing (absent). With
	// existing, the resource manages only owner, group, mode and capabilities of a file or directory, and
	// fails if there is none.
	Ensure FileEnsure `ccm:"ensure,default=present"`
	// Content is the complete text of the file. Without content and source, the content of an existing
	// file is not changed, and a missing file is created empty.
	Content *string `ccm:"content,alias=contents,kind=content,usual"`
	// Source is the path of a file to copy, or an http or https URL. A relative path is relative to
	// the script or manifest with the resource. A URL is fetched once in every run and plan, and has
	// at most 64 MiB.
	Source *string `ccm:"source,kind=path,usual"`
	// Decrypt decrypts the source with an age identity of this machine. The content is then a secret.
	// The default is true if the name of the source ends with .age.
	Decrypt *bool `ccm:"decrypt"`
	// Checksum is the SHA-256 of the source in hexadecimal. If the source has another checksum, the
	// resource fails and the file is not changed. While the file has this checksum, a URL is not
	// fetched.
	Checksum Checksum `ccm:"checksum"`
	// ContentOnce writes the content only if the file is missing. Afterwards only owner, group and
	// mode are managed.
	ContentOnce bool `ccm:"content_once"`
	// Owner is the owner of the file, a name or number; "-1" does not change it. It is required unless
	// ensure is absent or existing.
	Owner string `ccm:"owner,example=root,kind=owner,unless=ensure is absent or existing"`
	// Group is the group of the file, a name or number; "-1" does not change it. It is required unless
	// ensure is absent or existing.
	Group string `ccm:"group,example=root,kind=group,unless=ensure is absent or existing"`
	// Mode is the permissions in octal, as a string such as "0644". An x in place of a digit keeps that digit as it is on
	// the machine, as in "0x44". It is required unless ensure is absent or existing.
	Mode *Mode `ccm:"mode,example=0644,unless=ensure is absent or existing"`
	// SpecialBits allows a mode above 0777 such as "2775": setuid (4), setgid (2) or sticky (1).
	SpecialBits bool `ccm:"special_bits"`
	// Capabilities is the file capabilities of a program, such as "cap_net_bind_service=ep", as setcap takes them and
	// getcap prints them. "" removes them. Without it they stay, also when the content changes. Linux only.
	Capabilities *filecap.Capabilities `ccm:"capabilities,example=cap_net_bind_service=ep"`
	// Links is what to do with a symbolic link at the path: refuse fails, follow manages the target of
	// the link, replace replaces the link. A link of another user is followed only to files of that
	// user.
	Links FileLinks `ccm:"links,default=refuse"`
	// HardLinks is what happens to the other names of a file with several hard links when its content
	// changes. With replace they keep the old content. With keep the file is written in place, so all
	// names have the new content.
	HardLinks FileHardLinks `ccm:"hardlinks,default=replace"`
	// Check is a command that validates the new content before it is installed, such as "sshd -t -f
	// %s". %s is replaced by a file with the content, in the same directory, with the same owner and
	// mode. In a plan it is a copy in a separate directory. A line is split into words as a shell
	// does, a list is used as it is; no shell runs. If the command does not exit with 0, the file is
	// not changed.
	Check []string `ccm:"validate,argv,quoted,example=sshd -t -f %s"`
	// CheckAfter is a command that validates the machine after the file was installed or, with ensure
	// absent, removed, such as "nginx -t". It is a line or a list of words. If it does not exit with
	// 0, the file is restored and nothing is refreshed. Plans do not run it.
	CheckAfter []string `ccm:"validate_after,argv,quoted,example=nginx -t"`
	// Parents creates missing directories above the path, with mode 0755 and the user and group that
	// run ccm. Without it they must exist. For a directory they are always created.
	Parents bool `ccm:"parents"`
	// Force removes a directory with everything in it, as with_data does. It requires ensure absent.
	Force bool `ccm:"force"`
}

// Unmanaged is the owner or group that is not managed, as in chown(2).
const Unmanaged = "-1"

// A FileEnsure is a desired value of ensure for a path.
type FileEnsure string

// The values of FileEnsure.
const (
	FilePresent   FileEnsure = "present"
	FileDirectory FileEnsure = "directory"
	FileAbsent    FileEnsure = "absent"
	FileExisting  FileEnsure = "existing"
)

// Values implements schema.Enum.
func (FileEnsure) Values() []string { return []string{"present", "absent", "directory", "existing"} }

// A FileLinks is a desired value of links.
type FileLinks string

// The values of FileLinks.
const (
	LinksRefuse  FileLinks = "refuse"
	LinksFollow  FileLinks = "follow"
	LinksReplace FileLinks = "replace"
)

// Values implements schema.Enum.
func (FileLinks) Values() []string { return []string{"refuse", "follow", "replace"} }

// A FileHardLinks is a desired value of hardlinks.
type FileHardLinks string

// The values of FileHardLinks.
const (
	HardLinksReplace FileHardLinks = "replace"
	HardLinksKeep    FileHardLinks = "keep"
)

// Values implements schema.Enum.
func (FileHardLinks) Values() []string { return []string{"replace", "keep"} }

// FileState is the entry at a path, compared with the desired file.
type FileState struct {
	Kind     safepath.FileKind
	UID, GID uint32
	Mode     uint32
	Size     int64
	// MTime is the time of the last change of the content; only Inspect sets it.
	MTime time.Time
	// Target is the target of a symbolic link.
	Target string
	// Followed is the path to which a followed symbolic link leads; "" if there is none.
	Followed string
	// Owner and Group are the names of UID and GID; empty if they are as desired.
	Owner, Group string
	// Checksum is the SHA-256 of the content in hexadecimal; empty if there is not a file, if the
	// content is as desired or not managed, or if SizesDiffer.
	Checksum string
	// Capabilities are those of a file, if they are managed or for Inspect.
	Capabilities filecap.Capabilities
	// WantUID, WantGID are the numbers of the desired owner and group.
	WantUID, WantGID uint32
	// NewDirectoryMode is the mode of a new directory at the path, which may have setgid from the
	// one above; 0 is 0755.
	NewDirectoryMode uint32
	// WantChecksum is the same of the desired content. It is set for a missing file too, and
	// sometimes for content that is as desired.
	WantChecksum string
	// Source is the stat data of the source, if there is one.
	Source host.StatData
	// SizesDiffer is set if there is a source, and the file is missing or has another size. Then
	// neither was read.
	SizesDiffer bool
	// SourceUnknown is set if a plan does not know the future content of the source.
	SourceUnknown bool
	// SourceHidden is set if the source was secret in an earlier run, so that only a keyed digest
	// of its content is known.
	SourceHidden bool
	// ContentDiffers is set if the content is managed and not as desired.
	ContentDiffers bool
	// Entries is set if a directory that has to be removed is not empty.
	Entries bool
	// CheckAfterPending is set if a run replaced or removed the file, and died before
	// validate_after was run.
	CheckAfterPending bool
	Parents
}

// CurrentEnsure implements resource.StateEnsure.
func (s FileState) CurrentEnsure() string {
	switch s.Kind {
	case safepath.Missing:
		return string(FileAbsent)
	case safepath.Directory:
		return string(FileDirectory)
	case safepath.Symlink:
		return "link"
	case safepath.Special:
		return "special"
	}
	return string(FilePresent)
}

// FileProvider manages files.
type FileProvider interface {
	// Status compares the entry at the path with the desired file.
	Status(ctx context.Context, v *host.View, want File) (FileState, error)
	// Create makes the file, in one step, where Status found nothing. If the path exists by now,
	// it does the same as Store.
	Create(ctx context.Context, h *host.Host, want File) error
	// Store gives an existing file the desired content and attributes, in one step.
	Store(ctx context.Context, h *host.Host, want File) error
	// CreateDirectory makes the directory and those above it, or gives an existing one the desired
	// attributes.
	CreateDirectory(ctx context.Context, h *host.Host, want File) error
	// SetAttributes gives the file or directory that Status found the desired attributes.
	SetAttributes(ctx context.Context, h *host.Host, want File) error
	// Remove removes the entry at the path; a directory with its entries only if want.Force is
	// set.
	Remove(ctx context.Context, h *host.Host, want File) error
}

// mode returns the managed permissions.
func (f File) mode() Mode {
	if f.Mode == nil {
		return Mode{}
	}
	return *f.Mode
}

// capabilities returns the desired capabilities of a file: the present ones if they are not managed.
func (f File) capabilities(have FileState) filecap.Capabilities {
	if f.Capabilities == nil {
		return have.Capabilities
	}
	return *f.Capabilities
}

// ManagesOwner reports whether the owner is managed.
func (f File) ManagesOwner() bool { return f.Owner != "" && f.Owner != Unmanaged }

// ManagesGroup reports whether the group is managed.
func (f File) ManagesGroup() bool { return f.Group != "" && f.Group != Unmanaged }

// ModeOver returns the desired permissions of an entry of that kind, given its present ones and
// whether its owner or group changes. Setuid and setgid that are not desired are cleared with a
// change of content or owner, as with chown(2).
func (f File) ModeOver(kind safepath.FileKind, mode uint32, chowned bool) uint32 {
	if kind == safepath.Regular && (f.Ensure == FilePresent || chowned) {
		mode &= permissionBits
	}
	return f.mode().Over(mode)
}

// ResolvePaths implements resource.PathResolver.
func (f *File) ResolvePaths(dir string) {
	if f.Source != nil && !filepath.IsAbs(*f.Source) && !fetch.IsURL(*f.Source) {
		f.Source = new(filepath.Join(dir, *f.Source))
	}
}

// Decrypts reports whether the source is decrypted.
func (f File) Decrypts() bool {
	if f.Source == nil || f.Decrypt != nil {
		return f.Source != nil && *f.Decrypt
	}
	return strings.HasSuffix(*f.Source, ".age") && !fetch.IsURL(*f.Source)
}

// SourceName returns the name under which the host opens the source.
func (f File) SourceName() string {
	if f.Decrypts() {
		return host.Encrypted(*f.Source)
	}
	return *f.Source
}

// WantedEnsure implements resource.EnsureReporter.
func (f File) WantedEnsure() string { return string(f.Ensure) }

// Traits implements resource.Characterized. A URL is fetched in its turn.
func (f File) Traits() resource.Traits {
	t := resource.Traits{ProviderIgnoresSpec: true, MayPrefetch: f.Source == nil || !fetch.IsURL(*f.Source)}
	if f.ManagesContent(safepath.Regular) {
		t.WrittenFile = f.Name
	}
	if f.Decrypts() {
		t.SecretProperties = []string{"source", "content"}
	}
	return t
}

// Bounds implements resource.PathConfined. A source may be any file, a validating command may do
// anything, and names of owners depend on two files.
func (f File) Bounds() (path string, looks, acts bool) {
	acts = !f.Parents && f.Ensure != FileDirectory && f.Ensure != FileExisting && !f.Force && len(f.Check)+len(f.CheckAfter) == 0 && f.Name != "/etc/passwd" && f.Name != "/etc/group"
	if f.Links == LinksFollow { // which may lead anywhere
		return f.Name, false, false
	}
	return f.Name, f.Source == nil && len(f.CheckAfter) == 0, acts
}

// ConfinedTo implements resource.EffectBound.
func (f File) ConfinedTo() (paths []string, tree bool) {
	if f.Links == LinksFollow { // which may lead anywhere
		return nil, false
	}
	return []string{f.Name}, f.Ensure == FileAbsent
}

// ManagesContent reports whether the content of an existing entry of that kind is managed.
func (f File) ManagesContent(have safepath.FileKind) bool {
	return f.Ensure == FilePresent && (f.Content != nil || f.Source != nil) && (!f.ContentOnce || have == safepath.Missing)
}

// SetsWhole implements resource.WholeSetter.
func (f File) SetsWhole(isNew bool) bool {
	return f.ManagesContent(safepath.Regular) && !f.ContentOnce && (f.Content != nil || isNew)
}

// Perform implements resource.Spec.
func (f File) Perform(ctx context.Context, h *host.Host, p FileProvider, a resource.Action) error {
	switch a.Verb {
	case "Create":
		return p.Create(ctx, h, f)
	case "Store":
		return p.Store(ctx, h, f)
	case "CreateDirectory":
		return p.CreateDirectory(ctx, h, f)
	case "SetAttributes":
		return p.SetAttributes(ctx, h, f)
	case "RemoveTree":
		f.Force = true
		return p.Remove(ctx, h, f)
	case "Remove":
		return p.Remove(ctx, h, f)
	}
	return diag.Unknown("verb of file", a.Verb, nil)
}
