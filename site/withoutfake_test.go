package site

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/fake"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/systembus"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// TestWithoutFake: in a spec, a type without a model cannot act on the real machine. Its commands do nothing, its
// files are below the root, and there is neither network nor bus.
func TestWithoutFake(t *testing.T) {
	s, err := schema.Make("", []schema.Property{{Name: "name", Type: reflect.TypeFor[string](), IsName: true}})
	require.NoError(t, err)
	outside := filepath.Join(t.TempDir(), "outside")
	f, err := resource.Functions{
		Name: "real", Provider: "real", Schema: s,
		Status: func(context.Context, *host.View, *resource.Properties) (any, error) { return nil, nil },
		Decide: func(*resource.Properties, any) (d resource.Decision) { d.AddAction("do", "done"); return d },
		Perform: func(ctx context.Context, h *host.Host, _ *resource.Properties, _ resource.Action) error {
			_, err := h.Run(ctx, host.Cmd{Argv: []string{"touch", outside}})
			require.NoError(t, err)
			attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
			require.NoError(t, h.MakeDirectory(filepath.Dir(outside), safepath.Attr{UID: attr.UID, GID: attr.GID, Mode: 0o755}))
			require.NoError(t, h.WriteFile(outside, strings.NewReader("real"), attr))
			_, err = h.Sources().Open(ctx, "http://127.0.0.1:1/x")
			require.ErrorIs(t, err, errNoNetwork)
			_, err = h.QueryBus(ctx, []systembus.Call{{}})
			require.ErrorContains(t, err, "system bus not available")
			return nil
		},
	}.Bind()
	require.NoError(t, err)
	m := fake.New()
	m.Converge()
	root := t.TempDir()
	real, err := resource.NewRegistry(f)
	require.NoError(t, err)
	kept := m.Providers(real)
	require.Len(t, kept, 1)
	r, err := f.Type.Decode(&schema.Table{Entries: []schema.Entry{{Key: "name", Val: schema.StringValue("n")}}}, resource.Origin{})
	require.NoError(t, err)
	require.NoError(t, kept[0].Perform(t.Context(), imaginedHost(m, root, nil), r.Spec, resource.Action{Verb: "do"}))
	require.NoFileExists(t, outside)
	require.FileExists(t, filepath.Join(root, outside))
}
