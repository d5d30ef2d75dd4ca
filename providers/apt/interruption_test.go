package apt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Half-installed packages are configured once before apt is tried again; if apt still fails, both errors are
// reported.
func TestInterrupted(t *testing.T) {
	refusal := failed(100, "", "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. \n")
	for _, mended := range []bool{true, false} {
		m, isMended := newMachine(), false
		var did []string
		r := &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			switch {
			case c.Argv[0] == "dpkg":
				did = append(did, c.String())
				require.Contains(t, c.Env, "DEBIAN_FRONTEND=noninteractive")
				if isMended = mended; !mended {
					return failed(1, "", "dpkg: error processing package x (--configure):\n"), nil
				}
				return ok(""), nil
			case c.Argv[0] == "apt-get":
				did = append(did, c.Argv[0])
				if !isMended {
					return refusal, nil
				}
			}
			return m.Answer(c)
		}}
		h, _ := hosttest.New(t, r)
		err := packages{}.Install(t.Context(), h, pkg("ccm-demo", "1.0"))
		require.Equal(t, []string{"apt-get", "dpkg --force-confold --configure -a", "apt-get"}, did)
		if mended {
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(m.db["ccm-demo"], func(e *entry) bool { return e.status == "installed" }))
			continue
		}
		require.ErrorContains(t, err, "E: dpkg was interrupted")
		require.ErrorContains(t, err, "dpkg: error processing package x")
	}
}
