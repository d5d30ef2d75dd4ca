package event

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// told returns the message with a number, stored some minutes after noon. Its first line belongs to a run that began
// then by the node's clock, which is an hour ahead; a plain message belongs to no run.
func told(number int64, minute int, plain bool) *direct.Message {
	at := noon.Add(time.Duration(minute) * time.Minute)
	id := "web1." + at.Add(time.Hour).Format("20060102T150405.000000Z") + "-ab.0"
	if plain {
		id = "web1.0123456789abcdef.3"
	}
	return &direct.Message{Time: at, Header: nats.Header{record.NumberHeader: {fmt.Sprint(number)}, nats.MsgIdHdr: {id}}}
}

func gapsOf(t *testing.T, whole bool, messages ...*direct.Message) []Gap {
	w := newWalk("ccm.v1.event.prod.web1")
	w.whole, w.retention = whole, 24*time.Hour
	for _, m := range messages {
		require.NoError(t, w.message(m))
	}
	return w.end()
}

func TestGaps(t *testing.T) {
	ahead := noon.Add(time.Hour) // noon by the clock of the node
	require.Empty(t, gapsOf(t, true, told(1, 0, false), told(2, 1, true), told(3, 2, false)))
	require.Empty(t, gapsOf(t, false, told(7, 0, false), told(8, 1, false)), "what was before is older than is kept")
	require.Empty(t, gapsOf(t, true, told(1, 0, false), told(2, 1, false), told(1, 2, false), told(2, 3, false)), "it counts anew")
	require.Empty(t, gapsOf(t, true, &direct.Message{Header: nats.Header{}}), "a message that is none of ccm's")

	// The runs around a gap are found even if messages without a run are between.
	list := gapsOf(t, true, told(1, 0, false), told(2, 1, true), told(6, 5, true), told(7, 6, false), told(8, 7, false))
	require.Equal(t, []Gap{{Node: "web1", Environment: "prod", Messages: 3, After: noon.Add(time.Minute), Before: noon.Add(5 * time.Minute),
		Since: ahead, Until: ahead.Add(6 * time.Minute)}}, list)

	// If the stream was made again, the messages before its first one are missing.
	list = gapsOf(t, true, told(5, 0, false))
	require.Len(t, list, 1)
	require.EqualValues(t, 4, list[0].Messages)
	require.Zero(t, list[0].After)
	require.Equal(t, noon.Add(-24*time.Hour), list[0].Since)
}

func TestGapIsFilled(t *testing.T) {
	answer := func(since, until time.Time, outcome string) *direct.Message {
		m := told(9, 9, true)
		var err error
		m.Data, err = json.Marshal(record.JobResult{Protocol: record.JobProtocol, Job: "J", State: record.JobDone, Outcome: outcome, Since: since, Until: until})
		require.NoError(t, err)
		return m
	}
	before := []*direct.Message{told(1, 0, false), told(7, 6, false), told(8, 7, false)}
	gap := gapsOf(t, true, before...)[0]
	for _, c := range []struct {
		since, until time.Time
		outcome      string
		filled       bool
	}{
		{gap.Since, gap.Until, "stable", true},
		{gap.Since.Add(-time.Hour), gap.Until.Add(time.Hour), "stable", true},
		{gap.Since.Add(time.Second), gap.Until, "stable", false},
		{gap.Since, gap.Until.Add(-time.Second), "stable", false},
		{gap.Since, gap.Until, "failed", false},
		{time.Time{}, time.Time{}, "stable", false},
	} {
		list := gapsOf(t, true, append(before, answer(c.since, c.until, c.outcome))...)
		require.Len(t, list, 1)
		require.Equal(t, c.filled, list[0].Filled, "%+v", c)
		require.Len(t, Open(list), map[bool]int{true: 0, false: 1}[c.filled])
	}
}
