package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

type archives struct{}

var (
	_ resources.ArchiveProvider                                     = archives{}
	_ resource.Inspector[resources.Archive, resources.ArchiveState] = archives{}
)

// mode is the permissions of an archive.
const mode = 0o640

// Status implements resources.ArchiveProvider. The archive is read only if what
// is to be done depends on its checksum.
func (archives) Status(ctx context.Context, v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	if have, err = look(v, want); err != nil || want.Ensure == resources.ArchiveAbsent || have.CreatesExists {
		return have, err
	}
	if have.WantUID, err = v.UserID(want.Owner); err != nil {
		return have, err
	}
	if have.WantGID, err = v.GroupID(want.Group); err != nil {
		return have, err
	}
	switch have.Kind {
	case host.Missing:
		parent := v.CheckParent(want.Name)
		if p, ok := errors.AsType[*host.ParentError](parent); ok {
			have.NoParent, have.ParentMissing, parent = true, p.Missing, nil
		}
		return have, parent
	case host.Regular:
		return have, content(ctx, v, want, &have)
	}
	return have, nil
}

// Inspect implements resource.Inspector: the checksum is always told.
func (archives) Inspect(ctx context.Context, v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	if have, err = look(v, want); err == nil && have.ArchiveExists {
		have.Checksum, err = v.Sum(ctx, want.Name)
	}
	return have, err
}

// look fills in what can be told without opening the archive.
func look(v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	info, err := v.Lstat(want.Name)
	if err != nil {
		return have, err
	}
	have = resources.ArchiveState{
		Kind: info.Kind, ArchiveExists: info.Kind == host.Regular,
		UID: info.UID, GID: info.GID, Mode: info.Mode, Size: info.Size, MTime: info.MTime,
	}
	if have.ArchiveExists {
		have.Owner, have.Group = v.UserName(have.UID), v.GroupName(have.GID)
	}
	if info.Kind == host.Symlink {
		if have.Target, err = v.Readlink(want.Name); err != nil {
			return have, err
		}
	}
	if want.Creates != "" {
		have.CreatesExists, err = v.Exists(want.Creates)
	}
	return have, err
}

// content fills in what is in the archive, and whether that was extracted.
func content(ctx context.Context, v *host.View, want resources.Archive, have *resources.ArchiveState) (err error) {
	if want.Checksum != "" {
		if have.Checksum, err = v.Sum(ctx, want.Name); err != nil {
			return err
		}
	}
	if marks(want) {
		info, err := v.Lstat(mark(want))
		have.Unextracted = info.Kind != host.Missing
		return err
	}
	return nil
}

// marks reports whether nothing but a mark can tell that a downloaded archive
// was not extracted to the end.
func marks(want resources.Archive) bool { return want.ExtractParent != "" && want.Creates == "" }

// mark is the path of a file that is there from before an archive is in its
// place until it was extracted.
func mark(want resources.Archive) string {
	const suffix = ".ccm-unextracted"
	dir, base := filepath.Split(want.Name)
	return dir + "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// Download implements resources.ArchiveProvider.
func (archives) Download(ctx context.Context, h *host.Host, want resources.Archive) error {
	attr, err := attributes(&h.View, want, mode)
	if err != nil {
		return err
	}
	headers := make(map[string]string, len(want.Headers))
	for name, value := range want.Headers {
		headers[name] = string(value)
	}
	unmark := func() error { return nil }
	if marks(want) {
		if unmark, err = setMark(h, want, attr); err != nil {
			return err
		}
	}
	err = h.Download(ctx, want.Name, attr, host.Download{
		URL: want.URL.Parse(), Username: want.Username, Password: string(want.Password), Header: headers,
		Checksum: string(want.Checksum), Stall: time.Duration(want.StallTimeout), MaxBytes: int64(want.MaxDownload),
	})
	if err == nil {
		return nil
	}
	if _, tooLarge := errors.AsType[*host.SizeError](err); tooLarge {
		err = fmt.Errorf("%w (max_download sets it)", err)
	}
	return errors.Join(err, unmark())
}

// setMark makes the mark of an archive that is about to be downloaded. Unmark takes
// it away again, unless it was there before, when the archive that is there was
// not extracted either, or the archive has got its place.
func setMark(h *host.Host, want resources.Archive, attr host.Attr) (unmark func() error, err error) {
	marked, err := h.Lstat(mark(want))
	if err != nil {
		return nil, err
	}
	before, err := h.Lstat(want.Name)
	if err != nil {
		return nil, err
	}
	return func() error {
		now, err := h.Lstat(want.Name)
		if err != nil || marked.Kind != host.Missing || now.Dev != before.Dev || now.Ino != before.Ino {
			return err
		}
		return h.Remove(mark(want))
	}, h.WriteFile(mark(want), bytes.NewReader(nil), attr)
}

func attributes(v *host.View, want resources.Archive, mode uint32) (a host.Attr, err error) {
	a.Mode = mode
	if a.UID, err = v.UserID(want.Owner); err != nil {
		return a, err
	}
	a.GID, err = v.GroupID(want.Group)
	return a, err
}

// Extract implements resources.ArchiveProvider.
func (archives) Extract(ctx context.Context, h *host.Host, want resources.Archive) error {
	err := h.Extract(ctx, want.Name, host.Extraction{
		Format: host.ArchiveFormatOf(want.Name), Parent: want.ExtractParent,
		MaxEntries: want.MaxEntries, MaxBytes: int64(want.MaxSize), Last: want.Creates,
	})
	if limit, ok := errors.AsType[*host.LimitError](err); ok {
		property := "max_size"
		if limit.Entries {
			property = "max_entries"
		}
		err = fmt.Errorf("%w (%s sets it)", err, property)
	}
	if err != nil {
		return fmt.Errorf("extracting %s: %w", want.Name, err)
	}
	return unmark(h, want)
}

// unmark removes the mark, if there is one.
func unmark(h *host.Host, want resources.Archive) error {
	info, err := h.Lstat(mark(want))
	if err != nil || info.Kind == host.Missing {
		return err
	}
	return h.Remove(mark(want))
}

// SetAttributes implements resources.ArchiveProvider.
func (archives) SetAttributes(_ context.Context, h *host.Host, want resources.Archive) error {
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	if info.Kind != host.Regular {
		return fmt.Errorf("want a file, found %s", info.Kind)
	}
	attr, err := attributes(&h.View, want, info.Mode)
	if err != nil {
		return err
	}
	return h.SetAttr(want.Name, attr)
}

// Remove implements resources.ArchiveProvider.
func (archives) Remove(_ context.Context, h *host.Host, want resources.Archive) error {
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	if info.Kind != host.Missing {
		if err := h.Remove(want.Name); err != nil {
			return err
		}
	}
	return unmark(h, want)
}
