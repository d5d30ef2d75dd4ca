package resources

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ArchiveType is the type of archives.
var ArchiveType = resource.Define[Archive, ArchiveState, ArchiveProvider]("archive")

// Archive downloads or copies an archive, and extracts it. With extract_parent, it extracts after
// each download or copy, and whenever the path in creates does not exist. Archives are .tar.gz, .tgz,
// .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar and .zip. A single compressed file (.gz,
// .xz, .zst, .bz2) gets the name of the archive without the suffix. Extracting needs no tools such as tar or unzip.
type Archive struct {
	// Name is the absolute path where the archive is stored. It must have the same suffix as the URL
	// or the source; .tgz and .tar.gz are the same.
	Name string `ccm:"name,name,example=/opt/app.tar.gz,kind=path"`
	// Ensure is whether the archive exists. With absent, the extracted files stay. To remove them, use
	// file with ensure absent, which keeps data that no run has created.
	Ensure ArchiveEnsure `ccm:"ensure,default=present"`
	// URL is the http or https address of the archive. A proxy is taken from the environment
	// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). Either url or source is required unless ensure is absent.
	URL URL `ccm:"url,example=https://example.net/app.tar.gz,usual"`
	// Source is the path of an archive to copy. A relative path is relative to the script or manifest
	// with the resource. If the archive differs from its source, it is copied again.
	Source string `ccm:"source,example=files/app.tar.gz,kind=path"`
	// Checksum is the SHA-256 of the archive in hexadecimal. A download or source with another
	// checksum is refused. An existing archive with another checksum is replaced.
	Checksum Checksum `ccm:"checksum"`
	// ExtractParent is the directory to extract the archive into. Existing files are replaced. If an
	// entry is a device, or leads outside the directory by its path or a link, the archive fails and
	// nothing is extracted. Permissions are kept, except setuid, setgid and sticky. The files belong
	// to the user who runs ccm.
	ExtractParent string `ccm:"extract_parent,example=/opt/app,kind=path,usual"`
	// Strip is the number of leading components to remove from the path of each entry, as with tar
	// --strip-components. Entries without further components are not extracted.
	Strip int `ccm:"strip"`
	// Creates is a path. If it exists, the archive is neither downloaded nor extracted; see
	// on_url_change. If the archive contains the path, it is extracted last.
	Creates string `ccm:"creates,example=/opt/app/bin/app,kind=path,usual"`
	// OnURLChange is what to do if creates exists, and the archive extracted earlier had another
	// checksum or, without a checksum, another url or source: ignore warns in each plan and run;
	// extract fetches and extracts the archive again. The user and the query of a url are ignored,
	// because they may differ in each run.
	OnURLChange ArchiveOnChange `ccm:"on_url_change,default=ignore"`
	// Cleanup removes the archive after extraction. It requires extract_parent and creates.
	Cleanup bool `ccm:"cleanup"`
	// Owner is the owner of the archive, a name or number. It is required unless ensure is absent.
	Owner string `ccm:"owner,example=root,kind=owner,unless=ensure is absent"`
	// Group is the group of the archive, a name or number. The group can read the archive, others
	// cannot. It is required unless ensure is absent.
	Group string `ccm:"group,example=root,kind=group,unless=ensure is absent"`
	// Parents creates missing directories above the archive, with mode 0755 and the user and group
	// that run ccm. Those above extract_parent are always created.
	Parents bool `ccm:"parents"`
	// Username is the user for basic authentication. After a redirect to another server, user,
	// password and headers are not sent.
	Username string `ccm:"username"`
	// Password is the password for basic authentication.
	Password Secret `ccm:"password,secret"`
	// Headers are HTTP headers of the request.
	Headers map[string]Secret `ccm:"headers,secret"`
	// StallTimeout stops a download that receives nothing, or less than 100 bytes a second, for this
	// long. To limit the whole download, use timeout.
	StallTimeout host.Duration `ccm:"stall_timeout,default=1m"`
	// MaxDownload is the maximum size of the archive. A download also leaves 5% of the disk free.
	MaxDownload Size `ccm:"max_download,default=10GiB"`
	// MaxEntries is the maximum number of files, directories and links in the archive.
	MaxEntries int `ccm:"max_entries,default=200000"`
	// MaxSize is the maximum total size of the extracted files.
	MaxSize Size `ccm:"max_size,default=10GiB"`
}

// An ArchiveEnsure is a desired value of ensure for an archive.
type ArchiveEnsure string

// The values of ArchiveEnsure.
const (
	ArchivePresent ArchiveEnsure = "present"
	ArchiveAbsent  ArchiveEnsure = "absent"
)

// Values implements schema.Enum.
func (ArchiveEnsure) Values() []string { return []string{"present", "absent"} }

// An ArchiveOnChange is what happens if another archive was extracted before.
type ArchiveOnChange string

// The values of ArchiveOnChange.
const (
	ArchiveIgnore  ArchiveOnChange = "ignore"
	ArchiveExtract ArchiveOnChange = "extract"
)

