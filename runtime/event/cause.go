package event

import "github.com/luaccm/ccm/runtime/resource"

// A Cause is the reason of a change.
type Cause uint8

// The causes.
const (
	NoCause    Cause = iota // nothing was changed, or nobody knows
	New                     // not managed before
	Intended                // the desired state has changed
	Corrective              // was in the desired state once, and is not any more
)

// String returns the word for c, "" for none.
func (c Cause) String() string { return [...]string{"", "new", "intended", "corrective"}[c] }

// ParseCause is the inverse of String. Other texts give NoCause.
func ParseCause(s string) Cause {
	for _, c := range []Cause{New, Intended, Corrective} {
		if c.String() == s {
			return c
		}
	}
	return NoCause
}

// A PendingRefresh is a refresh of resource To that is due because resource By, to which To
// subscribes, was changed.
type PendingRefresh struct {
	To, By resource.ID
	Run    string // in which By was changed
	Cause  Cause  // of that change
}
