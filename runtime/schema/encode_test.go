package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// size is a property with its own syntax.
type size int64

func (s *size) UnmarshalText(text []byte) (err error) {
	n, err := strconv.ParseInt(string(text[:len(text)-1]), 10, 64)
	*s = size(n)
	return err
}

func (s size) String() string { return strconv.FormatInt(int64(s), 10) + "B" }

// hush is a text that does not show itself.
type hush string

func (hush) String() string { return "(secret)" }

// whole has every kind of property.
type wholeSpec struct {
	Name    string          `ccm:"name,name"`
	Color   color           `ccm:"color,default=red"`
	Text    *string         `ccm:"text"`
	Limit   size            `ccm:"limit"`
	Most    *size           `ccm:"most"`
	Sizes   []size          `ccm:"sizes"`
	Secret  hush            `ccm:"secret,secret"`
	Headers map[string]hush `ccm:"headers"`
	Keep    bool            `ccm:"keep,default=true"`
	Maybe   *bool           `ccm:"maybe"`
	Count   int             `ccm:"count,default=7"`
	Ratio   float64         `ccm:"ratio"`
	Words   []string        `ccm:"words"`
	Inner   *innerSpec      `ccm:"inner"`
	Inners  []innerSpec     `ccm:"inners"`
	Data    any             `ccm:"data"`
	Maps    map[string]any  `ccm:"maps"`
}

var wholeSchema = Of(reflect.TypeFor[wholeSpec]())

// wholes returns a whole with random properties.
func wholes(rnd *rand.Rand) *wholeSpec {
	texts := []string{"", "a", "two\nlines\n", "zwölf", "\x00\xff\xfe", `"q"`, "<&>", "1.10"}
	text := func() string { return texts[rnd.IntN(len(texts))] }
	some := func() bool { return rnd.IntN(2) == 0 }
	w := &wholeSpec{Name: "n" + text(), Color: "green", Limit: size(rnd.IntN(3)), Secret: hush(text()), Keep: some(), Count: rnd.IntN(3), Ratio: float64(rnd.IntN(5)) / 2}
	if some() {
		w.Text, w.Maybe, w.Most = new(text()), new(some()), new(size(rnd.IntN(2)))
	}
	if some() {
		w.Sizes, w.Words, w.Headers = []size{1, size(rnd.IntN(9))}, []string{text(), text()}, map[string]hush{"b": hush(text()), "a": "x", text(): "y"}
	}
	if some() {
		w.Words = []string{}
	}
	if some() {
		w.Inner, w.Inners = &innerSpec{If: text(), Count: rnd.IntN(3)}, []innerSpec{{Count: 1}, {If: "x"}}
	}
	if some() {
		w.Data = []any{int64(1), 1.5, float64(2), true, text(), map[string]any{"k": text(), "n": nil}}
		w.Maps = map[string]any{"x": text(), "deep": map[string]any{"y": []any{int64(3)}}}
	}
	return w
}

// TestEncode: an encoded value is decoded to an equal one, also through JSON.
func TestEncode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		w := wholes(rnd)
		text, err := json.Marshal(Union{wholeSchema}.Encode(w))
		require.NoError(t, err)
		tab := new(Table)
		require.NoError(t, json.Unmarshal(text, tab), "%s", text)
		got := new(wholeSpec)
		require.NoError(t, wholeSchema.Decode(tab, got), "%s", text)
		require.Equal(t, w, got, "%s", text)
		require.Equal(t, wholeSchema.Fingerprint(w), wholeSchema.Fingerprint(got))
	}
}

func TestEncodeLeavesOut(t *testing.T) {
	w := &wholeSpec{Name: "x", Color: "red", Keep: true, Count: 7}
	text, err := json.Marshal(Union{wholeSchema}.Encode(w))
	require.NoError(t, err)
	require.Equal(t, `{"name":"x","color":"red","keep":true,"count":7}`, string(text))
	// Of a property that two schemas have, the first has the say.
	text, err = json.Marshal(Union{wholeSchema, wholeSchema}.Encode(w, &wholeSpec{Name: "y", Text: new("t")}))
	require.NoError(t, err)
	require.Equal(t, `{"name":"x","color":"red","keep":true,"count":7}`, string(text))
}

func TestUnmarshalJSONErrors(t *testing.T) {
	for _, text := range []string{`[1]`, `{"a":`, `{"a":1`, `{"a":[1`, `{"a":1e999}`} {
		require.Error(t, new(Table).UnmarshalJSON([]byte(text)), text)
	}
}

// TestFingerprint: structs that differ have different fingerprints, and equal
// ones the same. The numbers are kept between runs, so they must not change.
func TestFingerprint(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	seen := map[uint64]*wholeSpec{}
	for range 2000 {
		w := wholes(rnd)
		h := wholeSchema.Fingerprint(w)
		if same, ok := seen[h]; ok {
			require.Equal(t, fmt.Sprintf("%#v", Union{wholeSchema}.Encode(same)), fmt.Sprintf("%#v", Union{wholeSchema}.Encode(w)))
		}
		seen[h] = w
	}
	require.Greater(t, len(seen), 1000)
	require.Equal(t, uint64(0xfcc4ea820d8e0697), wholeSchema.Fingerprint(&wholeSpec{Name: "x", Words: []string{"ab", "c"}}))
	require.NotEqual(t, wholeSchema.Fingerprint(&wholeSpec{Words: []string{"ab", "c"}}), wholeSchema.Fingerprint(&wholeSpec{Words: []string{"a", "bc"}}))
}

func BenchmarkFingerprint(b *testing.B) {
	text := string(make([]byte, 1024))
	w := &wholeSpec{Name: "/etc/motd", Color: "green", Text: &text, Keep: true, Count: 3, Most: new(size(4))}
	b.ReportAllocs()
	for b.Loop() {
		wholeSchema.Fingerprint(w)
	}
}