// Values implements schema.Enum.
func (ArchiveOnChange) Values() []string { return []string{"ignore", "extract"} }

// ArchiveState is the state at the path of the archive.
type ArchiveState struct {
	// Kind is the kind of the entry at the path; an archive is a regular file.
	Kind          safepath.FileKind
	ArchiveExists bool
	CreatesExists bool
	// Checksum is the SHA-256 of the archive in hexadecimal; empty if the decision does not need
	// it.
	Checksum     string
	UID, GID     uint32
	Owner, Group string
	Mode         uint32
	Size         int64
	MTime        time.Time
	// Target is the target of a symbolic link.
	Target string
	// WantUID, WantGID are the numbers of the desired owner and group.
	WantUID, WantGID uint32
	// Unextracted is set if the archive was downloaded to be extracted, and the extraction did not
	// finish.
	Unextracted bool
	// SourceDiffers is set if the content of the archive differs from its source.
	SourceDiffers bool
	// Extracted is the archive that an earlier run extracted, the zero value if that is unknown or
	// CreatesExists is not set. SourceDiffers compares it then.
	Extracted host.Extraction
	// WantURL is the desired URL without credentials, as Extracted has it.
	WantURL string
	Parents
}

// CurrentEnsure implements resource.StateEnsure.
func (s ArchiveState) CurrentEnsure() string {
	if s.Kind == safepath.Missing {
		return string(ArchiveAbsent)
	}
	return string(ArchivePresent)
}

// ArchiveProvider fetches archives and extracts them.
type ArchiveProvider interface {
	// Status looks at the archive and at the creates path.
	Status(ctx context.Context, v *host.View, want Archive) (ArchiveState, error)
	// Download fetches or copies the archive, checks it and moves it to its path in one step. If
	// the archive has to be extracted and creates is not set, Status returns Unextracted until
	// Extract has finished.
	Download(ctx context.Context, h *host.Host, want Archive) error
	// Extract unpacks the archive into the extract_parent directory.
	Extract(ctx context.Context, h *host.Host, want Archive) error
	// SetAttributes sets the owner and group of the archive.
	SetAttributes(ctx context.Context, h *host.Host, want Archive) error
	// Remove removes the archive.
	Remove(ctx context.Context, h *host.Host, want Archive) error
}

// WantedEnsure implements resource.EnsureReporter.
func (a Archive) WantedEnsure() string { return string(a.Ensure) }

// Traits implements resource.Characterized.
func (Archive) Traits() resource.Traits { return resource.Traits{MayPrefetch: true} }

// SetsWhole implements resource.WholeSetter. What creates names may come from elsewhere.
func (a Archive) SetsWhole(isNew bool) bool { return isNew && a.Creates == "" }

// ConfinedTo implements resource.EffectBound.
func (a Archive) ConfinedTo() (paths []string, tree bool) {
	if a.ExtractParent == "" {
		return []string{a.Name}, false
	}
	return []string{a.Name, a.ExtractParent}, true
}

// ResolvePaths implements resource.PathResolver.
func (a *Archive) ResolvePaths(dir string) {
	if a.Source != "" && !filepath.IsAbs(a.Source) {
		a.Source = filepath.Join(dir, a.Source)
	}
}

// Decide implements resource.Spec.
func (a Archive) Decide(have ArchiveState) resource.Decision {
	switch {
	case a.Ensure == ArchiveAbsent:
		return a.decideAbsent(have)
	case a.Creates != "" && have.CreatesExists && !(a.OnURLChange == ArchiveExtract && a.IsOther(have)):
		return a.decideCreated(have)
	case have.Kind == safepath.Symlink:
		return resource.Decision{Err: diag.Expected("a file").Found("a symbolic link to %s, which is not followed", have.Target)}
	case have.Kind != safepath.Missing && have.Kind != safepath.Regular:
		return resource.Decision{Err: diag.Expected("a file").Found("%s, which is not replaced", have.Kind)}
	}
	if err := have.parentError(a.Parents); err != nil {
		return resource.Decision{Err: err}
	}
	return a.decidePresent(have)
}

func (a Archive) decideAbsent(have ArchiveState) (d resource.Decision) {
	switch have.Kind {
	case safepath.Missing:
		return d
	case safepath.Directory, safepath.Special:
		d.Err = diag.Expected("nothing").Found("%s, which is not removed", have.Kind)
		return d
	}
	d.Add("ensure", string(ArchivePresent), string(ArchiveAbsent))
	d.AddAction("Remove", "removed")
	d.Effects, d.Complete = []overlay.PathEffect{{Path: a.Name, Kind: safepath.Missing}}, true
	return d
}

// decideCreated decides for an existing creates path: the archive is no longer needed.
func (a Archive) decideCreated(have ArchiveState) (d resource.Decision) {
	if a.Cleanup && have.ArchiveExists {
		d.Add("cleanup", string(ArchivePresent), string(ArchiveAbsent))
		a.cleanup(&d)
		d.Effects, d.Complete = []overlay.PathEffect{{Path: a.Name, Kind: safepath.Missing}}, true
	}
	return d
}

