package apt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A package of an architecture that dpkg does not take is refused in a plan and in a run, although apt offers it.
func TestForeignArchitecture(t *testing.T) {
	for foreign, refused := range map[string]string{
		"": "architecture i386 is not enabled, only amd64 (run dpkg --add-architecture i386, then apt-get update)", "i386\n": "",
	} {
		m := newMachine()
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
			switch {
			case slices.Equal(c.Argv, []string{"dpkg", "--print-architecture"}):
				return ok("amd64\n"), nil
			case slices.Equal(c.Argv, []string{"dpkg", "--print-foreign-architectures"}):
				return ok(foreign), nil
			}
			return m.Answer(c)
		}})
		want := pkg("ccm-ma:i386", "present")
		planned := packages{}.PredictAll(t.Context(), &h.View, []resources.Package{want})[0].Err
		did := packages{}.Install(t.Context(), h, want)
		for _, err := range []error{planned, did} {
			if refused == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, refused)
			}
		}
	}
}
