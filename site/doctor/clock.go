package doctor

import (
	"errors"
	"time"
)

// tolerance is the largest deviation of a clock that is not called wrong.
const tolerance = 24 * time.Hour

// checkClock checks whether the time of day can be right.
func checkClock(x *examination) []Finding {
	synchronized, err := clockSynchronized()
	f := judgeClock(x.process.Clock.Now(), x.BuildTime, synchronized, err)
	if container := x.text("virtual.container"); f.Hint != "" && container != "" && container != "none" {
		f.Hint = "the clock is that of the host of this container (" + container + "); there, " + f.Hint
	}
	return []Finding{f}
}

// judgeClock judges the time of day by the build time of this program and by the kernel's
// opinion.
func judgeClock(now, built time.Time, synchronized bool, err error) Finding {
	f := Finding{Check: "clock", Result: OK, Text: now.UTC().Format("2006-01-02 15:04:05 UTC")}
	switch {
	case now.Before(built.Add(-tolerance)):
		f.Result = Failure
		f.Text += " is earlier than the build of this ccm (" + built.UTC().Format(time.DateOnly) + "): certificates and package lists will be rejected"
		f.Hint = "set the clock, and enable NTP"
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		f.Text += "; NTP status unknown: " + err.Error()
	case !synchronized:
		f.Result = Warning
		f.Text += "; not synchronized, according to the kernel"
		f.Hint = "run timedatectl set-ntp true, or install chrony"
	default:
		f.Text += ", synchronized"
	}
	return f
}
