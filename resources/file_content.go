package resources

import (
	"bytes"
	"errors"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// CurrentWish implements resource.Wishing: a source may hold something else than
// it did.
func (s FileState) CurrentWish() resource.Told {
	t := resource.Told{Text: s.WantChecksum}
	if s.Source != (host.Glance{}) {
		t.Mark = resource.MarkOf(s.Source.Size, s.Source.Stamp())
	}
	return t
}

// content says for people what the content is: its size if that tells the
// difference, else its digest; nothing for the content of nothing.
func (s FileState) content() string {
	if s.SizesDiffer && s.Kind == host.Regular && !s.Foreseen {
		return resource.SizeText(s.Size)
	}
	return digest(s.Checksum)
}

// wantedContent says the same of the content that is wanted.
func (s FileState) wantedContent() string {
	if s.SizesDiffer {
		return resource.SizeText(s.Source.Size)
	}
	return digest(s.WantChecksum)
}

// WishText implements resource.Pointing: the digest of a source whose size told
// that the content differs.
func (f File) WishText(v *host.View, have FileState) (string, error) {
	if f.Source == nil || !have.ContentDiffers {
		return "", nil
	}
	return v.SumSource(*f.Source)
}

// digest formats a SHA-256 for people; nothing for the content of nothing.
func digest(sum string) string {
	if len(sum) < 16 {
		return ""
	}
	return "sha256:" + sum[:16]
}

// text returns how to fetch the content before and after.
func (f File) text(have FileState) func(v *host.View) (resource.Text, error) {
	return func(v *host.View) (t resource.Text, err error) {
		if t.Path = f.Name; max(have.Size, have.Source.Size) > resource.TextLimit {
			return t, errors.New("it is too large to be shown")
		}
		if have.Kind == host.Regular {
			t.HaveExists = true
			text, err := v.ReadFile(f.Name)
			if err != nil {
				return t, err
			}
			t.Have = string(text)
		}
		if f.Ensure == FileAbsent {
			return t, nil
		}
		t.WantExists = true
		switch {
		case f.Content != nil:
			t.Want = *f.Content
		case f.Source != nil:
			src, err := v.OpenSource(*f.Source)
			if err != nil {
				return t, err
			}
			defer src.Close()
			var buf bytes.Buffer
			_, err = buf.ReadFrom(src)
			t.Want = buf.String()
			if err == nil && !have.isSource(buf.Bytes()) {
				err = errors.New("the source holds something else")
			}
			return t, err
		}
		return t, nil
	}
}

// isSource reports whether the source was seen to hold that text, or may have.
func (s FileState) isSource(text []byte) bool {
	if s.WantChecksum != "" {
		return s.WantChecksum == host.SumBytes(text)
	}
	return s.Source.Size == int64(len(text))
}
