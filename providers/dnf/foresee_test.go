package dnf

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestForesee: dnf is asked what there is, and whether it can be installed together.
// Only where it cannot, it is asked about each.
func TestForesee(t *testing.T) {
	for _, x := range []struct {
		wants        []resources.Package
		caveats, err []string
		asked        []string
	}{
		{[]resources.Package{pkg("ccm-demo-rpm", "present")}, []string{"version 2.0-1.lab, with ccm-base"}, []string{""},
			[]string{"rpm -q", "dnf -q", "dnf install"}},
		{[]resources.Package{pkg("glibc", "2.34-60.el9"), pkg("ccm-demo-rpm-epoch", "latest")},
			[]string{"", "version 0.9-2.lab, the 2 packages come with ccm-base"}, []string{"", ""}, []string{"rpm -q", "dnf -q", "dnf install"}},
		{[]resources.Package{pkg("nosuch", "present"), pkg("ccm-demo-rpm-unmet", "present"), pkg("ccm-demo-rpm", "present"), pkg("ccm-vi", "9")},
			[]string{"", "", "version 2.0-1.lab", ""},
			[]string{"no repository has a package nosuch", "dnf could not install it: exit status 1: Error:\nProblem: conflicting requests\n- nothing provides ccm-demo-rpm-nonexistent", "",
				"no repository has version 9 of ccm-vi, but 1.0-1.lab"},
			[]string{"rpm -q", "dnf -q", "dnf install", "dnf install", "dnf install"}},
		{[]resources.Package{pkg("nosuch", "absent")}, []string{""}, []string{""}, []string{"rpm -q"}},
	} {
		m := newMachine()
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
		v := h.Planning(t.Context())
		list := packages{}.foresee(t.Context(), v, x.wants)
		for i, p := range list {
			require.Equal(t, x.caveats[i], p.Caveat, x.wants[i].Name)
			if x.err[i] == "" {
				require.NoError(t, p.Err, x.wants[i].Name)
			} else {
				require.ErrorContains(t, p.Err, x.err[i])
				require.False(t, p.Look.Found)
			}
		}
		require.Equal(t, x.asked, m.asked)

		// rpm has answered for the rest of the plan.
		_, err := packages{}.Status(t.Context(), v, x.wants[0])
		require.NoError(t, err)
		require.Equal(t, x.asked, m.asked)
	}
}
