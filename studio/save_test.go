package studio

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ask sends a request and reads the answer.
func (v *visitor) ask(method, path string, body, answer any) int {
	v.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(v.t, err)
	w := v.send(v.request(method, path, string(text)))
	if answer != nil && w.Body.Len() > 0 {
		require.NoError(v.t, json.Unmarshal(w.Body.Bytes(), answer), w.Body)
	}
	return w.Code
}

// get requests the state of a file.
func (v *visitor) get(file string) (st State) {
	v.t.Helper()
	require.Equal(v.t, http.StatusOK, v.ask("GET", "/api/state?file="+file, nil, &st))
	return st
}

// write sets the text of a file.
func (v *visitor) write(file, text string) (st State) {
	v.t.Helper()
	require.Equal(v.t, http.StatusOK, v.ask("POST", "/api/text", TextEdit{File: file, Rev: v.get(file).Rev, Text: &text}, &st))
	return st
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestSave: a file is replaced in one step with its mode kept; a file that somebody else has changed is not replaced.
func TestSave(t *testing.T) {
	dir := siteDir(t)
	v := visit(t, open(t, dir, map[string]string{"notes.txt": "one\n"}))
	file := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.Chmod(file, 0o640))
	st := v.write("notes.txt", "two\n")
	require.False(t, st.Saved)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev}, &st))
	require.True(t, st.Saved)
	require.Equal(t, "two\n", readFile(t, file))
	fi, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), fi.Mode())

	st = v.write("notes.txt", "mine\n")
	require.NoError(t, os.WriteFile(file, []byte("theirs\n"), 0o640))
	var f Failure
	require.Equal(t, http.StatusConflict, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev}, &f))
	require.Equal(t, "conflict", f.Code)
	require.Equal(t, []string{"two\n", "mine\n", "theirs\n"}, []string{f.Conflict.Base, f.Conflict.PageText, f.Conflict.DiskText})
	require.Equal(t, "theirs\n", readFile(t, file))
	shown := f.Conflict.Digest

	// The file changes again before the person decides.
	require.NoError(t, os.WriteFile(file, []byte("later\n"), 0o640))
	require.Equal(t, http.StatusConflict, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev, OnConflict: "mine", DiskDigest: shown}, &f))
	require.Equal(t, "later\n", readFile(t, file))
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev, OnConflict: "mine", DiskDigest: f.Conflict.Digest}, &st))
	require.Equal(t, "mine\n", readFile(t, file))

	st = v.write("notes.txt", "mine again\n")
	require.NoError(t, os.WriteFile(file, []byte("theirs again\n"), 0o640))
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev, OnConflict: "theirs"}, &st))
	require.True(t, st.Saved)
	require.Equal(t, "theirs again\n", *v.get("notes.txt").Text)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/undo", Step{File: "notes.txt", Rev: st.Rev}, &st))
	require.Equal(t, "mine again\n", *v.get("notes.txt").Text)

	require.NoError(t, os.Remove(file))
	require.Equal(t, http.StatusConflict, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev}, &f))
	require.True(t, f.Conflict.Gone)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "notes.txt", Rev: st.Rev, OnConflict: "mine"}, &st))
	require.Equal(t, "mine again\n", readFile(t, file))
	leftovers, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, leftovers)
}

// TestNewFile: a new file and its directories are made by the first save, and no existing file is replaced.
func TestNewFile(t *testing.T) {
	dir := siteDir(t)
	v := visit(t, open(t, dir, nil))
	var st State
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/new", NewRequest{File: "sub/site.yaml"}, &st))
	require.Equal(t, "ccm:\n  resources: []\n", *st.Text)
	require.False(t, st.Saved)
	file := filepath.Join(dir, "sub/site.yaml")
	require.NoFileExists(t, file)
	beforeRename = func() { require.NoError(t, os.WriteFile(file, []byte("theirs"), 0o644)) }
	defer func() { beforeRename = nil }()
	var f Failure
	require.Equal(t, http.StatusConflict, v.ask("POST", "/api/save", Save{File: "sub/site.yaml", Rev: st.Rev}, &f))
	require.Equal(t, "theirs", readFile(t, file))
	beforeRename = nil
	require.NoError(t, os.Remove(file))
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "sub/site.yaml", Rev: st.Rev}, &st))
	require.Equal(t, "ccm:\n  resources: []\n", readFile(t, file))
	require.Equal(t, http.StatusConflict, v.ask("POST", "/api/new", NewRequest{File: "sub/site.yaml"}, &f))
}

