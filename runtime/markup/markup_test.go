package markup

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestElement(t *testing.T) {
	e := New("details", "class", "event failed", "open", "").Add(
		New("summary").Say("a < b & \"c\" 'd'", "\x00\r\n"),
		New("path", "d", "M0,0"), StyleSheet(".a > b{}"), New("span"))
	require.Equal(t, `<details class="event failed" open=""><summary>a &lt; b &amp; &#34;c&#34; &#39;d&#39;`+"\ufffd&#xD;\n"+`</summary><path d="M0,0"/><style>.a > b{}</style><span></span></details>`, e.HTML())
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.JSONEq(t, `["details",{"class":"event failed","open":""},["summary",{},"a < b & \"c\" 'd'","\u0000\r\n"],["path",{"d":"M0,0"}],["span",{}]]`, string(text))
}

// FuzzText: any text is read back by a parser as the same text, as a child and as an attribute.
func FuzzText(f *testing.F) {
	f.Add("</p><script>alert(1)</script>&amp;]]>\x00\x1b\xff", `" onload='x'`)
	f.Fuzz(func(t *testing.T, text, value string) {
		d := xml.NewDecoder(strings.NewReader(New("p", "class", "x"+value).Say(text).HTML()))
		said := ""
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			switch token := token.(type) {
			case xml.StartElement:
				require.Equal(t, "p", token.Name.Local)
				require.Len(t, token.Attr, 1)
			case xml.CharData:
				said += string(token)
			default:
				_, end := token.(xml.EndElement)
				require.True(t, end, "%T", token)
			}
		}
		require.Len(t, []rune(said), len([]rune(text)))
	})
}
