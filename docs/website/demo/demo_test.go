package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo: the picture of the README shows what ccm prints today.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ccm")
	}
	if os.Getuid() != 0 {
		t.Skip("the files of the recording belong to root")
	}
	picture, err := demo(t.TempDir())
	require.NoError(t, err)
	saved, err := os.ReadFile("../demo.svg")
	require.NoError(t, err)
	require.Equal(t, string(saved), picture, "ccm prints something else than docs/website/demo.svg shows: make demo")
}

// TestPicture: the saved picture is XML without scripts, links and paths of a machine, and has the three runs.
func TestPicture(t *testing.T) {
	saved, err := os.ReadFile("../demo.svg")
	require.NoError(t, err)
	d := xml.NewDecoder(strings.NewReader(string(saved)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			require.Contains(t, []string{"svg", "title", "desc", "style", "rect", "g", "text", "tspan"}, e.Name.Local)
		}
	}
	require.NotRegexp(t, `/tmp|/home|/root\b|@import|url\(|[0-9](ms|µs|s)\)`, regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(string(saved), ""))
	require.Equal(t, 2, strings.Count(string(saved), "prefers-color-scheme")+strings.Count(string(saved), "prefers-reduced-motion"))
	require.Regexp(t, `(?s)\$ ccm plan site.lua.*\+port = 8080.*\$ ccm run site.lua.*\$ ccm run site.lua\nNothing to do`, string(saved))
}

// TestScreen: what was overwritten is not shown, and colors are kept.
func TestScreen(t *testing.T) {
	lines := screen("a\x1b[33mb\x1b[0mc\r\n  x \rY\r\n\r\n")
	require.Len(t, lines, 3)
	require.Len(t, lines[0], 3)
	require.EqualValues(t, 3, lines[0][1].color)
	require.Equal(t, "b", lines[0][1].text)
	require.Equal(t, "Y x", lines[1][0].text)
	picture := svg([]step{{"echo <&>", lines}})
	require.Contains(t, picture, `a<tspan class="c3">b</tspan>c</text>`)
	require.Contains(t, picture, "echo &lt;&amp;&gt;")
}
