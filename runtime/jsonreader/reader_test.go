package jsonreader

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type word string

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *word) UnmarshalText(text []byte) error {
	*w = word("<" + string(text) + ">")
	return nil
}

type inner struct {
	Size uint8 `json:"size,omitempty"`
}

type outer struct {
	Text  string          `json:"text"`
	Flag  bool            `json:"flag"`
	Count int16           `json:"count"`
	Ratio float64         `json:"ratio"`
	Time  time.Time       `json:"time"`
	Word  word            `json:"word"`
	Bytes []byte          `json:"bytes"`
	Texts []string        `json:"texts"`
	Raw   json.RawMessage `json:"raw"`
	Inner inner           `json:"inner"`
	Next  *inner          `json:"next"`
	Left  string          `json:"-"`
	inner
}

// texts are objects, right and wrong ones.
var texts = []string{
	`{}`, ` { } `, `null`, `[]`, ``, `{`, `}`, `{}{}`, `{} x`, `{"text":"a"}` + "\n", `{"text":"a",}`, `{"text" "a"}`, `{"text":}`, `{text:"a"}`, `{"text":"a"`, `{"text":"a`,
	`{"text":null,"flag":null,"next":null,"time":null}`, `{"text":1}`, `{"text":true}`, `{"text":{}}`, `{"flag":"true"}`, `{"flag":true}`, `{"flag":false}`, `{"flag":tru}`, `{"flag":1}`,
	`{"text":"\n\t\b\f\r\"\\\/"}`, `{"text":"\u00e4\ud83d\ude00\ud800"}`, `{"text":"\x"}`, `{"text":"\u12"}`, `{"text":"\"}`, `{"text":"é😀"}`, "{\"text\":\"\xff\"}", "{\"text\":\"\x01\"}", "{\"text\":\"a\nb\"}",
	`{"te\u0078t":"a"}`, `{"unknown":{"a":[1,{"b":null}]},"text":"z"}`, `{"unknown":[1,]}`, `{"unknown":[}`, `{"unknown":{"a"}}`, `{"unknown":01}`, `{"unknown":-}`, `{"unknown":nul}`,
	`{"count":5}`, `{"count":-5}`, `{"count":-0}`, `{"count":01}`, `{"count":99999}`, `{"count":1.5}`, `{"count":1e2}`, `{"count":"1"}`, `{"size":255}`, `{"size":256}`, `{"size":-1}`,
	`{"ratio":1.5e3}`, `{"ratio":1e999}`, `{"time":"2026-01-02T03:04:05.6Z"}`, `{"time":"yesterday"}`, `{"time":1}`, `{"word":"w\n"}`, `{"word":3}`, `{"bytes":"AAE="}`, `{"bytes":"!"}`, `{"texts":["a","b"]}`, `{"texts":"a"}`,
	`{"raw": {"a" : 1} }`, `{"inner":{"size":3}}`, `{"inner":[]}`, `{"inner":{"size":3,}}`, `{"next":{"size":4}}`, `{"text":"a","text":"b"}`,
	`{"unknown":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `{"unknown":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
}

// An object is read as encoding/json reads it, and is refused if that refuses it.
func TestUnmarshal(t *testing.T) {
	for _, text := range texts {
		check(t, text)
	}
}

func check(t *testing.T, text string) {
	t.Helper()
	var got, want outer
	err, failed := Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &want)
	require.Equal(t, failed == nil, err == nil, "%.100q: %v, not %v", text, err, failed)
	if failed == nil {
		require.Equal(t, want, got, "%.100q", text)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// encoding/json also takes names in other cases.
		for _, name := range []string{"text", "flag", "count", "ratio", "time", "word", "bytes", "texts", "raw", "inner", "next", "size"} {
			if strings.Count(strings.ToLower(text), name) != strings.Count(text, name) {
				t.Skip()
			}
		}
		check(t, text)
	})
}
