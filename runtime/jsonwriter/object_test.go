package jsonwriter

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An object is written as encoding/json writes a struct with the same fields.
func TestObject(t *testing.T) {
	type item struct {
		Name string `json:"name"`
	}
	type allKinds struct {
		Text   string    `json:"text"`
		Int    int64     `json:"int"`
		Uint   uint64    `json:"uint"`
		Bool   bool      `json:"bool"`
		Flag   bool      `json:"flag,omitempty"`
		Opt    string    `json:"opt,omitempty"`
		Time   time.Time `json:"time"`
		Bytes  []byte    `json:"bytes,omitempty"`
		Texts  []string  `json:"texts,omitempty"`
		Items  []item    `json:"items,omitempty"`
		Object item      `json:"object"`
		Value  any       `json:"value"`
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	for _, x := range []allKinds{
		{},
		{Text: "a \"b\"\n", Int: -1, Uint: 1 << 63, Bool: true, Flag: true, Opt: "o", Time: at, Bytes: []byte{0, 1}, Texts: []string{"x", "y"}, Items: []item{{Name: "1"}, {Name: "2"}}, Object: item{Name: "<&>"}, Value: 7},
	} {
		o := Begin([]byte("before "))
		o.Text("text", x.Text)
		o.Int("int", x.Int)
		o.Uint("uint", x.Uint)
		o.Bool("bool", x.Bool)
		o.OptionalBool("flag", x.Flag)
		o.OptionalText("opt", x.Opt)
		o.Time("time", x.Time)
		o.Base64("bytes", x.Bytes)
		o.Texts("texts", x.Texts)
		fields := func(o *Object, i item) { o.Text("name", i.Name) }
		List(&o, "items", x.Items, fields)
		o.Object("object", func(o *Object) { fields(o, x.Object) })
		failed := errors.New("failed")
		require.Equal(t, failed, o.Value("value", func(b []byte) ([]byte, error) {
			text, err := json.Marshal(x.Value)
			require.NoError(t, err)
			return append(b, text...), failed
		}))
		var got, want any
		text := o.End()[len("before "):]
		plain, err := json.Marshal(x)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &got))
		require.NoError(t, json.Unmarshal(plain, &want))
		require.Equal(t, want, got)
		if x.Object.Name == "" { // encoding/json would escape the others for HTML
			require.Equal(t, string(plain), string(text))
		}
	}
}
