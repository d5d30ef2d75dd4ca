package resources

import (
	"bytes"
	"context"
	"errors"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// DesiredDigest implements resource.DesiredDigester: the content of a source may change.
func (s FileState) DesiredDigest() resource.DesiredDigest {
	t := resource.DesiredDigest{Text: s.WantChecksum}
	if s.Source != (host.StatData{}) {
		t.Stat = resource.SourceStatOf(s.Source.Size, s.Source.Stamp())
	}
	return t
}

// hiddenSource stands for the content of a source that was a secret in an earlier run, of which no plain
// digest was kept.
const hiddenSource = "(secret)"

// content describes the content for people: its size if that differs, else its digest; "" for no
// content.
func (s FileState) content() string {
	if s.SizesDiffer && s.Kind == safepath.Regular {
		return resource.SizeText(s.Size)
	}
	return resource.DigestText(s.Checksum)
}

// wantedContent describes the desired content in the same form as content.
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

// DesiredText implements resource.DesiredTexter: it computes the digest of a source of which only
// the size was read.
func (f File) DesiredText(ctx context.Context, v *host.View, have FileState) (string, error) {
	if f.Source == nil || !have.ContentDiffers {
		return "", nil
	}
	return v.Sources().Sum(ctx, f.SourceName())
}

// text returns the function that reads the content before and after.
func (f File) text(have FileState) func(ctx context.Context, v *host.View) (resource.TextChange, error) {
	x := &fileText{
		path: f.Name, exists: have.Kind == safepath.Regular, size: have.Size,
		wanted: f.Ensure != FileAbsent, content: f.Content, source: f.Source, sourceSize: have.Source.Size, sum: have.WantChecksum,
	}
	return x.fetch
}

// A fileText has what is needed to read the content of a file before and after. It is smaller
// than the spec and the state, because there is one for each changed file.
type fileText struct {
	path            string
	exists, wanted  bool
	size            int64 // size of the existing file
	content, source *string
	sourceSize      int64
	sum             string // SHA-256 of the source, "" if unknown
}

func (x *fileText) fetch(ctx context.Context, v *host.View) (resource.TextChange, error) {
	t := resource.TextChange{Path: x.path, HaveExists: x.exists, WantExists: x.wanted}
	if max(x.size, x.sourceSize) > resource.TextLimit {
		return t, diag.Too("", "large to show")
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
			err = errors.New("the source differs")
		}
		return t, err
	}
	return t, nil
}

// isSource reports whether text is, or may be, the content of the source that Status saw.
func (x *fileText) isSource(text []byte) bool {
	if x.sum != "" {
		return x.sum == sha256sum.Bytes(text)
	}
	return x.sourceSize == int64(len(text))
}
