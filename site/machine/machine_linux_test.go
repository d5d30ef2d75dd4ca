package machine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/site/machine"
)

// Without root, what can be read is found, and the rest is listed with the advice to be root.
func TestScanWithoutRoot(t *testing.T) {
	root := debian.with(tree{"etc/shop/shop.conf": "workers = 2\n", "etc/private/x": "x", "etc/shop/new": "x", "opt/closed/x": "x"}).write(t)
	for _, name := range []string{"etc/shop/shop.conf", "etc/private", "opt/closed"} {
		at := filepath.Join(root, name)
		require.NoError(t, os.Chmod(at, 0))
		t.Cleanup(func() { require.NoError(t, os.Chmod(at, 0o700)) })
	}
	for at := root; at != "/"; at = filepath.Dir(at) { // others may look into the directories of the test
		if info, err := os.Stat(at); err == nil && info.Mode().Perm()&0o005 == 0 {
			require.NoError(t, os.Chmod(at, info.Mode().Perm()|0o055))
		}
	}
	var s *machine.Scan
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // it has another user for files, and ends with the goroutine
			const nobody = 65534
			if err = errors.Join(syscall.Setfsgid(nobody), syscall.Setfsuid(nobody)); err != nil {
				return
			}
		}
		s, err = machine.Read(t.Context(), view(root), machine.Options{Only: []string{"packages", "files"}})
	}()
	<-done
	require.NoError(t, err)
	require.Contains(t, ids(s), "package#shop")
	require.Contains(t, ids(s), "file#/etc/shop/new")
	for _, name := range []string{"/etc/shop/shop.conf", "/etc/private", "/opt/closed"} {
		require.Equal(t, "permission denied: run the import as root", left(s, name), name)
	}
}
