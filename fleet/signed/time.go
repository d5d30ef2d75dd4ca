package signed

import "time"

// Time is what a node believes the time to be: the latest of its clock, the newest time that
// somebody signed, and when ccm was built. A clock that stands at 1970 revives nothing.
type Time struct {
	Clock func() time.Time
	Built time.Time // zero if it is not known
	// Newest is the newest signed time that was seen.
	Newest time.Time
}

// Now returns the time.
func (t *Time) Now() time.Time {
	now := t.Clock()
	for _, other := range []time.Time{t.Built, t.Newest} {
		if other.After(now) {
			now = other
		}
	}
	return now
}
