package dnf

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

// TestPredict: dnf lists the available packages, and checks whether they can be installed together. Only if not,
// there is a call for each.
func TestPredict(t *testing.T) {
	pkgtooltest.Predict(t, "/var/cache/dnf/x/repodata/repomd.xml", []pkgtooltest.PredictionCase{
		{Wants: []resources.Package{pkg("ccm-demo-rpm", "present")}, Caveats: []string{"version 2.0-1.lab, with ccm-base"}, Errs: []string{""},
			CommandsRun: []string{"rpm -q", "dnf -q", "dnf install"}},
		{Wants: []resources.Package{pkg("glibc", "2.34-60.el9"), pkg("ccm-demo-rpm-epoch", "latest")},
			Caveats: []string{"", "version 0.9-2.lab, the 2 packages also change ccm-base"}, Errs: []string{"", ""}, CommandsRun: []string{"rpm -q", "dnf -q", "dnf install"}},
		{Wants: []resources.Package{pkg("nosuch", "present"), pkg("ccm-demo-rpm-unmet", "present"), pkg("ccm-demo-rpm", "present"), pkg("ccm-vi", "9")},
			Caveats: []string{"", "", "version 2.0-1.lab", ""},
			Errs: []string{"no repository provides package nosuch", "dnf could not install it: exit status 1: Error:\nProblem: conflicting requests\n- nothing provides ccm-demo-rpm-nonexistent", "",
				"no repository provides version 9 of ccm-vi, only 1.0-1.lab"},
			CommandsRun: []string{"rpm -q", "dnf -q", "dnf install", "dnf install", "dnf install"}},
		{Wants: []resources.Package{pkg("nosuch", "absent")}, Caveats: []string{""}, Errs: []string{""}, CommandsRun: []string{"rpm -q"}},
	}, packages, packages.PredictAlike, func() (func(host.Cmd) (host.Result, error), func() []string) {
		m := newMachine()
		return m.Answer, func() []string { return m.asked }
	})
}

// TestRemovals: a package has the list of other packages that are removed with it, each once.
func TestRemovals(t *testing.T) {
	predict := func(wants ...resources.Package) []resource.Prediction {
		m := newMachine().with("ccm-demo-rpm-2.0", "ccm-demo-rpm-epoch-1.5", "ccm-vi", "glibc-2.34-60.el9.i686")
		m.db["ccm-gone"] = []build{{name: "ccm-gone", version: "1.0", release: "1", arch: "noarch"}}
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
		return packages.PredictAlike(t.Context(), h.Planning(t.Context()), wants)
	}
	list := predict(pkg("nosuch", "absent"), pkg("ccm-vi", "absent"), pkg("ccm-demo-rpm", "absent"), pkg("ccm-demo-rpm-epoch", "absent"), pkg("glibc.i686", "absent"))
	require.Equal(t, []resource.Prediction{{}, {}, {Removes: []string{"ccm-demo-rpm-epoch"}, Caveat: "removes ccm-demo-rpm-epoch too"}, {}, {}}, list)
	require.True(t, predict(pkg("ccm-gone", "absent"), pkg("ccm-base", "present"))[0].Lost)
	require.False(t, predict(pkg("ccm-vi", "absent"), pkg("ccm-base", "present"))[0].Lost)
	list = predict(pkg("ccm-demo-rpm-epoch", "absent"), pkg("ccm-demo-rpm", "absent"))
	require.Equal(t, []resource.Prediction{{}, {}}, list)
}

// TestRemovalTransaction parses output of dnf 4.14 from a lab.
func TestRemovalTransaction(t *testing.T) {
	require.Equal(t, pkgtool.Simulation{Removes: []string{"ccm-demo-rpm-dep", "ccm-demo-rpm"}}, parseSimulation(
		"Dependencies resolved.\n====\n Package                 Architecture  Version            Repository       Size\n====\nRemoving:\n"+
			" ccm-demo-rpm-dep        noarch        1.0-1.lab          @ccm-lab          0  \nRemoving unused dependencies:\n"+
			" ccm-demo-rpm            noarch        2.0-1.lab          @ccm-lab         47  \n\nTransaction Summary\n====\nRemove  2 Packages\n\nFreed space: 47  \n"))
}