// TestFirstSaveWhileLooking: a first save at the same moment as a check of the directory is not reported as a removed
// file.
func TestFirstSaveWhileLooking(t *testing.T) {
	s := open(t, siteDir(t), nil)
	v := visit(t, s)
	var st State
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/new", NewRequest{File: "site.yaml"}, &st))
	looked := make(chan struct{})
	beforeRename = func() {
		go func() { defer close(looked); s.workspace.lookAtDocuments() }()
		time.Sleep(20 * time.Millisecond) // time for the check to read the file too early, if it does not wait its turn
	}
	defer func() { beforeRename = nil }()
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "site.yaml", Rev: st.Rev}, &st))
	<-looked
	require.Equal(t, "same", v.get("site.yaml").Disk)
}

// TestLinks: no file behind a link is read or written, even if the link appears later.
func TestLinks(t *testing.T) {
	dir := siteDir(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	writeFiles(t, outside, map[string]string{"secret.txt": "secret", "passwd": "root"})
	v := visit(t, open(t, dir, map[string]string{"own.txt": "own", "real/a.txt": "a"}))
	for link, target := range map[string]string{
		"abs.txt": filepath.Join(outside, "secret.txt"), "rel.txt": "../outside/secret.txt", "in.txt": "own.txt", "dir": outside, "sub": "real", "gone.txt": "nothing",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for _, name := range []string{"abs.txt", "rel.txt", "in.txt", "dir/secret.txt", "sub/a.txt", "gone.txt", "real", "dir"} {
		var f Failure
		status := v.ask("GET", "/api/state?file="+name, nil, &f)
		require.GreaterOrEqual(t, status, 400, name)
		require.NotContains(t, f.Error, "secret\"")
	}
	var files Files
	require.Equal(t, http.StatusOK, v.ask("GET", "/api/files", nil, &files))
	kinds := map[string]string{}
	for _, f := range files.Files {
		kinds[f.Name] = f.Kind + f.Target
	}
	require.Equal(t, "link../outside/secret.txt", kinds["rel.txt"])
	require.Equal(t, "link"+outside, kinds["dir"])
	require.NotContains(t, kinds, "dir/secret.txt")

	// A link replaces the file, or its directory, during the save.
	st := v.write("own.txt", "new")
	defer func() { beforeRename = nil }()
	own := filepath.Join(dir, "own.txt")
	beforeRename = func() {
		require.NoError(t, os.Remove(own))
		require.NoError(t, os.Symlink(filepath.Join(outside, "passwd"), own))
	}
	require.GreaterOrEqual(t, v.ask("POST", "/api/save", Save{File: "own.txt", Rev: st.Rev}, nil), 400)
	require.Equal(t, "root", readFile(t, filepath.Join(outside, "passwd")))

	st = v.write("real/a.txt", "new")
	writeFiles(t, outside, map[string]string{"a.txt": "a"})
	beforeRename = func() {
		require.NoError(t, os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "moved")))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "real")))
	}
	v.ask("POST", "/api/save", Save{File: "real/a.txt", Rev: st.Rev}, nil)
	require.Equal(t, "a", readFile(t, filepath.Join(outside, "a.txt")))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

