package http

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
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
	if err == nil && want.Ensure != resources.ArchiveAbsent && have.CreatesExists {
		if err = extracted(ctx, v, want, &have); err == nil && want.OnURLChange != resources.ArchiveExtract && want.IsOther(have) {
			v.Log().Warn(otherArchive(want, have))
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
	case safepath.Missing:
		if want.Source != "" {
			if err = readable(v, want.Source); err != nil {
				return have, err
			}
		}
		have.Parents, err = resources.LookAtParents(v, want.Name)
		return have, err
	case safepath.Regular:
		differs := have.SourceDiffers
		err = content(ctx, v, want, &have)
		have.SourceDiffers = have.SourceDiffers || differs
		return have, err
	}
	return have, nil
}

// otherArchive is the warning about another archive that is not extracted.
func otherArchive(want resources.Archive, have resources.ArchiveState) string {
	was := "another archive than the site wants"
	if have.Extracted.URL != "" && have.WantURL != "" && have.Extracted.URL != have.WantURL {
		was = fmt.Sprintf("%s, and the site wants %s", have.Extracted.URL, have.WantURL)
	}
	return fmt.Sprintf("archive#%s: %s was extracted from %s. It is not replaced (on_url_change = \"extract\" extracts the new archive)", want.Name, want.Creates, was)
}

// extracted sets the fields that tell which archive was extracted, for an existing creates path.
// Without a record of the extraction, the archive at its path counts.
func extracted(ctx context.Context, v *host.View, want resources.Archive, have *resources.ArchiveState) (err error) {
	if want.ExtractParent != "" {
		have.Extracted, _ = v.Extractions().Extracted(want.Name, want.Creates)
		have.WantURL = origin(v, want)
	}
	switch known := have.Extracted.Checksum != ""; {
	case !known && have.ArchiveExists:
		return content(ctx, v, want, have)
	case !known || want.Source == "" || want.Checksum != "":
		return nil
	}
	sum, err := v.Sources().Sum(ctx, want.Source)
	have.SourceDiffers = sum != have.Extracted.Checksum
	return err
}

// origin returns the URL of an archive without its user and query, which may differ in each run, as
// the signatures of links do; "" if the archive is copied.
func origin(v *host.View, want resources.Archive) string {
	u := want.URL.Parse()
	if u == nil {
		return ""
	}
	return v.Extractions().Redact((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String())
}

// Predict implements resource.Predictor: it warns of a server whose name is unknown, and asks another one for the size.
func (archives) Predict(ctx context.Context, v *host.View, want resources.Archive) (caveat string, err error) {
	u := want.URL.Parse()
	if u == nil || want.Ensure == resources.ArchiveAbsent {
		return "", nil
	}
	if name := v.UnknownServer(ctx, u); name != "" {
		return "the resolver does not know " + name, nil
	}
	return "", downloadError(v.AskSize(ctx, want.Name, request(want)))
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
		Kind: info.Kind, ArchiveExists: info.Kind == safepath.Regular,
		UID: info.UID, GID: info.GID, Mode: info.Mode, Size: info.Size, MTime: info.MTime,
	}
	if have.ArchiveExists && marks(want) {
		have.Unextracted, have.Mode = have.Mode&unextracted != 0, have.Mode&^unextracted
	}
	if have.ArchiveExists {
		have.Owner, have.Group = v.UserName(have.UID), v.GroupName(have.GID)
	}
	if info.Kind == safepath.Symlink {
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
func copySource(ctx context.Context, h *host.Host, want resources.Archive, attr safepath.Attr) error {
	src, err := h.Sources().OpenSummed(ctx, want.Source, string(want.Checksum))
	if err != nil {
		return err
	}
	return errors.Join(h.WriteFile(want.Name, src, attr), src.Close())
}

func download(ctx context.Context, h *host.Host, want resources.Archive, attr safepath.Attr) error {
	return downloadError(h.Download(ctx, want.Name, attr, request(want)))
}

// request returns the request for an archive.
func request(want resources.Archive) fetch.Request {
	headers := make(map[string]string, len(want.Headers))
	for name, value := range want.Headers {
		headers[name] = string(value)
	}
	return fetch.Request{
		URL: want.URL.Parse(), Username: want.Username, Password: string(want.Password), Header: headers,
		Checksum: string(want.Checksum), Stall: time.Duration(want.StallTimeout), MaxBytes: int64(want.MaxDownload),
	}
}

// downloadError names the property that allows larger downloads.
func downloadError(err error) error {
	if _, tooLarge := errors.AsType[*fetch.SizeError](err); tooLarge {
		return fmt.Errorf("%w (raise it with max_download)", err)
	}
	return err
}

func attributes(v *host.View, want resources.Archive, mode uint32) (a safepath.Attr, err error) {
	a.Mode = mode
	if a.UID, err = v.UserID(want.Owner); err != nil {
		return a, err
	}
	a.GID, err = v.GroupID(want.Group)
	return a, err
}

// Extract implements resources.ArchiveProvider.
func (archives) Extract(ctx context.Context, h *host.Host, want resources.Archive) error {
	if want.Creates != "" {
		if err := h.Extractions().Forget(want.Name); err != nil {
			return err
		}
	}
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
	if want.Creates != "" {
		sum, err := h.Sum(ctx, want.Name)
		if err != nil {
			return err
		}
		return h.Extractions().Remember(want.Name, want.Creates, host.Extraction{URL: origin(&h.View, want), Checksum: sum})
	}
	info, err := h.Lstat(want.Name)
	if err != nil || !marks(want) || info.Mode&unextracted == 0 {
		return err
	}
	return h.SetAttrOf(want.Name, info, safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode &^ unextracted})
}

// SetAttributes implements resources.ArchiveProvider.
func (archives) SetAttributes(_ context.Context, h *host.Host, want resources.Archive) error {
	info, err := h.Lstat(want.Name)
	if err != nil {
		return err
	}
	if info.Kind != safepath.Regular {
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
	if info.Kind == safepath.Missing {
		return nil
	}
	return h.Remove(want.Name)
}