// IsOther reports whether the archive that was extracted is another one than desired.
func (a Archive) IsOther(have ArchiveState) bool {
	there := have.Checksum
	if have.Extracted.Checksum != "" {
		there = have.Extracted.Checksum
	}
	return have.SourceDiffers || a.urlDiffers(have) || a.Checksum != "" && there != "" && there != string(a.Checksum)
}

// urlDiffers reports whether the archive was extracted from another URL, and only the URL tells.
func (a Archive) urlDiffers(have ArchiveState) bool {
	return a.Checksum == "" && have.WantURL != "" && have.Extracted.URL != "" && have.Extracted.URL != have.WantURL
}

func (a Archive) cleanup(d *resource.Decision) { d.AddAction("Cleanup", "cleaned up") }

func (a Archive) decidePresent(have ArchiveState) (d resource.Decision) {
	download := a.diff(have, &d)
	extract := a.ExtractParent != "" && (download || a.Creates != "" || have.Unextracted)
	switch {
	case download && a.Source != "":
		d.AddAction("Download", "copied")
	case download:
		d.AddAction("Download", "downloaded")
	case d.Has("owner") || d.Has("group"):
		d.AddAction("SetAttributes", "updated attributes")
	}
	if len(d.Actions) > 0 || extract {
		d.Effects = have.Parents.effects(a.effect(have, download))
	}
	d.Complete = true
	if !extract {
		return d
	}
	if a.Creates != "" {
		d.Add("creates", "", a.Creates)
	} else {
		d.Add("extract_parent", "", a.ExtractParent)
	}
	d.AddAction("Extract", "extracted")
	d.Effects = append(d.Effects, overlay.PathEffect{Path: a.ExtractParent, Kind: safepath.Directory, Open: true})
	if a.Creates != "" {
		d.Effects = append(d.Effects, overlay.PathEffect{Path: a.Creates, Vague: true})
	}
	if a.Cleanup {
		a.cleanup(&d)
		d.Effects = append(d.Effects, overlay.PathEffect{Path: a.Name, Kind: safepath.Missing})
	}
	return d
}

// effect returns the effect at the path of the archive.
func (a Archive) effect(have ArchiveState, download bool) overlay.PathEffect {
	mode := have.Mode
	if download {
		mode = archiveMode
	}
	if a.Creates == "" {
		mode &^= unextracted
	}
	source := ""
	if download {
		source = a.Source
	}
	return overlay.PathEffect{Path: a.Name, Kind: safepath.Regular, Source: source, Kept: !download, Attr: &safepath.Attr{UID: have.WantUID, GID: have.WantGID, Mode: mode}}
}

// unextracted is the sticky bit, which marks an archive until its extraction has finished.
const unextracted = 0o1000

// archiveMode is the mode of a downloaded archive.
const archiveMode = 0o640

// diff adds the differences, and reports whether the archive has to be downloaded: it is missing
// or another one. An archive with the wrong owner counts as another one, because that owner may
// have changed it, unless a checksum shows that it is right.
func (a Archive) diff(have ArchiveState, d *resource.Decision) (download bool) {
	if !have.ArchiveExists {
		d.Add("ensure", string(ArchiveAbsent), string(ArchivePresent))
		have.tellParents(d)
		return true
	}
	if have.SourceDiffers {
		d.Add("source", "another archive", a.Source)
		download = true
	}
	if a.urlDiffers(have) {
		d.Add("url", have.Extracted.URL, have.WantURL)
		download = true
	}
	if a.Checksum != "" && have.Checksum != string(a.Checksum) {
		d.Add("checksum", resource.DigestText(have.Checksum), resource.DigestText(string(a.Checksum)))
		download = true
	}
	if have.UID != have.WantUID {
		d.Add("owner", have.Owner, a.Owner)
	}
	if have.GID != have.WantGID {
		d.Add("group", have.Group, a.Group)
	}
	return download || a.Checksum == "" && (d.Has("owner") || d.Has("group"))
}

// Perform implements resource.Spec.
func (a Archive) Perform(ctx context.Context, h *host.Host, p ArchiveProvider, act resource.Action) error {
	switch act.Verb {
	case "Download":
		return p.Download(ctx, h, a)
	case "Extract":
		if err := p.Extract(ctx, h, a); err != nil {
			return err
		}
		return a.checkCreated(h)
	case "SetAttributes":
		return p.SetAttributes(ctx, h, a)
	case "Cleanup", "Remove":
		return p.Remove(ctx, h, a)
	}
	return diag.Unknown("verb of archive", act.Verb, nil)
}

// checkCreated returns an error if the creates path is missing after the extraction. It comes
// before a cleanup removes the archive.
func (a Archive) checkCreated(h *host.Host) error {
	if a.Creates == "" {
		return nil
	}
	ok, err := h.Exists(a.Creates)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %w", resource.ErrDesiredStateFailed, diag.Missing(a.Creates, "after extraction"))
	}
	return err
}
