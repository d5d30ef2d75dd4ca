package http

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A download that fails leaves nothing, neither what came nor a mark beside it that it is
// yet to be extracted, and what stood there stays.
func TestFailedDownload(t *testing.T) {
	srv := serve(t, map[string][]byte{"app.tgz": app(t)})
	for name, change := range map[string]func(*resources.Archive){
		"not there":      func(a *resources.Archive) { a.URL = srv.url(t, "/gone.tar.gz") },
		"other checksum": func(a *resources.Archive) { a.Checksum = resources.Checksum(strings.Repeat("0", 64)) },
		"too large":      func(a *resources.Archive) { a.MaxDownload = 4 },
	} {
		for _, before := range []string{"", "old"} {
			h, root := machine(t)
			if before != "" {
				put(t, root, "/srv/app.tar.gz", []byte(before))
			}
			was := hosttest.Snapshot(t, root)
			want := srv.want(t, func(a *resources.Archive) { a.ExtractParent = "/opt/app"; change(a) })
			require.Error(t, archives{}.Download(t.Context(), h, want), name)
			require.Equal(t, was, hosttest.Snapshot(t, root), name)
		}
	}
}
