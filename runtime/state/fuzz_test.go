package state_test

import (
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
)

// FuzzState reads a state directory in which any file may have any content: nothing crashes, no file outside is
// changed, and a backup whose own file is intact can be restored, even after the daily cleanup.
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
		{"applied/0000000000000000.wishes", `{"protocol":"io.choria.ccm.v1.applied","site":"/site.lua","root":"/"}` + "\n" + `0000000000000001 0000000000000002 "2c26"@"4 1-2-3" "file#/f"` + "\n"},
		{"applied/0000000000000000.catalog.gz", "\x1f\x8b"},
		{"objects/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae.gz", "\x1f\x8b\x08"},
		{"objects/packs/r.pack", "ccm\x00pack\x00\x00\x00\x01\x00\x00\x00\x00"},
		{"objects/packs/r.pack", "ccm\x00pack\xff\xff\xff\xff\x00\x00\x00\x00" + strings.Repeat("\xff", 41)},
		{"objects/packs/r.pack/x", ""},
		{"objects/size", "-5 bytes on disk\n"},
		{"objects/size", "2000000000\n"},
		{"objects/size", "2000000000 bytes on disk\n"},
		{"objects/size", "9223372036854775807 bytes on disk\n"},
		{"objects/size", "1 bytes on disk, small files: -1\n"},
		{"objects/size", "9223372036854775807 bytes on disk, small files: 9223372036854775807\n"},
		{"objects/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae.gz", gzipped("something else")},
		{"objects/2c/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7af.gz", gzipped("foo")},
		{"runs/20260102T030405Z-ab.ndjson", "\x00\x00\x00\n{}\n"},
		{"runs/0.ndjson", `{"protocol":"io.choria.ccm.v1.session.start","run_id":"20260102T030405Z-ab","start_time":"1999-01-02T03:04:05Z"}` + "\n" +
			`{"protocol":"io.choria.ccm.v1.session.change","path":"/f","before":{"kind":"file","object":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"}}` + "\n"},
		{"runs/z.ndjson", `{"protocol":"io.choria.ccm.v1.session.change","path":"/f","before":{"kind":"directory","mode":"0000","uid":4294967295},"content":true}` + "\n"},
		{"history.ndjson", "\n\nnull\n{}\n[]\n" + strings.Repeat("[", 20000) + "\n"},
		{"applied/x.wishes", "\x00\n\n"},
		{"tidied", "x"},
		{"broken", "x"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if !filepath.IsLocal(name) || strings.ContainsRune(name, 0) || len(name) > 200 {
			t.Skip()
		}
		for _, file := range []string{"pending.ndjson", "history.ndjson", "tidied", "objects/size"} {
			if strings.HasPrefix(filepath.Clean(name), file+"/") {
				t.Skip("a directory where a file belongs: nothing is changed, and so nothing lost")
			}
		}
		if dir, base := filepath.Split(filepath.Clean(name)); dir == "objects/" && (len(base) == 2 || base == "packs") {
			t.Skip("a file where a directory belongs: the same")
		}
		b, base := newBox(t), tempDir(t)
		b.root, b.dir = base+"/a/machine", base+"/a/state"
		require.NoError(t, os.MkdirAll(b.root, 0o755))
		b.write("f", "foo", 0o644)
		id := b.must(file("/f", "new"))
		backup := filepath.Join("objects/2c", fooObject+".gz")
		spoilt := filepath.Clean(name) == backup || filepath.Clean(name) == "runs/"+id+".ndjson"
		path := filepath.Join(b.dir, name)
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, []byte(text), 0o600) != nil {
			t.Skip()
		}
		before := hosttest.Snapshot(t, base)
		s := b.store()
		_, _, _ = s.Pending()
		_, _, _ = s.History()
		applied, _ := s.Applied()
		for _, a := range applied {
			_, _, _ = s.Catalog(a, registry(t))
		}
		require.Equal(t, before, hosttest.Snapshot(t, base), "looking changes nothing")

		b.clock.now = b.clock.now.Add(25 * time.Hour)
		_, sum, err := b.run(cat(t, file("/f", "newer")))
		if !spoilt {
			require.NoError(t, err)
			require.Zero(t, sum.Of(event.Failed), b.story())
			_, errs := b.restore(id)
			require.Empty(t, errs)
			text, err := os.ReadFile(b.root + "/f")
			require.NoError(t, err)
			require.Equal(t, "foo", string(text))
		}
		_, err = os.Lstat(filepath.Join(b.dir, backup))
		require.NoError(t, err, "the backup is not removed")

		for _, run := range []string{"r", id} {
			list, err := s.Restorer().Restorations(run, nil)
			if err != nil {
				continue
			}
			run, h, err := b.begin("restore")
			if err != nil {
				continue
			}
			_ = s.Restorer().Restore(context.Background(), h, list, func(state.Restoration) (*resource.Resource, error) { return nil, nil })
			_ = run.End(event.Summary{})
		}
		require.Equal(t, []string{"a"}, namesIn(t, base))
		require.Equal(t, []string{"machine", "state"}, namesIn(t, base+"/a"))
	})
}

// fooObject is the name of the content "foo".
const fooObject = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

// namesIn returns the names in a directory.
func namesIn(t testing.TB, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func gzipped(text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}
