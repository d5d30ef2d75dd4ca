package resource

import (
	"context"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// Told is what a state tells of that part of what is wanted which the spec only
// points to, such as what a source holds. The zero Told says nothing.
type Told struct {
	// Text is it, or a digest of it; "" if nobody looked at it that closely.
	Text string
	// Mark is what a glance tells of it.
	Mark Mark
	// Later is the fingerprint of the values that became known only in the run; "" if
	// there are none.
	Later string
}

// A Mark is what a glance at something tells of it, such as at a source: its size
// and, behind a blank, a stamp. While a stamp is the same, so is what it is of;
// that it is another one says nothing. "" is the mark of what nobody glanced at.
type Mark string

// MarkOf returns the mark of what has that size and, unless it is "", that stamp.
func MarkOf(size int64, stamp string) Mark {
	return Mark(strings.TrimSuffix(strconv.FormatInt(size, 10)+" "+stamp, " "))
}

// Size returns the size that a mark tells, and whether it tells one.
func (m Mark) Size() (int64, bool) {
	size, _, _ := strings.Cut(string(m), " ")
	n, err := strconv.ParseInt(size, 10, 64)
	return n, err == nil
}

// Same reports whether two marks are of the same thing, if they tell that.
func (m Mark) Same(other Mark) (same, known bool) {
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
func (t Told) Same(then Told, text func() string) bool {
	switch {
	case t == Told{} || then == Told{}:
		return true
	case t.Later != then.Later && t.Later != "" && then.Later != "":
		return false
	}
	if same, known := t.Mark.Same(then.Mark); known {
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

// WishOf returns what a state says of what is wanted.
func WishOf(state any) Told {
	if w, ok := state.(Wishing); ok {
		return w.CurrentWish()
	}
	return Told{}
}

// WishText returns the text of the wish of spec that a state has left open, "" if
// there is none.
func (t *Type) WishText(ctx context.Context, v *host.View, spec, state any) (string, error) {
	if t.wishText == nil {
		return "", nil
	}
	return t.wishText(ctx, v, spec, state)
}

// Recall reports the present state of a resource of the factory's type, compared
// with what was wanted when a state told the wish. The second result is false if
// the provider cannot, because its resources are all that is wanted.
func (f Factory) Recall(ctx context.Context, v *host.View, spec any, wish Told) (state any, ok bool, err error) {
	defer f.recovered(&err)
	return f.Type.recall(ctx, v, f.impl, spec, wish)
}
