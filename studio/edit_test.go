package studio

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const small = `# a comment
ccm:
  resources:
    - file:
        - /tmp/a: { ensure: directory, owner: root, group: root, mode: "0755" } # kept
        - /tmp/a/b: { content: hi, owner: root, group: root, mode: "0644", require: [file#/tmp/a] }
`

func trusted(t testing.TB, s *Server) *visitor {
	v := visit(t, s)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/trust", Trust{Directory: s.options.Directory}, nil))
	return v
}

// edit sends an edit of the present text.
func (v *visitor) edit(e Edit) (st State) {
	v.t.Helper()
	e.Rev = v.get(e.File).Rev
	require.Equal(v.t, http.StatusOK, v.ask("POST", "/api/edit", e, &st))
	selected := st.Selection
	st = v.settled(e.File)
	st.Selection = selected
	return st
}

// settled returns the state of a file once its check has ended.
func (v *visitor) settled(file string) (st State) {
	v.t.Helper()
	require.Eventually(v.t, func() bool {
		st = v.get(file)
		return st.Checked
	}, time.Minute, time.Millisecond)
	return st
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// TestEdits: an edit changes only its target, and the answer has the mistakes of the new text.
func TestEdits(t *testing.T) {
	v := trusted(t, open(t, siteDir(t), map[string]string{"site.yaml": small}))
	st := v.settled("site.yaml")
	require.Len(t, st.Resources, 2)
	require.Equal(t, `{"ensure":"directory","owner":"root","group":"root","mode":"0755"}`, string(st.Resources[0].Props))
	require.Contains(t, st.Derived.Text, `file { "/tmp/a", ensure = "directory"`)

	st = v.edit(Edit{File: "site.yaml", Op: "set", Resource: "file#/tmp/a/b", Property: "mode", Value: raw(`"rw"`)})
	require.Len(t, st.Mistakes, 1)
	m := st.Mistakes[0]
	require.Equal(t, []any{"site.yaml", 6, "file#/tmp/a/b", "mode", "error"}, []any{m.File, m.Line, m.Resource, m.Field, m.Severity})
	require.Contains(t, m.Message, `expected octal permissions such as "0644", got "rw"`)
	require.False(t, st.Derived.Current)
	require.Contains(t, st.Derived.Text, "/tmp/a", "it stays as it was")

	st = v.edit(Edit{File: "site.yaml", Op: "set", Resource: "file#/tmp/a/b", Property: "mode", Value: raw(`"0600"`)})
	require.Empty(t, st.Mistakes)
	st = v.edit(Edit{File: "site.yaml", Op: "add", Type: "package", Name: "zsh", Props: raw(`{"ensure":"latest"}`)})
	require.Equal(t, "package#zsh", st.Selection)
	st = v.edit(Edit{File: "site.yaml", Op: "rename", Resource: "package#zsh", Name: "fish"})
	require.Equal(t, "package#fish", st.Selection)
	v.edit(Edit{File: "site.yaml", Op: "remove", Resources: []string{"file#/tmp/a"}})
	st = v.settled("site.yaml")
	require.Contains(t, st.Mistakes[0].Message, "no resource file#/tmp/a")
	for range 5 {
		require.Equal(t, http.StatusOK, v.ask("POST", "/api/undo", Step{File: "site.yaml", Rev: v.get("site.yaml").Rev}, nil))
	}
	require.Equal(t, small, *v.get("site.yaml").Text)

	var f Failure
	require.Equal(t, http.StatusUnprocessableEntity, v.ask("POST", "/api/edit", Edit{File: "site.yaml", Rev: v.get("site.yaml").Rev, Op: "set", Resource: "file#/nothing", Property: "x", Value: raw(`1`)}, &f))
	require.Equal(t, http.StatusBadRequest, v.ask("POST", "/api/edit", Edit{File: "site.yaml", Op: "evil"}, &f))
	require.Equal(t, http.StatusBadRequest, v.ask("POST", "/api/edit", Edit{File: "site.yaml", Op: "set", Path: []any{1.5}}, &f))
}

// TestDerived: an edit of the text in the other language becomes an edit of the file, or is refused.
func TestDerived(t *testing.T) {
	v := trusted(t, open(t, siteDir(t), map[string]string{"site.yaml": small, "site.lua": "-- why\nfile { \"/tmp/a\", ensure = \"directory\", owner = \"root\", group = \"root\", mode = \"0755\" }\n"}))
	for file, x := range map[string][3]string{
		"site.yaml": {`mode = "0755"`, `mode = "0700"`, "0700"}, "site.lua": {`0755`, `0711`, `mode = "0711"`},
	} {
		st := v.settled(file)
		require.True(t, st.Derived.Editable, file)
		typed := strings.Replace(st.Derived.Text, x[0], x[1], 1)
		require.NotEqual(t, st.Derived.Text, typed, st.Derived.Text)
		require.Equal(t, http.StatusOK, v.ask("POST", "/api/text", TextEdit{File: file, Rev: st.Rev, Text: &typed, Derived: true}, &st))
		require.NotEmpty(t, st.Splices)
		require.Contains(t, *v.get(file).Text, x[2])
	}
	st := v.settled("site.yaml")
	loop := st.Derived.Text + "for i = 1, 3 do package { \"p\" .. i } end\n"
	var f Failure
	require.Equal(t, http.StatusUnprocessableEntity, v.ask("POST", "/api/text", TextEdit{File: "site.yaml", Rev: st.Rev, Text: &loop, Derived: true}, &f))
	require.Equal(t, "convert", f.Code, f.Error)
	require.NotEmpty(t, f.Conflicts)
	require.NotContains(t, *v.get("site.yaml").Text, "package")
}

// TestTwoPages: an edit by one page is sent to the other.
func TestTwoPages(t *testing.T) {
	s := open(t, siteDir(t), map[string]string{"site.yaml": small})
	v := trusted(t, s)
	events := s.hub.join("")
	v.get("site.yaml")
	v.edit(Edit{File: "site.yaml", Op: "set", Resource: "file#/tmp/a", Property: "mode", Value: raw(`"0700"`), Client: "one"})
	var st State
	text := string(<-events)
	require.Equal(t, "event: state", text[:12])
	_, data, _ := strings.Cut(text, "data: ")
	require.NoError(t, json.Unmarshal([]byte(data), &st))
	require.Equal(t, "one", st.Client)
	require.Equal(t, st.Rev-1, st.Base)
	require.Len(t, st.Splices, 1)
	require.Equal(t, "0700", strings.Trim(st.Splices[0].Text, `"`))
}

// TestStreams: eight pages can connect, and a slow one does not delay the others.
func TestStreams(t *testing.T) {
	h := newHub()
	var slow chan []byte
	for range maxStreams {
		slow = h.join("")
		require.NotNil(t, slow)
	}
	require.Nil(t, h.join(""))
	for range streamBuffer + 1 {
		h.send("state", 1)
	}
	require.Empty(t, h.streams)
	for range streamBuffer {
		<-slow
	}
	_, more := <-slow
	require.False(t, more)
}

// TestHostile: markup and control characters in files appear as text everywhere.
func TestHostile(t *testing.T) {
	evil := "</script><img src=x onerror=alert(1)>\u202e\u001b[31m"
	text := fmt.Sprintf("ccm:\n  resources:\n    - exec:\n        - %q: { command: %q, cwd: %q }\n", evil, evil, evil)
	v := trusted(t, open(t, siteDir(t), map[string]string{"site.yaml": text, "<img>.yaml": "ccm: " + evil}))
	st := v.settled("site.yaml")
	require.Equal(t, text, *st.Text)
	require.Equal(t, "exec#"+evil, st.Resources[0].ID)
	for _, m := range st.Mistakes {
		require.NotContains(t, m.Message, "\u001b")
	}
	r := v.send(v.request("GET", "/api/state?file=site.yaml", ""))
	require.Equal(t, "application/json", r.Header().Get("Content-Type"))
	require.Equal(t, "nosniff", r.Header().Get("X-Content-Type-Options"))
	for _, m := range v.get("%3Cimg%3E.yaml").Mistakes {
		require.NotContains(t, m.Message, "\u001b")
	}
}

// TestEndless: an endless loop in a script does not block the page.
func TestEndless(t *testing.T) {
	s := open(t, siteDir(t), map[string]string{"site.lua": "while true do end\n"})
	v := trusted(t, s)
	began := time.Now()
	require.False(t, v.get("site.lua").Checked)
	v.write("site.lua", "return 1\n")
	require.Eventually(t, func() bool { return v.get("site.lua").Checked }, time.Minute, 10*time.Millisecond)
	require.Less(t, time.Since(began), time.Minute)
}

// TestChildFails: the end of the process that evaluates a text is a mistake in the text, and the page goes on.
func TestChildFails(t *testing.T) {
	s := open(t, siteDir(t), map[string]string{"site.yaml": small, "modules/part.lua": "return {}\n"})
	s.jobs.program = "/bin/false"
	v := trusted(t, s)
	st := v.settled("site.yaml")
	require.Len(t, st.Mistakes, 1)
	require.Equal(t, "evaluation failed", st.Mistakes[0].Message)
	require.NotEmpty(t, st.Resources)
	require.Equal(t, &DerivedText{Language: "lua", Reason: notDerived}, st.Derived)
	var types Types
	require.Equal(t, http.StatusOK, v.ask("GET", "/api/types", nil, &types))
	require.Len(t, types.Groups, 2)
	require.Equal(t, "evaluation failed", types.Mistakes[0].Message)
}

// TestLimitedMemory: the process that evaluates has a limit of memory, whatever it does.
func TestLimitedMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit is that of Linux")
	}
	end := (&jobs{program: os.Args[0]}).run(t.Context(), command{args: []string{"allocate"}, text: io.Discard, kill: true})
	require.Equal(t, "failed", end.status)
	require.Contains(t, end.messages, "out of memory")
}

