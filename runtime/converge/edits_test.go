package converge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// words is a type that keeps its name as a line of the file /words, or without the line if its name begins with a
// minus.
func words(t *testing.T) resource.Binding {
	t.Helper()
	s, err := schema.Make("", []schema.Property{{Name: "name", Type: reflect.TypeFor[string](), IsName: true}})
	require.NoError(t, err)
	provider, err := resource.Functions{
		Name: "word", Provider: "test", Schema: s,
		Status: func(_ context.Context, v *host.View, _ *resource.Properties) (any, error) {
			text, err := v.ReadUpTo("/words", 1000)
			return string(text), err
		},
		Decide: func(want *resource.Properties, have any) (d resource.Decision) {
			if gone, ok := strings.CutPrefix(want.Name(), "-"); ok {
				if strings.Contains(have.(string), gone+"\n") {
					d.Add("name", gone, "")
					d.AddAction("remove", "removed "+gone)
				}
			} else if !strings.Contains(have.(string), want.Name()+"\n") {
				d.Add("name", "", want.Name())
				d.AddAction("add", "added "+want.Name()+" to "+strings.ReplaceAll(have.(string), "\n", " "))
				d.Effects, d.Complete = []overlay.PathEffect{{Path: "/words", Kind: safepath.Regular, Content: new(have.(string) + want.Name() + "\n")}}, true
			}
			return d
		},
		Perform: func(_ context.Context, h *host.Host, want *resource.Properties, _ resource.Action) error {
			text, err := h.ReadUpTo("/words", 1000)
			if err != nil || want.Name() == "bad" {
				return errors.Join(err, errors.New("no such word"))
			}
			after := string(text) + want.Name() + "\n"
			if gone, ok := strings.CutPrefix(want.Name(), "-"); ok {
				after = strings.Replace(string(text), gone+"\n", "", 1)
			}
			attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
			return h.WriteFile("/words", strings.NewReader(after), attr)
		},
		Edits: func(*resource.Properties) string { return "/words" },
	}.Bind()
	require.NoError(t, err)
	return provider
}

// fileLog lists events with the content of the file at that time.
type fileLog struct {
	file  string
	lines []string
}

func (w *fileLog) note(line string) {
	text, _ := os.ReadFile(w.file)
	w.lines = append(w.lines, line+" | "+strings.ReplaceAll(string(text), "\n", " "))
}

func (w *fileLog) BeforeAction(r *resource.Resource, _, _ int) { w.note("begin " + r.ID.Name) }
func (w *fileLog) Event(e *event.Event) {
	line := e.Resource.ID.Name + " " + e.Outcome.String()
	for _, a := range e.Actions {
		line += ", " + a.Phrase
	}
	w.note(line)
}

// edit converges words and returns the log.
func edit(t *testing.T, options host.Options, plan, failOnError bool, names ...string) []string {
	t.Helper()
	provider := words(t)
	base, err := resource.NewRegistry(provider)
	require.NoError(t, err)
	var b catalog.Builder
	for _, n := range names {
		tab := &schema.Table{Entries: []schema.Entry{{Key: "name", Val: schema.StringValue(n)}}}
		r, err := provider.Type.Decode(tab, resource.Origin{})
		require.NoError(t, err)
		_, err = b.Add(r)
		require.NoError(t, err)
	}
	c, err := b.Build()
	require.NoError(t, err)
	if options.Root == "" {
		options.Root = t.TempDir()
	}
	w := &fileLog{file: filepath.Join(options.Root, "words")}
	require.NoError(t, os.WriteFile(w.file, []byte("old\n"), 0o644))
	e := converge.Engine{Registry: base, Facts: facts.Static(nil), Reporters: []event.Reporter{w}, FailOnError: failOnError}
	h := host.New(options)
	if plan {
		e.Plan(t.Context(), &h.View, c)
	} else {
		e.Run(t.Context(), h, c)
	}
	return w.lines
}

// TestEditsInARow: each edit sees the result of those before it; events come after the file was written.
func TestEditsInARow(t *testing.T) {
	require.Equal(t, []string{
		"begin a | old ", "begin b | old ",
		"a changed, added a to old  | old a b ", "old stable | old a b ", "b changed, added b to old a  | old a b ",
	}, edit(t, host.Options{}, false, false, "a", "old", "b"))
	require.Equal(t, []string{
		"a pending, added a to old  | old ", "old stable | old ", "b pending, added b to old a  | old ",
	}, edit(t, host.Options{}, true, false, "a", "old", "b"))
}

// TestEditThatIsUndone: each edit is verified against its own result, not against that of later edits.
func TestEditThatIsUndone(t *testing.T) {
	require.Equal(t, []string{
		"begin a | old ", "begin -a | old ", "begin b | old ",
		"a changed, added a to old  | old b ", "-a changed, removed a | old b ", "b changed, added b to old  | old b ",
	}, edit(t, host.Options{}, false, false, "a", "-a", "b"))
}

// TestEditsThatSomebodyUndoes: a change of the file by others after the write is detected.
func TestEditsThatSomebodyUndoes(t *testing.T) {
	root := t.TempDir()
	lines := edit(t, host.Options{Root: root, Effect: func(op, _ string) error {
		if op == "syncdir" {
			return os.WriteFile(filepath.Join(root, "words"), []byte("b\n"), 0o644)
		}
		return nil
	}}, false, false, "a", "b")
	require.Equal(t, []string{"begin a | old ", "begin b | old ", "a failed, added a to old  | b ", "b changed, added b to old a  | b "}, lines)
}

// TestEditThatFails: the other edits are written.
func TestEditThatFails(t *testing.T) {
	require.Equal(t, []string{
		"begin a | old ", "begin bad | old ", "begin b | old ",
		"a changed, added a to old  | old a b ", "bad failed | old a b ", "b changed, added b to old a  | old a b ",
	}, edit(t, host.Options{}, false, false, "a", "bad", "b"))
	require.Equal(t, []string{
		"begin a | old ", "begin bad | old ",
		"a changed, added a to old  | old a ", "bad failed | old a ", "b skipped | old a ",
	}, edit(t, host.Options{}, false, true, "a", "bad", "b"))
}

// TestWriteOfEditsFails: all edits that would have changed the file fail.
func TestWriteOfEditsFails(t *testing.T) {
	full := errors.New("no space left")
	require.Equal(t, []string{
		"begin a | old ", "begin b | old ", "a failed | old ", "old stable | old ", "b failed | old ",
	}, edit(t, host.Options{Effect: func(op, _ string) error {
		if op == "rename" {
			return full
		}
		return nil
	}}, false, false, "a", "old", "b"))
}
