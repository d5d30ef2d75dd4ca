package resource

import (
	"context"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// DesiredDigest is the part of the desired state that the spec only refers to, such as
// the content of a source. The zero value means that it is not known.
type DesiredDigest struct {
	// Text is the desired content or a digest of it, "" if the content was not read.
	Text string
	// Stat identifies the content of its source.
	Stat SourceStat
	// LazyValues is the hash of the lazy values of the resource, "" if there are none.
	LazyValues string
	// Key makes the digests under which texts with secrets are recorded; nil if no record asked
	// for it.
	Key *DigestKey
}

// A DigestKey makes keyed digests of texts, which reveal nothing to those without the key.
type DigestKey struct{ Digest func(text string) string }

// IsOf reports whether the recorded digest t is that of a text, keyed or not.
func (t DesiredDigest) IsOf(text string) bool {
	return t.Text == text || t.Key != nil && t.Text == t.Key.Digest(text)
}

// A SourceStat identifies a content without reading it: its size and, behind a blank, a
// stamp such as an ETag or a modification time. The same stamp means the same content;
// another stamp means nothing. "" is unknown.
type SourceStat string

// SourceStatOf returns the stat of a size and a stamp, which may be "".
func SourceStatOf(size int64, stamp string) SourceStat {
	return SourceStat(strings.TrimSuffix(strconv.FormatInt(size, 10)+" "+stamp, " "))
}

// Size returns the size, and whether it is known.
func (m SourceStat) Size() (int64, bool) {
	size, _, _ := strings.Cut(string(m), " ")
	n, err := strconv.ParseInt(size, 10, 64)
	return n, err == nil
}

// Same reports whether two stats are of the same content, and whether that is known.
func (m SourceStat) Same(other SourceStat) (same, known bool) {
	size, stamp, _ := strings.Cut(string(m), " ")
	otherSize, otherStamp, _ := strings.Cut(string(other), " ")
	switch {
	case m == "" || other == "":
		return false, false
	case size != otherSize:
		return false, true
	}
	return true, stamp != "" && stamp == otherStamp
}

// Same reports whether t and the earlier digest then are of the same desired state. If t.Text is
// needed and empty, text computes it; it returns "" on failure.
func (t DesiredDigest) Same(then DesiredDigest, text func() string) bool {
	switch {
	case t == DesiredDigest{} || then == DesiredDigest{}:
		return true
	case t.LazyValues != then.LazyValues && t.LazyValues != "" && then.LazyValues != "":
		return false
	}
	if same, known := t.Stat.Same(then.Stat); known {
		return same
	}
	if then.Text == "" {
		return true
	}
	if t.Text == "" {
		t.Text = text()
	}
	return t.Text == "" || t.Text == then.Text
}

// DesiredDigestOf returns the digest of a state, zero if it has none.
func DesiredDigestOf(state any) DesiredDigest {
	if w, ok := state.(DesiredDigester); ok {
		return w.DesiredDigest()
	}
	return DesiredDigest{}
}

// DesiredText computes the text that the digest of a state lacks, "" if there is none.
func (t *Type) DesiredText(ctx context.Context, v *host.View, spec, state any) (string, error) {
	if t.desiredText == nil {
		return "", nil
	}
	return t.desiredText(ctx, v, spec, state)
}

// Recall reports the present state of a resource, compared with the desired state of the given
// digest. It is not ok if the provider is no [HistoricStatus]: then the spec is all of the
// desired state.
func (b Binding) Recall(ctx context.Context, v *host.View, spec any, desired DesiredDigest) (state any, ok bool, err error) {
	defer b.recoverError(&err)
	return b.Type.recall(ctx, v, b.impl, spec, desired)
}
