package http

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/resource"
)

type archives struct{}

var (
	_ resources.ArchiveProvider                                     = archives{}
	_ resource.Inspector[resources.Archive, resources.ArchiveState] = archives{}
)

// mode is the mode of an archive.
const mode = 0o640

// Describe implements resource.SelfDescriber.
func (archives) Describe() resource.Description {
	return resource.Description{Doc: "Fetches and extracts the archive itself.", Commands: []string{}}
}

// Status implements resources.ArchiveProvider. It reads the archive only if the decision depends
// on its checksum.
func (archives) Status(ctx context.Context, v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	have, err = look(v, want)
	if err == nil && want.Ensure != resources.ArchiveAbsent && have.CreatesExists && have.ArchiveExists {
		if err = content(ctx, v, want, &have); err == nil && want.OnURLChange != resources.ArchiveExtract && want.IsOther(have) {
			v.Log().Warn(fmt.Sprintf("archive#%s: archive changed, but is not extracted because %s exists (extract it with on_url_change = \"extract\")",
				want.Name, want.Creates))
		}
	}
	again := want.OnURLChange == resources.ArchiveExtract && want.IsOther(have)
	if err != nil || want.Ensure == resources.ArchiveAbsent || have.CreatesExists && !again {
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
		if want.Source != "" {
			if err = readable(v, want.Source); err != nil {
				return have, err
			}
		}
		have.Parents, err = resources.LookAtParents(v, want.Name)
		return have, err
	case host.Regular:
		return have, content(ctx, v, want, &have)
	}
	return have, nil
}

// Inspect implements resource.Inspector: it always sets the checksum.
func (archives) Inspect(ctx context.Context, v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	if have, err = look(v, want); err == nil && have.ArchiveExists {
		have.Checksum, err = v.Sum(ctx, want.Name)
	}
	return have, err
}

// look sets what is known without opening the archive.
func look(v *host.View, want resources.Archive) (have resources.ArchiveState, err error) {
	info, err := v.Lstat(want.Name)
	if err != nil {
		return have, err
	}
	have = resources.ArchiveState{
		Kind: info.Kind, ArchiveExists: info.Kind == host.Regular,
		UID: info.UID, GID: info.GID, Mode: info.Mode, Size: info.Size, MTime: info.MTime,
	}
	if have.ArchiveExists && marks(want) {
		have.Unextracted, have.Mode = have.Mode&unextracted != 0, have.Mode&^unextracted
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

// readable returns an error if the source of an archive cannot be read.
func readable(v *host.View, source string) error {
	f, err := v.Sources().OpenFile(source)
	if err != nil {
		return err
	}
	return f.Close()
}

// content sets the fields that depend on the archive's content.
func content(ctx context.Context, v *host.View, want resources.Archive, have *resources.ArchiveState) (err error) {
	if want.Checksum != "" {
		if have.Checksum, err = v.Sum(ctx, want.Name); err != nil {
			return err
		}
	}
	if want.Source == "" || want.Checksum != "" {
		return nil
	}
	same, err := v.Sources().Matches(ctx, want.Name, want.Source)
	have.SourceDiffers = !same
	return err
}

// marks reports whether only the archive itself can record that its extraction did not finish.
func marks(want resources.Archive) bool { return want.ExtractParent != "" && want.Creates == "" }

// unextracted is the sticky bit, which has no effect on a file. An archive is moved to its path
// with it, and loses it when its extraction has finished. So this is known wherever a run dies,
// without another file that could be left behind.
const unextracted = 0o1000

// Download implements resources.ArchiveProvider.
func (archives) Download(ctx context.Context, h *host.Host, want resources.Archive) error {
	attr, err := attributes(&h.View, want, mode)
	if err != nil {
		return err
	}
	if marks(want) {
		attr.Mode |= unextracted
	}
	fetch := func() error { return download(ctx, h, want, attr) }
	if want.Source != "" {
		fetch = func() error { return copySource(ctx, h, want, attr) }
	}
	if want.Parents {
		return host.WithParents(h, want.Name, fetch)
	}
	return fetch()
}

// copySource copies the archive from a file.
func copySource(ctx context.Context, h *host.Host, want resources.Archive, attr host.Attr) error {
	src, err := h.Sources().OpenSummed(ctx, want.Source, string(want.Checksum))
	if err != nil {
		return err
	}
	return errors.Join(h.WriteFile(want.Name, src, attr), src.Close())
}

func download(ctx context.Context, h *host.Host, want resources.Archive, attr host.Attr) error {
	headers := make(map[string]string, len(want.Headers))
	for name, value := range want.Headers {
		headers[name] = string(value)
	}
	err := h.Download(ctx, want.Name, attr, fetch.Request{
		URL: want.URL.Parse(), Username: want.Username, Password: string(want.Password), Header: headers,
		Checksum: string(want.Checksum), Stall: time.Duration(want.StallTimeout), MaxBytes: int64(want.MaxDownload),
	})
	if _, tooLarge := errors.AsType[*fetch.SizeError](err); tooLarge {
		err = fmt.Errorf("%w (raise it with max_download)", err)
	}
	return err
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
	err := unpack.Extract(ctx, h, want.Name, unpack.Options{
		Format: unpack.FormatOf(want.Name), Parent: want.ExtractParent,
		MaxEntries: want.MaxEntries, MaxBytes: int64(want.MaxSize), Strip: want.Strip, Last: want.Creates,
	})
	if limit, ok := errors.AsType[*unpack.LimitError](err); ok {
		property := "max_size"
		if limit.Entries {
			property = "max_entries"
		}
		err = fmt.Errorf("%w (raise it with %s)", err, property)
	}
	if err != nil {
		return fmt.Errorf("extracting %s: %w", want.Name, err)
	}
	info, err := h.Lstat(want.Name)
	if err != nil || !marks(want) || info.Mode&unextracted == 0 {
		return err
	}
	return h.SetAttrOf(want.Name, info, host.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode &^ unextracted})
}

// SetAttributes implements resources.ArchiveProvider.
func (archives) SetAttributes(_ context.Context, h *host.Host, want resources.Archive) error {
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	if info.Kind != host.Regular {
		return diag.Expected("a file").Found("%s", info.Kind)
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
	if info.Kind == host.Missing {
		return nil
	}
	return h.Remove(want.Name)
}
