package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state"
)

// If somebody else has corrected a file before it is replaced, it is checked again: content that is not managed
// stays, and other content is backed up before it is replaced.
func TestOvertaken(t *testing.T) {
	for name, x := range map[string]struct {
		wish decl
		want string
	}{
		"managed":     {file("/f", "ours"), "ours"},
		"not managed": {file("/f", "", props{"content": nil}), "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			overtaken := false
			b.effect = func(op, path string) error {
				if !overtaken && path == "/f" && (op == "link" || op == "rename") {
					overtaken = true
					b.write("f", "theirs", 0o600)
				}
				return nil
			}
			run, sum, err := b.run(cat(t, file("/a", "first"), x.wish, file("/b", "last")))
			require.NoError(t, err)
			require.Equal(t, 3, sum.Of(event.Changed), b.story())
			text, err := os.ReadFile(filepath.Join(b.root, "f"))
			require.NoError(t, err)
			require.Equal(t, x.want, string(text))
			fi, err := os.Stat(filepath.Join(b.root, "f"))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o644), fi.Mode())

			rec, err := b.store().Record(run.ID())
			require.NoError(t, err)
			for _, c := range rec.Changes {
				require.NotNil(t, c.After, c.Path)
				if c.Path != "/f" {
					continue
				}
				require.Equal(t, safepath.Regular, c.Before.Kind)
				if x.want == "theirs" {
					require.False(t, c.Content)
					require.Equal(t, state.Mode(0o600), c.Before.Mode)
					continue
				}
				kept, err := b.store().Content(c.Before.Object)
				require.NoError(t, err)
				require.Equal(t, "theirs", string(kept))
			}
		})
	}
}

// The result at a path is recorded even if two resources changed it, and the second one had its record in advance.
func TestForetoldBySecond(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o600)
	require.NoError(t, os.MkdirAll(b.dir, 0o700))
	run, h, err := b.begin("run")
	require.NoError(t, err)
	c := cat(t, file("/f", "new"), file("/other", "x"))
	run.AddCatalog(c)
	first, second := c.Resources[1], c.Resources[0]
	require.NoError(t, h.OnBehalfOf(first).SetAttr("/f", safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o640}))
	run.Event(&event.Event{Resource: first, Outcome: event.Changed})
	info, err := h.Lstat("/f")
	require.NoError(t, err)
	next := info
	next.Size = 3
	require.NoError(t, run.BeforeChange(&h.View, host.PreImage{Path: "/f", Info: info, Content: true, Next: &next, For: second}))
	run.Event(&event.Event{Resource: second, Outcome: event.Changed})
	require.NoError(t, run.End(event.Summary{}))
	rec, err := b.store().Record(run.ID())
	require.NoError(t, err)
	require.Len(t, rec.Changes, 1)
	require.NotNil(t, rec.Changes[0].After)
}
