package posix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// TestRecall: a file is compared with the recorded content of its source, whatever the content is.
func TestRecall(t *testing.T) {
	h, root := hosttest.New(t, nil)
	source := filepath.Join(t.TempDir(), "source")
	at := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(source, []byte("then"), 0o600))
	mode := new(resources.Mode)
	require.NoError(t, mode.UnmarshalText([]byte("0640")))
	want := resources.File{Name: "/f", Ensure: resources.FilePresent, Owner: resources.Unmanaged, Group: resources.Unmanaged, Mode: mode, Source: &source}
	recall := func(wish resource.DesiredDigest) (*resources.FileState, []string) {
		t.Helper()
		have, err := files{}.Recall(t.Context(), &h.View, want, wish)
		require.NoError(t, err)
		d := want.Decide(have)
		require.NoError(t, d.Err)
		var differs []string
		for _, x := range d.Diff {
			if x.Property == "content" {
				differs = append(differs, x.Have+" → "+x.Want)
			} else {
				differs = append(differs, x.Property)
			}
		}
		if d.Text != nil { // it would be that of another content
			_, err := d.Text(t.Context(), &h.View)
			require.EqualError(t, err, "the source differs")
		}
		return &have, differs
	}
	require.NoError(t, converge(t, h, want))
	wish := status(t, h, want).DesiredDigest()
	require.Equal(t, sha256sum.Bytes([]byte("then")), wish.Text, "the copy told it")
	require.NoError(t, os.WriteFile(source, []byte("now"), 0o600))
	old := resource.DesiredDigest{Text: wish.Text} // what earlier versions have recorded
	for _, wish := range []resource.DesiredDigest{wish, old} {
		_, differs := recall(wish)
		require.Empty(t, differs)
	}
	require.NoError(t, os.WriteFile(at, []byte("now"), 0o640))
	_, differs := recall(wish)
	require.Equal(t, []string{"3 bytes → 4 bytes"}, differs)
	now := sha256sum.Bytes([]byte("now"))
	_, differs = recall(old)
	require.Equal(t, []string{"sha256:" + now[:16] + " → sha256:" + wish.Text[:16]}, differs)
	_, differs = recall(resource.DesiredDigest{}) // nobody knows, so the source says it
	require.Empty(t, differs)
	require.NoError(t, os.WriteFile(at, []byte("NOW!"), 0o640))
	_, differs = recall(wish)
	require.Equal(t, []string{"sha256:" + sha256sum.Bytes([]byte("NOW!"))[:16] + " → sha256:" + wish.Text[:16]}, differs)

	require.NoError(t, os.WriteFile(at, []byte("now"), 0o640))
	require.NoError(t, os.Chmod(at, 0o600))
	_, differs = recall(resource.DesiredDigest{Text: now})
	require.Equal(t, []string{"mode"}, differs)
	require.NoError(t, os.Remove(source))
	require.NoError(t, os.Remove(at))
	have, err := files{}.Recall(t.Context(), &h.View, want, wish)
	require.NoError(t, err)
	require.Equal(t, wish.Text, have.WantChecksum)
	require.Equal(t, safepath.Missing, have.Kind)
	require.Equal(t, []resource.Delta{{Property: "ensure", Have: "absent", Want: "present"}, {Property: "content", Want: "4 bytes"}, {Property: "mode", Want: "0640"}}, want.Decide(have).Diff)
}
