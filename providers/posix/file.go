package posix

import (
	"context"
	"errors"
	"io"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/host/sources"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

type files struct{}

var (
	_ resources.FileProvider                                       = files{}
	_ resource.HistoricStatus[resources.File, resources.FileState] = files{}
)

// Describe implements resource.SelfDescriber.
func (files) Describe() resource.Description {
	return resource.Description{Doc: "Writes the content beside the file and renames it in one step. Only runs the commands of validate and validate_after."}
}

// Status implements resources.FileProvider. Cheap comparisons come first: kind, owner and mode
// before size, size before content. Digests are computed only for content that differs.
func (p files) Status(ctx context.Context, v *host.View, want resources.File) (have resources.FileState, err error) {
	info, source, same, err := p.look(ctx, v, want)
	if err != nil {
		return have, err
	}
	if info.Kind == safepath.Symlink && want.Links == resources.LinksFollow {
		if want, err = followed(v, want); err != nil {
			return have, err
		}
		have, err = p.Status(ctx, v, want)
		have.Followed = want.Name
		return have, err
	}
	have = resources.FileState{Kind: info.Kind, UID: info.UID, GID: info.GID, Mode: info.Mode, Size: info.Size}
	switch {
	case info.Kind == safepath.Symlink:
		if have.Target, err = v.Readlink(want.Name); err != nil || want.Links != resources.LinksReplace {
			return have, err
		}
		info = safepath.Info{} // nothing of the link stays
	case want.Ensure == resources.FileAbsent && info.Kind == safepath.Missing:
		if want.ValidationAfter().IsGiven() {
			have.CheckAfterPending, err = v.HasBackup(want.Name)
		}
		return have, err
	case want.Ensure == resources.FileAbsent:
		return have, p.setEntries(v, want, &have)
	}
	if have.WantUID, have.WantGID, err = owners(v, want, info); err != nil {
		return have, err
	}
	if info.Kind == safepath.Missing {
		if have.Parents, err = resources.LookAtParents(v, want.Name); err != nil {
			return have, err
		}
		have.NewDirectoryMode = host.NewAttr(v, want.Name, safepath.Directory).Mode
	} else {
		have.Owner, have.Group = host.OtherOwners(v, info, have.WantUID, have.WantGID)
	}
	if want.Capabilities != nil && info.Kind == safepath.Regular {
		if have.Capabilities, err = host.Capabilities(v, want.Name); err != nil {
			return have, err
		}
	}
	if want.ValidationAfter().IsGiven() {
		if have.CheckAfterPending, err = v.HasBackup(want.Name); err != nil {
			return have, err
		}
	}
	if have.Kind == safepath.Symlink && !want.ManagesContent(safepath.Missing) {
		return have, nil
	}
	if want.Ensure != resources.FilePresent || info.Kind != safepath.Missing && info.Kind != safepath.Regular {
		return have, nil
	}
	if !want.ManagesContent(info.Kind) {
		if want.Source != nil {
			p.setCopyDigest(ctx, v, want, &have)
		}
		return have, nil
	}
	if want.Source != nil {
		return have, p.compareSource(ctx, v, want, source, same, &have)
	}
	return have, p.compareContent(ctx, v, want, same, &have)
}

// followed returns the desired file at the path to which the symbolic link at its path leads.
func followed(v *host.View, want resources.File) (resources.File, error) {
	to, err := host.FollowLink(v, want.Name)
	want.Name, want.Links = to, resources.LinksRefuse
	return want, err
}

// resolved returns the desired file at the path to which a followed symbolic link leads, if there is one.
func resolved(v *host.View, want resources.File) (resources.File, error) {
	if want.Links != resources.LinksFollow {
		return want, nil
	}
	info, err := v.Lstat(want.Name)
	if err == nil && info.Kind == safepath.Symlink {
		return followed(v, want)
	}
	return want, err
}

// target returns the desired file as resolved does, and the host that writes it with its capabilities.
func target(h *host.Host, want resources.File) (*host.Host, resources.File, error) {
	if want.HardLinks == resources.HardLinksKeep {
		h = host.KeepHardLinks(h)
	}
	h = host.WithCapabilities(h, want.Capabilities)
	want, err := resolved(&h.View, want)
	return h, want, err
}

// look describes the entry at the path and reports whether it is a file with the desired content.
// If that is the content of a source, it also returns the stat data of the source. A source of
// another size is not read, and one with a given checksum is not looked at.
func (files) look(ctx context.Context, v *host.View, want resources.File) (info safepath.Info, source *host.StatData, same bool, err error) {
	managed := want.ManagesContent(safepath.Regular)
	if managed && want.Content != nil {
		info, same, err = v.LookAt(want.Name, *want.Content)
		if err == nil && !same && info.Kind == safepath.Regular && host.IsOfKernel(v, want.Name) {
			same, err = host.ReadsBack(v, want.Name, *want.Content)
		}
		return info, nil, same, err
	}
	if want.Ensure == resources.FileAbsent {
		info, err = v.LstatToRemove(want.Name)
		return info, nil, false, err
	}
	if info, err = v.Lstat(want.Name); err != nil || info.Kind != safepath.Regular || !managed {
		return info, nil, false, err
	}
	if want.Checksum != "" {
		sum, err := sumOf(ctx, v, want.Name)
		return info, nil, sum == string(want.Checksum), err
	}
	src, err := v.Sources().Open(ctx, want.SourceName())
	if errors.Is(err, overlay.ErrNotKnown) {
		return info, nil, false, nil
	}
	if err != nil {
		return info, nil, false, err
	}
	defer src.Close()
	if same, err = v.Sources().MatchesOpen(want.Name, src); errors.Is(err, overlay.ErrNotKnown) {
		err = nil
	}
	if err == nil && !same && host.IsOfKernel(v, want.Name) {
		same, err = readsBack(ctx, v, want)
	}
	return info, &src.StatData, same, err
}

// readsBack reports whether a file of the kernel has the value in the source of the desired file. Its size says nothing.
func readsBack(ctx context.Context, v *host.View, want resources.File) (bool, error) {
	src, err := v.Sources().Open(ctx, want.SourceName())
	if err != nil {
		return false, err
	}
	defer src.Close()
	value, err := io.ReadAll(io.LimitReader(src, host.MostKernelText))
	if err != nil {
		return false, err
	}
	return host.ReadsBack(v, want.Name, string(value))
}

// Recall implements resource.HistoricStatus: the text of the digest is the SHA-256 of the
// source's former content.
func (p files) Recall(ctx context.Context, v *host.View, want resources.File, desired resource.DesiredDigest) (have resources.FileState, err error) {
	if want.Source == nil || desired.Text == "" {
		return p.Status(ctx, v, want)
	}
	bare := want
	bare.Source = nil
	have, err = p.Status(ctx, v, bare)
	if err != nil || !want.ManagesContent(have.Kind) || have.Kind != safepath.Missing && have.Kind != safepath.Regular {
		return have, err
	}
	size, sized := desired.Stat.Size()
	have.Source.Size, have.SizesDiffer = size, sized && (have.Kind == safepath.Missing || have.Size != size)
	if have.Kind == safepath.Regular && !have.SizesDiffer {
		sum, err := sumOf(ctx, v, want.Name)
		if err != nil || desired.IsOf(sum) {
			return have, err
		}
		have.Checksum = sum
	}
	if have.ContentDiffers = true; want.Decrypts() {
		have.SourceHidden = true
	} else {
		have.WantChecksum = desired.Text
	}
	return have, nil
}

// owners returns the numbers of the desired owner and group. If one is not managed, it is that of
// the present entry, or of a new one.
func owners(v *host.View, want resources.File, have safepath.Info) (uid, gid uint32, err error) {
	uid, gid = have.UID, have.GID
	if have.Kind == safepath.Missing {
		made := host.NewAttr(v, want.Name, safepath.Regular)
		uid, gid = made.UID, made.GID
	}
	if want.ManagesOwner() {
		if uid, err = v.UserID(want.Owner); err != nil {
			return uid, gid, err
		}
	}
	if want.ManagesGroup() {
		gid, err = v.GroupID(want.Group)
	}
	return uid, gid, err
}

// setEntries sets have.Entries if a directory that has to be removed is not empty.
func (files) setEntries(v *host.View, want resources.File, have *resources.FileState) error {
	if have.Kind != safepath.Directory || want.Force {
		return nil
	}
	names, err := v.ReadDir(want.Name)
	have.Entries = len(names) > 0
	return err
}

// compareContent sets the differences of a content that the spec gives. It computes digests only if
// there are any.
func (files) compareContent(ctx context.Context, v *host.View, want resources.File, same bool, have *resources.FileState) (err error) {
	if same {
		return nil
	}
	if have.Kind == safepath.Regular {
		if have.Checksum, err = sumOf(ctx, v, want.Name); err != nil {
			return err
		}
	}
	have.ContentDiffers, have.WantChecksum = true, sha256sum.Text(*want.Content)
	return nil
}

// compareSource sets the differences of the content of a source. If the path is missing, look has not
// read the source's stat data. Digests are computed only if the sizes do not tell the difference.
func (files) compareSource(ctx context.Context, v *host.View, want resources.File, source *host.StatData, same bool, have *resources.FileState) error {
	if want.Checksum != "" {
		if have.WantChecksum = string(want.Checksum); same {
			return nil
		}
		sum, err := v.Sources().Sum(ctx, want.SourceName())
		if err == nil {
			err = sources.CheckSum(*want.Source, sum, have.WantChecksum)
		}
		if err != nil && !errors.Is(err, overlay.ErrNotKnown) {
			return err
		}
	}
	if source == nil {
		src, err := v.Sources().Open(ctx, want.SourceName())
		if errors.Is(err, overlay.ErrNotKnown) {
			have.SourceUnknown, have.ContentDiffers = true, true
			return nil
		}
		if err != nil {
			return err
		}
		source = &src.StatData
		src.Close()
	}
	have.Source = *source
	if same {
		if have.WantChecksum = v.Sources().KnownSum(want.SourceName(), *source); want.Decrypts() && have.WantChecksum == "" {
			// No stat data is recorded for a secret, so a later run could not tell that the source
			// changed.
			have.WantChecksum, _ = v.Sources().Sum(ctx, want.SourceName())
		}
		return nil
	}
	have.ContentDiffers = true
	// The size of a secret is not shown. Its digest costs nothing, because it is in memory.
	have.SizesDiffer = !want.Decrypts() && (have.Kind == safepath.Missing || have.Size != source.Size)
	if have.SizesDiffer {
		return nil
	}
	var errs [2]error
	if have.Kind != safepath.Missing {
		have.Checksum, errs[0] = sumOf(ctx, v, want.Name)
	}
	have.WantChecksum, errs[1] = v.Sources().Sum(ctx, want.SourceName())
	return errors.Join(errs[:]...)
}

// sumOf returns the digest of a file, "" if its future content is not known.
func sumOf(ctx context.Context, v *host.View, name string) (string, error) {
	sum, err := v.Sum(ctx, name)
	if errors.Is(err, overlay.ErrNotKnown) {
		return "", nil
	}
	return sum, err
}

// setCopyDigest sets the digest of the source if the file is an unchanged copy made in this run and its
// content is not managed any more. Otherwise the source is not needed and may be missing.
func (files) setCopyDigest(ctx context.Context, v *host.View, want resources.File, have *resources.FileState) {
	if !v.Sources().IsSummed(want.SourceName()) {
		return
	}
	src, err := v.Sources().Open(ctx, want.SourceName())
	if err != nil {
		return
	}
	defer src.Close()
	if same, err := v.Sources().MatchesOpen(want.Name, src); err == nil && same {
		have.Source, have.WantChecksum = src.StatData, v.Sources().KnownSum(want.SourceName(), src.StatData)
	}
}
