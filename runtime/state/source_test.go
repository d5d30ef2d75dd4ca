package state_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A sourceSpec is a file with a source, on a machine whose clock makes the last change of the source old or recent.
type sourceSpec struct {
	*box
	source string
	file   decl
}

func newSourced(t *testing.T, settled bool) *sourceSpec {
	b := newBox(t)
	if settled {
		b.clock.now = time.Now().Add(time.Hour).UTC()
	} else {
		b.clock.now = time.Now().Add(-24 * time.Hour).UTC()
	}
	s := &sourceSpec{box: b, source: filepath.Join(t.TempDir(), "source")}
	s.file = file("/a", "", props{"content": nil, "source": s.source})
	return s
}

// put writes the source again, as a checkout does, with new stat data.
func (s *sourceSpec) put(text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.source+".new", []byte(text), 0o600))
	require.NoError(s.t, os.Rename(s.source+".new", s.source))
}

// must applies the file and checks the event.
func (s *sourceSpec) must(want string) {
	s.t.Helper()
	s.clock.now = s.clock.now.Add(time.Minute)
	s.box.must(s.file)
	require.Equal(s.t, want, s.story())
}

// lines returns the record of the applied states without stat data.
func (s *sourceSpec) lines() string {
	s.t.Helper()
	_, body, _ := strings.Cut(s.wishes(), "\n")
	return regexp.MustCompile(`(?m)^[0-9a-f]{16} [0-9a-f]{16} `).ReplaceAllString(body, "")
}

func (s *sourceSpec) wishes() string {
	s.t.Helper()
	text, err := os.ReadFile(s.wishesFile())
	require.NoError(s.t, err)
	return string(text)
}

func (s *sourceSpec) wishesFile() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "applied", "*.wishes"))
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	return files[0]
}

// forgetMarks rewrites the record as earlier versions wrote it.
func (s *sourceSpec) forgetMarks() {
	s.t.Helper()
	text := regexp.MustCompile(`@"(\d+|\d+ [0-9-]+)" \+?"file#`).ReplaceAllString(s.wishes(), ` "file#`)
	require.NotEqual(s.t, s.wishes(), text)
	require.NoError(s.t, os.WriteFile(s.wishesFile(), []byte(text), 0o600))
}

// The cause of a change of a file with a source is the source or the file, whether the source's times are reliable or
// not, and whichever version wrote the record.
func TestCauseOfSource(t *testing.T) {
	type step func(s *sourceSpec)
	byHand := func(text string) step { return func(s *sourceSpec) { s.write("a", text, 0o644) } }
	put := func(text string) step { return func(s *sourceSpec) { s.put(text) } }
	touch := func(s *sourceSpec) {
		require.NoError(t, os.Chtimes(s.source, time.Time{}, time.Now().Add(-time.Hour)))
	}
	gone := func(s *sourceSpec) { require.NoError(t, os.Remove(filepath.Join(s.root, "a"))) }
	chmod := func(s *sourceSpec) { require.NoError(t, os.Chmod(filepath.Join(s.root, "a"), 0o600)) }
	for name, x := range map[string]struct {
		steps    []step
		want     string
		uncopied bool
	}{
		"nothing":                        {nil, "", false},
		"file, other size":               {[]step{byHand("by hand")}, "/a changed corrective", false},
		"file, same size":                {[]step{byHand("eno")}, "/a changed corrective", false},
		"file gone":                      {[]step{gone}, "/a changed corrective", false},
		"mode":                           {[]step{chmod}, "/a changed corrective", false},
		"touched":                        {[]step{touch}, "", false},
		"touched and mode":               {[]step{touch, chmod}, "/a changed corrective", false},
		"touched and file, other size":   {[]step{touch, byHand("by hand")}, "/a changed corrective", false},
		"touched and file, same size":    {[]step{touch, byHand("eno")}, "/a changed corrective", false},
		"touched and file gone":          {[]step{touch, gone}, "/a changed corrective", false},
		"the same anew":                  {[]step{put("one")}, "", false},
		"the same anew and file":         {[]step{put("one"), byHand("by hand")}, "/a changed corrective", false},
		"source, same size":              {[]step{put("two")}, "/a changed intended", false},
		"source, other size":             {[]step{put("three")}, "/a changed intended", false},
		"source, same size, and file":    {[]step{put("two"), byHand("by hand")}, "/a changed intended", false},
		"source, other size, and file":   {[]step{put("three"), byHand("by hand")}, "/a changed intended", false},
		"source, and file has that size": {[]step{put("three"), byHand("eerht")}, "/a changed intended", false},
		"source, same size, file gone":   {[]step{put("two"), gone}, "/a changed intended", false},
		"source, other size, file gone":  {[]step{put("three"), gone}, "/a changed intended", false},
		"source empty":                   {[]step{put("")}, "/a changed intended", false},
		"source, and back":               {[]step{put("two"), put("one"), byHand("by hand")}, "/a changed corrective", false},
		"source, and file the same":      {[]step{put("three"), byHand("three")}, "", true},
	} {
		for kind, settled := range map[string]bool{"settled": true, "just now": false} {
			for _, old := range []bool{false, true} {
				t.Run(name+"/"+kind+map[bool]string{true: "/recorded by an earlier version"}[old], func(t *testing.T) {
					s := newSourced(t, settled)
					s.put("one")
					s.must("/a changed new")
					require.Regexp(t, `^"`+sha256sum.Bytes([]byte("one"))+`"@"3`+map[bool]string{true: ` \d+-\d+-\d+`}[settled]+`" \+"file#/a"\n$`, s.lines())
					if old {
						s.forgetMarks()
					}
					for _, step := range x.steps {
						step(s)
					}
					s.must(x.want)
					// The present record explains the next drift. If no run had to copy the source, its content is
					// not recorded.
					gone(s)
					if x.uncopied {
						s.must("/a changed intended")
						gone(s)
					}
					s.must("/a changed corrective")
					s.must("")
				})
			}
		}
	}
}

