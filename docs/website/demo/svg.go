package main

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes of the picture, in pixels.
const (
	charWidth  = 8.4
	lineHeight = 19
	margin     = 16
)

// Seconds after which a command appears, and after that its output.
const pause, execution = 1.6, 0.7

// style has the colors of the picture on light and on dark pages. Lines appear one command after the other unless the
// reader wants no motion.
const style = `
.bg { fill: #f6f8fa; stroke: #d0d7de } text { fill: #1f2328; font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }
.c1 { fill: #b3261e } .c2 { fill: #116329 } .c3 { fill: #7d4e00 } .c4 { fill: #0550ae } .c6 { fill: #1b5f7a } .p { fill: #656d76 } .b { font-weight: 600 }
@media (prefers-color-scheme: dark) {
.bg { fill: #161b22; stroke: #30363d } text { fill: #e6edf3 }
.c1 { fill: #ff8b82 } .c2 { fill: #5fd07a } .c3 { fill: #e3b341 } .c4 { fill: #79c0ff } .c6 { fill: #76d2e8 } .p { fill: #8b949e }
}
g { animation: show .1s both } @keyframes show { from { opacity: .2 } }
@media (prefers-reduced-motion: reduce) { g { animation: none } }
`

// svg draws steps below each other.
func svg(steps []step) string {
	var body, plain strings.Builder
	y, at := margin+lineHeight-5, 0.0
	line := func(runs string, length int) {
		if length > 0 {
			fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" textLength=\"%.1f\">%s</text>\n", margin, y, charWidth*float64(length), runs)
		}
		y += lineHeight
	}
	group := func() { fmt.Fprintf(&body, "<g style=\"animation-delay: %.1fs\">\n", at) }
	for i, s := range steps {
		if i > 0 {
			y += lineHeight / 2
			at += pause
		}
		group()
		line(`<tspan class="p">$ </tspan><tspan class="b">`+escaped(s.command)+`</tspan>`, len(s.command)+2)
		body.WriteString("</g>\n")
		plain.WriteString("$ " + s.command + "\n")
		at += execution
		group()
		for _, l := range s.lines {
			runs, text := "", ""
			for _, r := range l {
				text += r.text
				if r.color < 8 { // others are the default color
					runs += fmt.Sprintf(`<tspan class="c%d">%s</tspan>`, r.color, escaped(r.text))
				} else {
					runs += escaped(r.text)
				}
			}
			line(runs, utf8.RuneCountInString(text))
			plain.WriteString(text + "\n")
		}
		body.WriteString("</g>\n")
	}
	width, height := int(charWidth*columns)+2*margin, y-lineHeight+5+margin
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n"+
		"<title>A plan, a run and a second run</title>\n<desc>%s</desc>\n<style>%s</style>\n"+
		"<rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n%s</svg>\n",
		width, height, width, height, escaped(plain.String()), style, width-1, height-1, body.String())
}

// escaped returns text as XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return strings.NewReplacer("&#xA;", "\n", "&#34;", `"`, "&#39;", "'").Replace(b.String())
}
