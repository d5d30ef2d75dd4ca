package dnf

import (
	"testing"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// TestForesee: dnf is asked what there is, and whether it can be installed together.
// Only where it cannot, it is asked about each.
func TestForesee(t *testing.T) {
	pkgtooltest.Foresee(t, []pkgtooltest.Foresight{
		{Wants: []resources.Package{pkg("ccm-demo-rpm", "present")}, Caveats: []string{"version 2.0-1.lab, with ccm-base"}, Errs: []string{""},
			CommandsRun: []string{"rpm -q", "dnf -q", "dnf install"}},
		{Wants: []resources.Package{pkg("glibc", "2.34-60.el9"), pkg("ccm-demo-rpm-epoch", "latest")},
			Caveats: []string{"", "version 0.9-2.lab, the 2 packages come with ccm-base"}, Errs: []string{"", ""}, CommandsRun: []string{"rpm -q", "dnf -q", "dnf install"}},
		{Wants: []resources.Package{pkg("nosuch", "present"), pkg("ccm-demo-rpm-unmet", "present"), pkg("ccm-demo-rpm", "present"), pkg("ccm-vi", "9")},
			Caveats: []string{"", "", "version 2.0-1.lab", ""},
			Errs: []string{"no repository has a package nosuch", "dnf could not install it: exit status 1: Error:\nProblem: conflicting requests\n- nothing provides ccm-demo-rpm-nonexistent", "",
				"no repository has version 9 of ccm-vi, but 1.0-1.lab"},
			CommandsRun: []string{"rpm -q", "dnf -q", "dnf install", "dnf install", "dnf install"}},
		{Wants: []resources.Package{pkg("nosuch", "absent")}, Caveats: []string{""}, Errs: []string{""}, CommandsRun: []string{"rpm -q"}},
	}, packages{}, packages{}.foresee, func() (func(host.Cmd) (host.Result, error), func() []string) {
		m := newMachine()
		return m.Answer, func() []string { return m.asked }
	})
}