// If the source was not copied, because the file had that content already, the record has at least its size.
func TestCauseOfSourceNotCopied(t *testing.T) {
	s := newSourced(t, true)
	s.put("one")
	s.write("a", "one", 0o600)
	s.must("/a changed new") // the mode
	require.Regexp(t, `^""@"3 \d+-\d+-\d+" \+?"file#/a"\n$`, s.lines())
	s.write("a", "by hand", 0o644)
	s.must("/a changed corrective")
	require.Contains(t, s.lines(), sha256sum.Bytes([]byte("one")), "it was copied")

	// Another desired property keeps the record of the unchanged source.
	before := s.lines()
	s.file = file("/a", "", props{"content": nil, "source": s.source, "mode": "0600"})
	s.must("/a changed intended")
	require.Equal(t, before, s.lines())
	// A source with only a new time keeps its record.
	require.NoError(t, os.Chtimes(s.source, time.Time{}, time.Now().Add(-time.Hour)))
	require.NoError(t, os.Chmod(filepath.Join(s.root, "a"), 0o644))
	s.must("/a changed corrective")
	require.Equal(t, before, s.lines())
	// A source of another size is not the recorded one.
	s.put("three")
	s.write("a", "three", 0o644)
	s.must("/a changed intended")
	require.Regexp(t, `^""@"5 \d+-\d+-\d+" \+?"file#/a"\n$`, s.lines())
}

// If the name of a source contains a secret, neither its digest nor its size is recorded, and the cause is still
// known.
func TestCauseOfSecretSource(t *testing.T) {
	s := newSourced(t, true)
	s.secrets = []string{"hunter2"}
	s.source = filepath.Join(t.TempDir(), "hunter2")
	s.file = file("/a", "", props{"content": nil, "source": s.source})
	must := func(want string) {
		t.Helper()
		s.secret(s.file)
		require.Equal(t, want, s.story())
	}
	s.put("one")
	must("/a changed new")
	require.NotContains(t, s.written(), sha256sum.Bytes([]byte("one")))
	require.NotContains(t, s.lines(), "@")
	require.NoError(t, os.Chtimes(s.source, time.Time{}, time.Now().Add(-time.Hour)))
	s.write("a", "by hand", 0o644)
	must("/a changed corrective")
	s.put("two")
	must("/a changed intended")
	s.put("three")
	must("/a changed intended")
	s.put("three")
	s.write("a", "by hand", 0o644)
	must("/a changed corrective")
}
