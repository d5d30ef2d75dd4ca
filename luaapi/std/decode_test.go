package std_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// Texts of 100,000 values: the time of the format's decoder for plain data, and the time to make tables.
func BenchmarkDecode(b *testing.B) {
	l := newLab(b)
	for _, x := range []struct {
		format  string
		decoder func([]byte, any) error
		write   func(rows) string
	}{
		{"json", json.Unmarshal, rows.json},
		{"yaml", yaml.Unmarshal, rows.yaml},
	} {
		for _, shape := range []rows{{100_000, 0}, {20_000, 5}, {100, 1000}} {
			text := x.write(shape)
			file := fmt.Sprintf("%dx%d.%s", shape.n, shape.keys, x.format)
			require.NoError(b, os.WriteFile(filepath.Join(l.site, file), []byte(text), 0o644))
			script := fmt.Sprintf("%s.decode(fs.read(%q))", x.format, file)
			b.Run(file+"/decoder", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var v any
					require.NoError(b, x.decoder([]byte(text), &v))
				}
			})
			b.Run(file+"/lua", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := l.run(b, script)
					require.NoError(b, err)
				}
			})
		}
	}
}

// Decoding to tables needs at most twice the allocations of decoding to plain data. Allocations take most of the
// time, and do not depend on the machine.
func TestDecodeAllocations(t *testing.T) {
	l := newLab(t)
	for _, shape := range []rows{{10_000, 0}, {2_000, 5}, {10, 1000}} {
		for _, x := range []struct {
			text, script string
			decoder      func([]byte, any) error
		}{
			{shape.json(), `json.decode(fs.read("table"))`, json.Unmarshal},
			{shape.yaml(), `yaml.decode(fs.read("table"))`, yaml.Unmarshal},
			{"data:\n  rows:\n  " + strings.ReplaceAll(shape.yaml(), "\n", "\n  "), `data.load("table"); assert(data.rows[1])`, yaml.Unmarshal},
		} {
			require.NoError(t, os.WriteFile(filepath.Join(l.site, "table"), []byte(x.text), 0o644))
			run := func(script string) float64 {
				return testing.AllocsPerRun(1, func() {
					_, err := l.run(t, script)
					require.NoError(t, err)
				})
			}
			ours := run(x.script) - run(`fs.read("table")`)
			decoder := testing.AllocsPerRun(1, func() {
				var v any
				require.NoError(t, x.decoder([]byte(x.text), &v))
			})
			t.Logf("%+v %s: %.2f times the decoder", shape, x.script, ours/decoder)
			require.LessOrEqual(t, ours, 2*decoder, "%+v %s", shape, x.script)
		}
	}
}

// rows is a list of n objects with a number of keys, or of n values if keys is 0. A quarter of the values are
// numbers.
type rows struct{ n, keys int }

func (r rows) value(i int) string {
	if i%4 == 0 {
		return fmt.Sprint(i * 7)
	}
	return fmt.Sprintf("%q", fmt.Sprint("the value of ", i))
}

func (r rows) json() string {
	items := make([]string, r.n)
	for i := range items {
		if r.keys == 0 {
			items[i] = r.value(i)
			continue
		}
		pairs := make([]string, r.keys)
		for k := range pairs {
			pairs[k] = fmt.Sprintf("%q: %s", fmt.Sprint("key", k), r.value(i*r.keys+k))
		}
		items[i] = "{" + strings.Join(pairs, ", ") + "}"
	}
	return "[" + strings.Join(items, ",\n") + "]"
}

func (r rows) yaml() string {
	var text strings.Builder
	for i := range r.n {
		if r.keys == 0 {
			fmt.Fprintf(&text, "- %s\n", r.value(i))
		}
		for k := range r.keys {
			fmt.Fprintf(&text, "%c key%d: %s\n", "- "[min(k, 1)], k, r.value(i*r.keys+k))
		}
	}
	return text.String()
}
