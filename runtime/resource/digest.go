package resource

import (
	"context"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// DesiredDigest is what a state tells of that part of what is wanted which the spec only
// points to, such as what a source holds. The zero Told says nothing.
type DesiredDigest struct {
	// Text is it, or a digest of it; "" if nobody looked at it that closely.
	Text string
	// Stat is what a glance tells of it.
	Stat SourceStat
	// LateValues is the fingerprint of the values that became known only in the run; "" if
	// there are none.
	LateValues string
}

// A SourceStat is what a glance at something tells of it, such as at a source: its size
// and, behind a blank, a stamp. While a stamp is the same, so is what it is of;
// that it is another one says nothing. "" is the mark of what nobody glanced at.
type SourceStat string

// SourceStatOf returns the mark of what has that size and, unless it is "", that stamp.
func SourceStatOf(size int64, stamp string) SourceStat {
	return SourceStat(strings.TrimSuffix(strconv.FormatInt(size, 10)+" "+stamp, " "))
}

// Size returns the size that a mark tells, and whether it tells one.
func (m SourceStat) Size() (int64, bool) {
	size, _, _ := strings.Cut(string(m), " ")
	n, err := strconv.ParseInt(size, 10, 64)
	return n, err == nil
}

// Same reports whether two marks are of the same thing, if they tell that.
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

// Same reports whether what was told then is what t tells, as far as it is known.
// Text returns the text of t if t is without, "" if it cannot be had; it is called
// only if there is no other way to tell.
func (t DesiredDigest) Same(then DesiredDigest, text func() string) bool {
	switch {
	case t == DesiredDigest{} || then == DesiredDigest{}:
		return true
	case t.LateValues != then.LateValues && t.LateValues != "" && then.LateValues != "":
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

// DesiredDigestOf returns what a state says of what is wanted.
func DesiredDigestOf(state any) DesiredDigest {
	if w, ok := state.(DesiredDigester); ok {
		return w.DesiredDigest()
	}
	return DesiredDigest{}
}

// DesiredText returns the text of the wish of spec that a state has left open, "" if
// there is none.
func (t *Type) DesiredText(ctx context.Context, v *host.View, spec, state any) (string, error) {
	if t.desiredText == nil {
		return "", nil
	}
	return t.desiredText(ctx, v, spec, state)
}

// Recall reports the present state of a resource of the factory's type, compared
// with what was wanted when a state told the wish. The second result is false if
// the provider cannot, because its resources are all that is wanted.
func (f Binding) Recall(ctx context.Context, v *host.View, spec any, wish DesiredDigest) (state any, ok bool, err error) {
	defer f.recovered(&err)
	return f.Type.recall(ctx, v, f.impl, spec, wish)
}
