package doctor

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClock(t *testing.T) {
	built := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		now          time.Time
		built        time.Time
		synchronized bool
		err          error
		want         Result
		text         string
	}{
		"right":           {now: built.Add(time.Hour), built: built, synchronized: true, want: OK, text: "2026-11-01 13:00:00 UTC, synchronized"},
		"another zone":    {now: built.Add(-time.Hour), built: built, synchronized: true, want: OK, text: "synchronized"},
		"no NTP":          {now: built, built: built, want: Warning, text: "not synchronized"},
		"after a reset":   {now: time.Unix(0, 0), built: built, synchronized: true, want: Failure, text: "1970-01-01 00:00:00 UTC is earlier than the build of this ccm (2026-11-01)"},
		"unknown build":   {now: time.Unix(0, 0), synchronized: true, want: OK, text: "1970"},
		"not to be asked": {now: built, built: built, err: errors.New("denied"), want: OK, text: "unknown: denied"},
		"another system":  {now: built, built: built, err: errors.ErrUnsupported, want: OK, text: "2026-11-01 12:00:00 UTC"},
	} {
		f := judgeClock(c.now, c.built, c.synchronized, c.err)
		require.Equal(t, c.want, f.Result, name)
		require.Contains(t, f.Text, c.text, name)
		require.Equal(t, c.want != OK, f.Hint != "", name)
	}
}

func TestMemory(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	for name, c := range map[string]struct {
		machine, free, limit int64
		want                 Result
		text                 string
	}{
		"plenty":          {4 * gib, 2 * gib, 4 * gib, OK, "4.0 GiB, 2.0 GiB available"},
		"a group":         {4 * gib, 2 * gib, 512 * mib, OK, "; the control group allows 512.0 MiB"},
		"a small group":   {4 * gib, 2 * gib, 32 * mib, Warning, "the control group allows 32.0 MiB: large sites may not fit"},
		"a small machine": {128 * mib, 20 * mib, 128 * mib, Warning, "20.0 MiB available: large sites may not fit"},
		"unknown":         {0, 0, 0, OK, "unknown"},
	} {
		f := judgeMemory(c.machine, c.free, c.limit)
		require.Equal(t, c.want, f.Result, name)
		require.Contains(t, f.Text, c.text, name)
	}
}
