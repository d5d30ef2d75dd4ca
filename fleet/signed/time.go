package signed

import "time"

// Time is the time that a node believes: the latest of its clock, the newest signed time, and the
// build time of ccm. So a clock at 1970 does not make expired documents valid.
type Time struct {
	Clock func() time.Time
	Built time.Time // zero if unknown
	// Newest is the newest signed time seen.
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
