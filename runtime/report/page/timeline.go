package page

import (
	"fmt"
	"time"

	"github.com/luaccm/ccm/runtime/report"
)

// A timeline shows when each resource was converged, in a lane for each type.
type timeline struct {
	Lanes  []lane
	Ticks  []tick
	Height float64
}

type lane struct {
	Type string
	Y    float64
	Bars []bar
}

type bar struct {
	*row
	X, W, Y float64
}

type tick struct {
	X     float64
	Label string
}

// Measures, in units of the drawing.
const (
	timelineWidth = 1000.0
	laneHeight    = 30.0
	narrowest     = 1.5 // bar
)

// timelineOf places a bar for each row. A bar of a stable resource is left out if it would lie on
// another bar of its lane.
func timelineOf(s *report.Summary, rows []*row) timeline {
	var t timeline
	total := float64(max(s.Duration, 1))
	at, covered := make(map[string]int), make(map[string]float64)
	for _, r := range rows {
		if r.Timestamp.IsZero() {
			continue
		}
		k, ok := at[r.Type]
		if !ok {
			k = len(t.Lanes)
			at[r.Type] = k
			t.Lanes = append(t.Lanes, lane{Type: r.Type, Y: laneHeight * float64(k)})
		}
		b := bar{row: r, Y: t.Lanes[k].Y + 4}
		b.X = min(max(timelineWidth*float64(r.Timestamp.Sub(s.StartTime))/total, 0), timelineWidth)
		b.W = min(max(timelineWidth*float64(r.Duration)/total, narrowest), timelineWidth-b.X+narrowest)
		if r.Outcome == "stable" && b.X+b.W <= covered[r.Type]+narrowest/2 {
			continue
		}
		covered[r.Type] = max(covered[r.Type], b.X+b.W)
		t.Lanes[k].Bars = append(t.Lanes[k].Bars, b)
	}
	t.Height = laneHeight*float64(len(t.Lanes)) + 24
	t.Ticks = ticksOf(s.Duration)
	return t
}

// ticksOf returns the marked times: at most six round numbers.
func ticksOf(total time.Duration) []tick {
	if total <= 0 {
		return nil
	}
	step := stepOf(total / 5)
	var list []tick
	for t := time.Duration(0); t <= total; t += step {
		list = append(list, tick{timelineWidth * float64(t) / float64(total), t.String()})
	}
	list[0].Label = "0"
	return list
}

// stepOf returns the smallest round number that is at least least: 1, 2 or 5 with zeros.
func stepOf(least time.Duration) time.Duration {
	for unit := time.Microsecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

// px formats a length.
func px(f float64) string { return fmt.Sprintf("%.1f", f) }
