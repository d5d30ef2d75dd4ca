package facts

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/trust"
)

// flatYAML decodes lines of "name: text", which is enough YAML for these tests.
func flatYAML(file string, text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if text[0] == '-' {
		return []any{}, nil
	}
	out := make(map[string]any)
	line := 0
	for s := range strings.Lines(string(text)) {
		line++
		name, val, ok := strings.Cut(strings.TrimSpace(s), ": ")
		if !ok {
			return nil, diag.Errorf(diag.Pos{File: file, Line: line, Col: 1}, "expected name: text")
		}
		out[name] = val
	}
	return out, nil
}

func loader(t *testing.T, files ...map[string]string) Loader {
	return Loader{View: rootWith(t, files...), YAML: flatYAML}
}

func TestLoadOrder(t *testing.T) {
	l := loader(t, map[string]string{
		"/etc/ccm/facts.json":             `{"from": "1", "a": "json", "deep": {"x": 1, "y": 1}}`,
		"/etc/ccm/facts.yaml":             "from: 2\nb: yaml\n",
		"/etc/ccm/facts.yml":              "from: 3\nc: yml\n",
		"/etc/ccm/facts.d/10-first.yml":   "from: 4\nd: first\n",
		"/etc/ccm/facts.d/20-second.JSON": `{"from": "5", "e": "second", "deep": {"y": 2}}`,
		"/etc/ccm/facts.d/9-last.yaml":    "from: 6\nf: last\n",
		"/etc/ccm/facts.d/.hidden.json":   "not JSON",
		"/etc/ccm/facts.d/README":         "not facts",
		"/etc/ccm/facts.d/old.json.bak":   "not JSON",
		"/etc/ccm/other.json":             "not JSON",
		"/home/me/ccm/facts.yaml":         "from: 7\ng: mine\n",
	})
	got, err := l.Load("/etc/ccm", "/home/me/ccm", "/nowhere")
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"from": "7", "a": "json", "b": "yaml", "c": "yml", "d": "first", "e": "second", "f": "last", "g": "mine",
		"deep": map[string]any{"x": int64(1), "y": int64(2)},
	}, got)

	got, err = l.Load("/home/me/ccm", "/etc/ccm")
	require.NoError(t, err)
	require.Equal(t, "6", got["from"], "the later directory wins")

	got, err = l.Load("/nowhere")
	require.NoError(t, err)
	require.Equal(t, map[string]any{}, got)
}

func TestLoadTellsAllMistakesAndReadsTheRest(t *testing.T) {
	l := loader(t, map[string]string{
		"/etc/ccm/facts.json":        "{\n  \"a\": nope\n}",
		"/etc/ccm/facts.yaml":        "b: fine\n",
		"/etc/ccm/facts.d/bad.yaml":  "c: fine\nd\n",
		"/etc/ccm/facts.d/list.json": "[1]",
		"/etc/ccm/facts.d/text.json": `"x"`,
		"/etc/ccm/facts.d/list.yaml": "- x\n",
		"/etc/ccm/facts.d/none.yaml": "",
		"/etc/ccm/facts.d/ok.json":   `{"e": "fine"}`,
	})
	require.NoError(t, os.Mkdir(filepath.Join(l.View.Root(), "etc/ccm/facts.d/dir.json"), 0o755))
	got, err := l.Load("/etc/ccm")
	require.Equal(t, map[string]any{"b": "fine", "e": "fine"}, got)
	require.EqualError(t, err, strings.Join([]string{
		"/etc/ccm/facts.d/bad.yaml:2:1: expected name: text",
		"/etc/ccm/facts.d/dir.json: expected a file, found a directory",
		"/etc/ccm/facts.d/list.json: expected a table of facts, got a list",
		"/etc/ccm/facts.d/list.yaml: expected a table of facts, got a list",
		"/etc/ccm/facts.d/text.json: expected a table of facts, got text",
		"/etc/ccm/facts.json:2:9: expected JSON: invalid character 'o' in literal null (expecting 'u')",
	}, "\n"))
}

func TestLoadOfWhatIsNoDirectory(t *testing.T) {
	l := loader(t, map[string]string{"/etc/ccm": "a file", "/opt/ccm/facts.d": "a file", "/opt/ccm/facts.json": `{"a": 1}`})
	_, err := l.Load("/etc/ccm")
	require.EqualError(t, err, "/etc/ccm: expected a directory, got something else")
	_, err = Loader{View: &host.New(host.Options{}).View}.Load(filepath.Join(l.View.Root(), "etc/ccm"))
	require.ErrorContains(t, err, "/etc/ccm: expected a directory, got something else")
	got, err := l.Load("/opt/ccm")
	require.EqualError(t, err, "/opt/ccm/facts.d: expected a directory, got something else")
	require.Equal(t, map[string]any{"a": int64(1)}, got)
}

