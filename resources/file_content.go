package resources

import (
	"bytes"
	"context"
	"errors"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// DesiredDigest implements resource.DesiredDigester: a source may hold something else than
// it did.
func (s FileState) DesiredDigest() resource.DesiredDigest {
	t := resource.DesiredDigest{Text: s.WantChecksum}
	if s.Source != (host.StatData{}) {
		t.Stat = resource.SourceStatOf(s.Source.Size, s.Source.Stamp())
	}
	return t
}

// hiddenSource stands for the content of a source that nobody can tell any more.
const hiddenSource = "(secret)"

// content says for people what the content is: its size if that tells the
// difference, else its digest; nothing for the content of nothing.
func (s FileState) content() string {
	if s.SizesDiffer && s.Kind == host.Regular {
		return resource.SizeText(s.Size)
	}
	return resource.DigestText(s.Checksum)
}

// wantedContent says the same of the content that is wanted.
func (s FileState) wantedContent() string {
	if s.SourceUnknown {
		return resource.KnownAfterRun
	}
	if s.SourceHidden {
		return hiddenSource
	}
	if s.SizesDiffer {
		return resource.SizeText(s.Source.Size)
	}
	return resource.DigestText(s.WantChecksum)
}

// DesiredText implements resource.DesiredTexter: the digest of a source whose size told
// that the content differs.
func (f File) DesiredText(ctx context.Context, v *host.View, have FileState) (string, error) {
	if f.Source == nil || !have.ContentDiffers {
		return "", nil
	}
	return v.Sources().Sum(ctx, f.SourceName())
}

// text returns how to fetch the content before and after.
func (f File) text(have FileState) func(ctx context.Context, v *host.View) (resource.TextChange, error) {
	x := &fileText{
		path: f.Name, exists: have.Kind == host.Regular, size: have.Size,
		wanted: f.Ensure != FileAbsent, content: f.Content, source: f.Source, sourceSize: have.Source.Size, sum: have.WantChecksum,
	}
	return x.fetch
}

// A fileText is what has to be known for fetching the content of a file before and
// after: less than its whole spec and state, because there is one for every file
// that is changed.
type fileText struct {
	path            string
	exists, wanted  bool
	size            int64 // of what exists
	content, source *string
	sourceSize      int64
	sum             string // the SHA-256 of the source, "" if it is not known
}

func (x *fileText) fetch(ctx context.Context, v *host.View) (resource.TextChange, error) {
	t := resource.TextChange{Path: x.path, HaveExists: x.exists, WantExists: x.wanted}
	if max(x.size, x.sourceSize) > resource.TextLimit {
		return t, errors.New("it is too large to be shown")
	}
	if x.exists {
		text, err := v.ReadFile(x.path)
		if err != nil {
			return t, err
		}
		t.Have = string(text)
	}
	switch {
	case !x.wanted:
	case x.content != nil:
		t.Want = *x.content
	case x.source != nil:
		src, err := v.Sources().Open(ctx, *x.source)
		if err != nil {
			return t, err
		}
		defer src.Close()
		var buf bytes.Buffer
		_, err = buf.ReadFrom(src)
		if t.Want = buf.String(); err == nil && !x.isSource(buf.Bytes()) {
			err = errors.New("the source holds something else")
		}
		return t, err
	}
	return t, nil
}

// isSource reports whether the source was seen to hold that text, or may have.
func (x *fileText) isSource(text []byte) bool {
	if x.sum != "" {
		return x.sum == sha256sum.Bytes(text)
	}
	return x.sourceSize == int64(len(text))
}
