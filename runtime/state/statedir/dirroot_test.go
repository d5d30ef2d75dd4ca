package statedir

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordedRoot: the records of an image name its root wherever it is mounted.
func TestRecordedRoot(t *testing.T) {
	at := func(dir string) *Dir { return New(dir, nil, nil) }
	for _, x := range []struct{ written, root, read, want string }{
		{"/srv/image/var/lib/ccm", "/srv/image", "/var/lib/ccm", "/"},                            // booted
		{"/var/lib/ccm", "/", "/mnt/var/lib/ccm", "/mnt"},                                        // and mounted elsewhere
		{"/srv/image/var/lib/ccm", "/srv/image", "/srv/copy/var/lib/ccm/", "/srv/copy"},          //
		{"/persist/var/lib/ccm", "/", "/persist/var/lib/ccm", "/"},                               // on a file system of its own
		{"/srv/state", "/srv/image", "/srv/state", "/srv/image"},                                 // elsewhere than in the image
		{"/var/lib/ccm", "/", "/srv/backup/ccm", "/"},                                            // a copy
		{"/srv/image/var/lib/ccm", "/srv/image/var", "/srv/other/var/lib/ccm", "/srv/image/var"}, // another root
	} {
		require.Equal(t, x.want, at(x.read).RootOf(at(x.written).RecordedRoot(x.root)), "%+v", x)
	}
	require.Equal(t, "/", at("/srv/image/var/lib/ccm").RootOf("/")) // as older versions write it
}