// TestNames: every request refuses names that lead out of the site.
func TestNames(t *testing.T) {
	v := visit(t, open(t, siteDir(t), nil))
	for _, name := range []string{
		"", ".", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "a/", "a\nb", "a\x1b[31m", "a\\b", "a\u009bb", strings.Repeat("x", 256), strings.Repeat("a/", 20) + "b",
	} {
		for path, body := range map[string]any{
			"/api/new": NewRequest{File: name}, "/api/save": Save{File: name}, "/api/text": TextEdit{File: name}, "/api/undo": Step{File: name}, "/api/edit": Edit{File: name, Op: "set"},
		} {
			var f Failure
			require.Equal(t, http.StatusUnprocessableEntity, v.ask("POST", path, body, &f), "%q %s", name, path)
			require.NotContains(t, f.Error, "\x1b")
		}
	}
}

// TestNotText: a file that is not text, too long, or not regular is an error.
func TestNotText(t *testing.T) {
	dir := siteDir(t)
	v := visit(t, open(t, dir, map[string]string{"binary": "a\xff", "large": strings.Repeat("x", maxText+1)}))
	require.Equal(t, http.StatusUnprocessableEntity, v.ask("GET", "/api/state?file=binary", nil, nil))
	require.Equal(t, http.StatusUnprocessableEntity, v.ask("GET", "/api/state?file=large", nil, nil))
	require.Equal(t, http.StatusNotFound, v.ask("GET", "/api/state?file=nothing", nil, nil))
}

// TestRevisions: a request about an older text is refused with the present state.
func TestRevisions(t *testing.T) {
	v := visit(t, open(t, siteDir(t), map[string]string{"a.txt": "one"}))
	first := v.get("a.txt")
	v.write("a.txt", "two")
	for path, body := range map[string]any{
		"/api/text": TextEdit{File: "a.txt", Rev: first.Rev, Splices: []Splice{{From: 0, To: 1}}}, "/api/undo": Step{File: "a.txt", Rev: first.Rev},
		"/api/redo": Step{File: "a.txt", Rev: first.Rev}, "/api/save": Save{File: "a.txt", Rev: first.Rev}, "/api/edit": Edit{File: "a.txt", Rev: first.Rev, Op: "set"},
	} {
		var f Failure
		require.Equal(t, http.StatusConflict, v.ask("POST", path, body, &f), path)
		require.Equal(t, "stale", f.Code)
		require.Equal(t, "two", *f.State.Text)
		require.Equal(t, first.Rev+1, f.State.Rev)
	}
}

// TestUndo: all steps can be undone and redone; typing is joined into one step.
func TestUndo(t *testing.T) {
	v := visit(t, open(t, siteDir(t), map[string]string{"a.txt": "é😀"}))
	st := v.get("a.txt")
	insert := func(at int, text string, joined bool) {
		require.Equal(t, http.StatusOK, v.ask("POST", "/api/text", TextEdit{File: "a.txt", Rev: st.Rev, Splices: []Splice{{From: at, To: at, Text: text}}, Joined: joined}, &st))
	}
	insert(3, "a", false)
	insert(4, "b", true)
	insert(5, "c", true)
	insert(1, "X", false)
	require.Equal(t, "éX😀abc", *v.get("a.txt").Text)
	require.Equal(t, 2, st.Undo)
	undo := func(path string) int { return v.ask("POST", path, Step{File: "a.txt", Rev: v.get("a.txt").Rev}, &st) }
	require.Equal(t, http.StatusOK, undo("/api/undo"))
	require.Equal(t, "é😀abc", *v.get("a.txt").Text)
	require.Equal(t, []Splice{{From: 1, To: 2}}, st.Splices)
	require.Equal(t, http.StatusOK, undo("/api/undo"))
	require.Equal(t, "é😀", *v.get("a.txt").Text)
	require.True(t, v.get("a.txt").Saved)
	require.Equal(t, http.StatusConflict, undo("/api/undo"))
	require.Equal(t, http.StatusOK, undo("/api/redo"))
	require.Equal(t, "é😀abc", *v.get("a.txt").Text)
	require.Equal(t, http.StatusOK, undo("/api/redo"))
	require.Equal(t, "éX😀abc", *v.get("a.txt").Text)
	require.Equal(t, http.StatusConflict, undo("/api/redo"))
}

