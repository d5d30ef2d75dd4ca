package posix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestRecall: a file is compared with what its source held, whatever it holds.
func TestRecall(t *testing.T) {
	h, root := hosttest.New(t, nil)
	source := filepath.Join(t.TempDir(), "source")
	at := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(source, []byte("then"), 0o600))
	mode := new(resources.Mode)
	require.NoError(t, mode.UnmarshalText([]byte("0640")))
	want := resources.File{Name: "/f", Ensure: resources.FilePresent, Owner: resources.Unmanaged, Group: resources.Unmanaged, Mode: mode, Source: &source}
	wish := status(t, h, want).CurrentWish()
	require.Equal(t, host.SumBytes([]byte("then")), wish)
	recall := func(wish string) (*resources.FileState, []string) {
		t.Helper()
		have, err := files{}.Recall(t.Context(), &h.View, want, wish)
		require.NoError(t, err)
		d := want.Decide(have)
		require.NoError(t, d.Err)
		var differs []string
		for _, x := range d.Diff {
			differs = append(differs, x.Property)
		}
		if d.Text != nil { // it would be that of another content
			_, err := d.Text(&h.View)
			require.EqualError(t, err, "the source holds something else")
		}
		return &have, differs
	}
	require.NoError(t, converge(t, h, want))
	require.NoError(t, os.WriteFile(source, []byte("now"), 0o600))
	_, differs := recall(wish)
	require.Empty(t, differs)
	require.NoError(t, os.WriteFile(at, []byte("now"), 0o640))
	have, differs := recall(wish)
	require.Equal(t, []string{"content"}, differs)
	require.Equal(t, wish, have.WantChecksum)
	_, differs = recall("") // nobody knows, so the source says it
	require.Empty(t, differs)
	require.NoError(t, os.Chmod(at, 0o600))
	_, differs = recall(host.SumBytes([]byte("now")))
	require.Equal(t, []string{"mode"}, differs)
	require.NoError(t, os.Remove(source))
	require.NoError(t, os.Remove(at))
	have, err := &resources.FileState{}, error(nil)
	*have, err = files{}.Recall(t.Context(), &h.View, want, wish)
	require.NoError(t, err)
	require.Equal(t, wish, have.WantChecksum)
	require.Equal(t, host.Missing, have.Kind)
}