// FuzzEdit: no request breaks studio, and each accepted edit can be undone.
func FuzzEdit(f *testing.F) {
	f.Add("set", "file#/tmp/a", "mode", `"0700"`, "", 0)
	f.Add("add", "file", "/x", `{"content":"x"}`, "file#/tmp/a", 0)
	f.Add("rename", "file#/tmp/a", "n\n: x", "null", "", 0)
	f.Add("move", "file#/tmp/a/b", "", "", "file#/tmp/a", 3)
	f.Add("paste", "", "- package:\n    - x\n", "", "", 1)
	f.Add("split", "file#/tmp/a", "", "[[[]]]", "", -1)
	f.Fuzz(func(t *testing.T, op, resource, name, value, at string, index int) {
		s := open(t, siteDir(t), map[string]string{"site.yaml": small})
		defer s.close()
		v := visit(t, s)
		e := Edit{File: "site.yaml", Op: op, Resource: resource, Resources: []string{resource}, Type: resource, Name: name, Property: name, Text: name, At: at, Index: index, To: index}
		if json.Valid([]byte(value)) {
			e.Value, e.Props = raw(value), raw(value)
		}
		var st State
		if v.ask("POST", "/api/edit", e, &st) != http.StatusOK {
			require.Equal(t, small, *v.get("site.yaml").Text)
			return
		}
		if v.get("site.yaml").Undo > 0 {
			require.Equal(t, http.StatusOK, v.ask("POST", "/api/undo", Step{File: "site.yaml", Rev: v.get("site.yaml").Rev}, nil))
		}
		require.Equal(t, small, *v.get("site.yaml").Text)
	})
}

// manyResources returns a manifest of n files.
func manyResources(n int) string {
	var b strings.Builder
	b.WriteString("ccm:\n  resources:\n    - file:\n")
	for i := range n {
		fmt.Fprintf(&b, "        - /etc/web/conf.d/%03d.conf:\n            content: |\n              # %d\n              listen 80%03d\n            owner: root\n            group: root\n            mode: \"0644\"\n", i, i, i)
	}
	return b.String()
}

// BenchmarkEdit is the answer to an edit in a manifest of 500 files. It must take less than 60 ms.
func BenchmarkEdit(b *testing.B) {
	s := open(b, siteDir(b), map[string]string{"site.yaml": manyResources(500)})
	v := trusted(b, s)
	rev := v.settled("site.yaml").Rev
	for i := range b.N {
		var st State
		e := Edit{File: "site.yaml", Rev: rev, Op: "set", Resource: fmt.Sprintf("file#/etc/web/conf.d/%03d.conf", i%500), Property: "mode", Value: raw(fmt.Sprintf(`"06%d0"`, i%8))}
		require.Equal(b, http.StatusOK, v.ask("POST", "/api/edit", e, &st))
		require.True(b, st.Checked)
		rev = st.Rev
	}
}
