package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fill gives v, and all that is in it, random values.
func fill(t *testing.T, rnd *rand.Rand, v reflect.Value) {
	texts := []string{"", "plain", "a<b>&c", "\"quoted\" \\ \n\t\x00", "zwölf \u2028", "\xff broken", "\x7f"}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[rnd.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(rnd.Int64N(1e9)) // fits in 32 bits
	case reflect.Int64:
		v.SetInt(rnd.Int64N(1e12) - 1e6)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(4), 4))
		for i := range v.Len() {
			fill(t, rnd, v.Index(i))
		}
	case reflect.Pointer:
		if rnd.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, rnd, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(rnd.Int64N(1e10), rnd.Int64N(1e9)).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(t, rnd, v.Field(i))
		}
	default:
		t.Fatalf("no values of %s", v.Type())
	}
}

// TestAppendJSON: events look as if encoding/json had written them, whatever they
// hold.
func TestAppendJSON(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var e Event
		fill(t, rnd, reflect.ValueOf(&e).Elem())
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(e))
		require.Equal(t, want.String(), string(e.AppendJSON(nil))+"\n")
	}
}