// TestJournal: after a cut at any byte, as by a crash during a write, all edits that were answered before are
// restored.
func TestJournal(t *testing.T) {
	dir := siteDir(t)
	file := filepath.Join(dir, "a.txt")
	s := open(t, dir, map[string]string{"a.txt": "zero\n"})
	v := visit(t, s)
	journal := filepath.Join(s.options.StateDir, journalName(dir, "a.txt"))
	sizes, texts := []int64{}, []string{}
	note := func() {
		fi, err := os.Stat(journal)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), fi.Mode())
		sizes, texts = append(sizes, fi.Size()), append(texts, *v.get("a.txt").Text)
	}
	v.get("a.txt")
	note()
	for _, text := range []string{"one\n", "one\ntwo\n", "two é\n"} {
		v.write("a.txt", text)
		note()
	}
	step := func(path string) {
		require.Equal(t, http.StatusOK, v.ask("POST", path, Step{File: "a.txt", Rev: v.get("a.txt").Rev}, nil))
		note()
	}
	step("/api/undo")
	step("/api/undo")
	step("/api/redo")
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "a.txt", Rev: v.get("a.txt").Rev}, nil))
	note()
	saved := len(sizes) - 1
	v.write("a.txt", "last\n")
	note()
	fi, err := os.Stat(filepath.Dir(journal))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	whole, onDisk := readFile(t, journal), readFile(t, file)
	s.close()

	at := 0
	for cut := sizes[0]; cut <= int64(len(whole)); cut++ {
		for at+1 < len(sizes) && sizes[at+1] <= cut {
			at++
		}
		if cut != sizes[at] && cut%7 != 0 { // inside of lines only some cuts are tried
			continue
		}
		require.NoError(t, os.WriteFile(journal, []byte(whole[:cut]), 0o600))
		disk := "zero\n"
		if at >= saved {
			disk = onDisk
		}
		require.NoError(t, os.WriteFile(file, []byte(disk), 0o644))
		again := open(t, dir, nil)
		require.Equal(t, texts[at], *visit(t, again).get("a.txt").Text, "cut off at %d", cut)
		again.close()
	}
	// A damaged journal, and that of another file, are not used.
	for _, bad := range []string{"nonsense\n" + whole, strings.Replace(whole, "zero", "zerO", 1), "\x00\x00", whole[:sizes[0]-1]} {
		require.NoError(t, os.WriteFile(journal, []byte(bad), 0o600))
		again := open(t, dir, nil)
		require.Equal(t, onDisk, *visit(t, again).get("a.txt").Text)
		again.close()
	}
}

// TestOneStudio: a directory can be open in one studio only.
func TestOneStudio(t *testing.T) {
	dir := siteDir(t)
	s := open(t, dir, nil)
	_, err := Open(t.Context(), s.options)
	require.ErrorContains(t, err, "in use by another studio")
	s.close()
	again, err := Open(t.Context(), s.options)
	require.NoError(t, err)
	again.close()
}

// TestOutside: a change of a file by others is reported, and taken over if there are no unsaved edits.
func TestOutside(t *testing.T) {
	dir := siteDir(t)
	s := open(t, dir, map[string]string{"a.txt": "one"})
	v := visit(t, s)
	v.get("a.txt")
	events := s.hub.join("")
	change := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644))
		s.workspace.lookAtDocuments()
	}
	change("two")
	require.Contains(t, string(<-events), "event: state")
	require.Equal(t, "two", *v.get("a.txt").Text)
	require.True(t, v.get("a.txt").Saved)
	v.write("a.txt", "mine")
	<-events
	change("three")
	require.Contains(t, string(<-events), `"disk":"changed"`)
	require.Contains(t, string(<-events), "event: disk")
	require.Equal(t, "mine", *v.get("a.txt").Text)
	change("mine")
	require.Contains(t, string(<-events), `"saved":true`)
	<-events
	require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
	s.workspace.lookAtDocuments()
	require.Contains(t, string(<-events), `"disk":"gone"`)
}