func TestLoadSkipsLinksWithAWarning(t *testing.T) {
	root := rootWith(t, map[string]string{
		"/real/a.json": `{"a": 1}`, "/real/facts.json": `{"b": 1}`, "/real/facts.d/c.json": `{"c": 1}`,
		"/etc/ccm/facts.d/own.json": `{"own": 1}`,
	}).Root()
	var log bytes.Buffer
	h := host.New(host.Options{Root: root, Log: slog.New(slog.NewTextHandler(&log, nil))})
	l := Loader{View: &h.View, YAML: flatYAML}
	require.NoError(t, os.Symlink("/real/a.json", filepath.Join(root, "etc/ccm/facts.d/a.json")))
	require.NoError(t, os.Symlink("/nowhere", filepath.Join(root, "etc/ccm/facts.d/b.json")))
	require.NoError(t, os.Symlink("/real/facts.json", filepath.Join(root, "etc/ccm/facts.json")))
	got, err := l.Load("/etc/ccm")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"own": int64(1)}, got)
	for _, name := range []string{"/etc/ccm/facts.d/a.json", "/etc/ccm/facts.d/b.json", "/etc/ccm/facts.json"} {
		require.Contains(t, log.String(), "path="+name+"\n")
	}

	require.NoError(t, os.Mkdir(filepath.Join(root, "opt"), 0o755))
	require.NoError(t, os.Symlink("/real", filepath.Join(root, "opt/ccm")))
	got, err = l.Load("/opt/ccm")
	require.NoError(t, err, "the configuration directory itself may be a link")
	require.Equal(t, []string{"b", "c"}, slices.Sorted(maps.Keys(got)))

	require.NoError(t, os.MkdirAll(filepath.Join(root, "srv/ccm"), 0o755))
	require.NoError(t, os.Symlink("/real/facts.d", filepath.Join(root, "srv/ccm/facts.d")))
	log.Reset()
	got, err = l.Load("/srv/ccm")
	require.NoError(t, err)
	require.Empty(t, got)
	require.Contains(t, log.String(), "path=/srv/ccm/facts.d\n")
}

func TestLoadDoesNotWaitForAPipe(t *testing.T) {
	l := loader(t, map[string]string{"/etc/ccm/facts.d/a.json": `{"a": 1}`})
	require.NoError(t, syscall.Mkfifo(filepath.Join(l.View.Root(), "etc/ccm/facts.d/pipe.json"), 0o644))
	got, err := l.Load("/etc/ccm")
	require.EqualError(t, err, "/etc/ccm/facts.d/pipe.json: expected a file, found a device, socket or pipe")
	require.Equal(t, map[string]any{"a": int64(1)}, got)
}

func TestLoadRefusesWhatEverybodyMayWrite(t *testing.T) {
	files := map[string]string{
		"/etc/ccm/facts.json": `{"a": 1}`, "/etc/ccm/facts.yaml": "b: 1\n", "/etc/ccm/facts.d/c.json": `{"c": 1}`,
	}
	for name, c := range map[string]struct {
		open      string // what is world-writable
		mode      os.FileMode
		remaining []string // the facts that are still read
	}{
		"a file":                      {"/etc/ccm/facts.json", 0o666, []string{"b", "c"}},
		"a file in facts.d":           {"/etc/ccm/facts.d/c.json", 0o602, []string{"a", "b"}},
		"facts.d":                     {"/etc/ccm/facts.d", 0o777, []string{"a", "b"}},
		"the configuration directory": {"/etc/ccm", 0o777, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := loader(t, files)
			require.NoError(t, os.Chmod(filepath.Join(l.View.Root(), c.open), c.mode))
			got, err := l.Load("/etc/ccm")
			require.NoError(t, err, "only refused if asked")
			require.Len(t, got, 3)

			l.Trust = onlyMine
			got, err = l.Load("/etc/ccm")
			require.Equal(t, c.remaining, slices.Sorted(maps.Keys(got)))
			list, ok := errors.AsType[diag.List](err)
			require.True(t, ok)
			require.Len(t, list, 1)
			at := filepath.Join(l.View.Root(), c.open)
			require.Equal(t, at, filepath.Clean(list[0].Pos.File))
			require.ErrorContains(t, err, "not trusted as root")
			require.Equal(t, "chmod o-w "+at+", or use --allow-insecure", list[0].Hint)
		})
	}
}

// onlyMine believes what root does, as if the user that runs the tests were root.
var onlyMine = &trust.Policy{Owners: []uint32{0, uint32(os.Geteuid())}}

func TestFile(t *testing.T) {
	l := loader(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	got, err := l.File(t.Context(), write("f.json", `{"a": 1}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1)}, got)

	got, err = l.File(t.Context(), write("f", "a: 1\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": "1"}, got)

	require.NoError(t, os.Symlink(filepath.Join(dir, "f.json"), filepath.Join(dir, "link.json")))
	got, err = l.File(t.Context(), filepath.Join(dir, "link.json"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1)}, got)

	missing := filepath.Join(dir, "missing.json")
	_, err = l.File(t.Context(), missing)
	require.EqualError(t, err, missing+": no such file or directory")

	bad := write("bad.json", "{\"a\": 1,\n}")
	_, err = l.File(t.Context(), bad)
	require.EqualError(t, err, bad+":2:1: expected JSON: invalid character '}' looking for beginning of object key string")

	yaml := write("f.yaml", "a: 1\n")
	_, err = Loader{View: l.View}.File(t.Context(), yaml)
	require.EqualError(t, err, yaml+": expected JSON, got a name that does not end in .json")

	l.Trust = onlyMine
	open := write("open.json", "{}")
	require.NoError(t, os.Chmod(open, 0o666))
	_, err = l.File(t.Context(), open)
	require.ErrorContains(t, err, open+": not trusted as root: "+open+" is world-writable (mode 0666)")
}
