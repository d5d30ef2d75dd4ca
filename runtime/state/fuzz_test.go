package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/state"
)

// FuzzState reads a state directory of which any file may hold anything: it is
// understood or not, nothing breaks, and nothing outside of it is touched.
func FuzzState(f *testing.F) {
	for _, seed := range [][2]string{
		{"pending.ndjson", `{"owe":{"to":"exec#x","by":"file#/a","run":"r","root":"/","since":"2026-01-02T03:04:05Z"}}` + "\n"},
		{"pending.ndjson", `{"settled":{"to":"exec#x","root":"/"}}` + "\n" + `{"forgiven":{"by":"file#/a","run":"r","root":"/"}}` + "\n"},
		{"history.ndjson", `{"protocol":"io.choria.ccm.v1.session.end","run_id":"r","kind":"run","root":"/","start_time":"2026-01-02T03:04:05Z","summary":{"changed_resources":1},"files":1}` + "\n"},
		{"runs/r.ndjson", `{"protocol":"io.choria.ccm.v1.session.start","run_id":"r","kind":"run","root":"/","start_time":"2026-01-02T03:04:05Z"}` + "\n" +
			`{"protocol":"io.choria.ccm.v1.session.change","path":"/f","resource":"file#/f","before":{"kind":"file","mode":"0644","uid":0,"gid":0,"size":3,"object":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},"content":true}` + "\n"},
		{"runs/r.ndjson", `{"protocol":"io.choria.ccm.v1.session.change","path":{"base64":"/w=="},"before":{"kind":"link","target":"../../x"},"content":true,"after":{"kind":"absent"}}` + "\n"},
		{"runs/r.ndjson", `{"protocol":"io.choria.ccm.v1.session.change","path":"/../../escape","before":{"kind":"directory","mode":"7777"},"content":true}` + "\n"},
		{"applied/0000000000000000.wishes", `{"protocol":"io.choria.ccm.v1.applied","site":"/site.lua","root":"/"}` + "\n" + `0000000000000001 0000000000000002 "" "file#/f"` + "\n"},
		{"applied/0000000000000000.catalog.gz", "\x1f\x8b"},
		{"objects/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae.gz", "\x1f\x8b\x08"},
		{"objects/size", "-5"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if !filepath.IsLocal(name) || strings.ContainsRune(name, 0) || len(name) > 200 {
			t.Skip()
		}
		b := newBox(t)
		b.write("f", "foo", 0o644)
		id := b.must(file("/f", "new"))
		path := filepath.Join(b.dir, name)
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, []byte(text), 0o600) != nil {
			t.Skip()
		}
		s := b.store()
		_, _, _ = s.Pending()
		_, _, _ = s.History()
		applied, _ := s.Applied()
		for _, a := range applied {
			_, _, _ = s.Catalog(a, registry(t))
		}
		for _, run := range []string{"r", id} {
			list, err := s.Restorations(run, nil)
			if err != nil {
				continue
			}
			run, h, err := b.begin("restore")
			if err != nil {
				continue
			}
			_ = s.Restore(h, list, func(state.Restoration) error { return nil })
			require.NoError(t, run.End(converge.Summary{}))
		}
		b.write("f", "bar", 0o644)
		_, _, _ = b.run(cat(t, file("/f", "new")))
		outside, err := os.ReadDir(filepath.Dir(b.root))
		require.NoError(t, err)
		for _, e := range outside {
			require.NotEqual(t, "escape", e.Name())
		}
	})
}
