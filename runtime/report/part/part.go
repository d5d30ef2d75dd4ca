// Package part has the parts of pages about runs. They are used by the report of a run, which is
// one file (runtime/report/page), and by pages of servers (studio). Each part is an element, with
// its rules in Style. The drawing of the order is that of runtime/report/graph.
package part

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report/graph"
)

//go:embed theme.css
var theme string

//go:embed part.css
var style string

// Style returns the style sheet with the colors, light and dark, and the rules of all parts.
func Style() string { return theme + style + graph.Style }

// Badge returns the name of a type in its color.
func Badge(typ string) *markup.Element {
	return markup.New("span", "class", "badge", "style", fmt.Sprintf("--h:%d", graph.Hue(typ))).Say(typ)
}

// Took formats a duration in the units that people use.
func Took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
