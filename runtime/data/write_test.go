package data

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/schema"
)

func TestEncodeValueKeepsOrderAndText(t *testing.T) {
	tab := &schema.Table{Entries: []schema.Entry{
		{Key: "zebra", Val: schema.StringValue("0644")},
		{Key: "apple", Val: schema.StringValue("plain text")},
		{Key: "version", Val: schema.StringValue("1.10")},
		{Key: "answer", Val: schema.StringValue("no")},
		{Key: "date", Val: schema.StringValue("2026-01-02")},
		{Key: "lines", Val: schema.StringValue("a\nb\n")},
		{Key: "<<", Val: schema.StringValue("=")},
		{Key: "1:30", Val: schema.ListValue(schema.StringValue("22:22"), schema.StringValue("80:8080"))},
		{Key: "ends", Val: schema.ListValue(schema.StringValue("\u2028x"), schema.StringValue("a\n\u2029b"))},
		{Key: "colon", Val: schema.StringValue("a: b")},
		{Key: "empty", Val: schema.StringValue("")},
		{Key: "null", Val: schema.Value{}},
		{Key: "yes", Val: schema.BoolValue(true)},
		{Key: "count", Val: schema.IntValue(3)},
		{Key: "ratio", Val: schema.Value{Kind: schema.Float, F: 1.5}},
		{Key: "list", Val: schema.ListValue(schema.StringValue("1"), schema.IntValue(1))},
		{Key: "none", Val: schema.ListValue()},
		{Key: "map", Val: schema.MapValue(&schema.Table{Entries: []schema.Entry{{Key: "b", Val: schema.StringValue("x")}, {Key: "a", Val: schema.StringValue("y")}}})},
	}}
	out, err := EncodeValue(schema.MapValue(tab))
	require.NoError(t, err)
	require.Equal(t, `zebra: "0644"
apple: plain text
version: "1.10"
answer: "no"
date: "2026-01-02"
lines: |
  a
  b
"<<": "="
"1:30":
  - "22:22"
  - 80:8080
ends:
  - "\Lx"
  - "a\n\Pb"
colon: 'a: b'
empty: ""
"null": null
"yes": true
count: 3
ratio: 1.5
list:
  - "1"
  - 1
none: []
map:
  b: x
  a: "y"
`, out)

	doc, err := Parse("out.yaml", out)
	require.NoError(t, err)
	require.Equal(t, schema.MapValue(tab).Go(), doc.Root.Go())
}

func TestEncodeValueIsReadAgain(t *testing.T) {
	for _, s := range []string{"~", "null", "true", "0x1f", "1e3", "1_000", ".inf", "- a", "# c", "a #b", "'", `"`, "\t", " lead", "trail ", "\n", "a\r\nb", "@x", "%x", "*a", "&a", "!t", "|", ">", "{", "[", "? a", "ü", "\u0000"[:0], "=", "<<", "1:30", "0b1", "22:22", "190:20:30", "2001-12-14 21:59:43 -5"} {
		out, err := EncodeValue(schema.ListValue(schema.StringValue(s)))
		require.NoError(t, err, "%q", s)
		doc, err := Parse("out.yaml", out)
		require.NoError(t, err, "%q: %s", s, out)
		require.Equal(t, []any{s}, doc.Root.Go(), "%q: %s", s, out)
	}
}
