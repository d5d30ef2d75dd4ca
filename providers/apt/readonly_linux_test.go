package apt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestReadOnlyUsr: a plan fails where /usr is read-only. What needs no /usr does not: a hold, a mark, or nothing to do.
func TestReadOnlyUsr(t *testing.T) {
	m := newMachine()
	h, root := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
	usr := filepath.Join(root, "usr")
	require.NoError(t, os.Mkdir(usr, 0o755))
	held := pkg("ccm-demo-epoch", "present")
	held.Hold = new(true)
	marked := pkg("ccm-demo-epoch", "present")
	marked.Manual = true
	predict := func() (errs []string) {
		for _, p := range (packages{}).PredictAll(t.Context(), h.Planning(t.Context()), []resources.Package{pkg("ccm-demo", "present"), pkg("mawk", "absent"), held, marked}) {
			text := ""
			if p.Err != nil {
				text = p.Err.Error()
			}
			errs = append(errs, text)
		}
		return errs
	}
	require.Equal(t, []string{"", "", "", ""}, predict())
	err := unix.Mount("tmpfs", usr, "tmpfs", unix.MS_RDONLY, "")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENODEV) {
		t.Skipf("cannot mount: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Unmount(usr, unix.MNT_DETACH)) })
	readOnly := "/usr is on a read-only mount, " + usr + " (mount -o remount,rw " + usr + ")"
	require.Equal(t, []string{readOnly, readOnly, "", ""}, predict())
}
