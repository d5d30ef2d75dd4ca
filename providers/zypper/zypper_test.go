package zypper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "rhel") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, false) }

// answer answers as rpm 4.18 and zypper 1.14 did in a lab.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	if argv[0] == "rpm" {
		out := ""
		for _, name := range argv[2 : len(argv)-2] {
			if version, release, ok := strings.Cut(m.DB[name], "-"); ok {
				out += name + " 0 " + version + " " + release + " noarch\tMIT\t(none)\tsummary\ndescription\n\x1e\n"
			} else {
				out += "package " + name + " is not installed\n"
			}
		}
		return pkgtooltest.OK(out), nil
	}
	argv = slices.DeleteFunc(argv[1:], func(s string) bool { return s == "--non-interactive" || s == "--no-refresh" || s == "--xmlout" })
	solvables := func(name string, versions ...string) (out string) {
		for _, v := range versions {
			out += fmt.Sprintf("<solvable status=\"not-installed\" name=%q kind=\"package\" edition=%q arch=\"noarch\" repository=\"ccm lab\"/>\n", name, v)
		}
		return out
	}
	const begin, end = "<?xml version='1.0'?>\n<stream>\n<message type=\"info\">Reading installed packages...</message>\n", "</stream>\n"
	specs := func(words []string) (list []string) {
		for _, s := range words {
			if !strings.HasPrefix(s, "-") {
				list = append(list, strings.Replace(s, "=0:", "=", 1))
			}
		}
		return list
	}
	switch {
	case argv[0] == "search":
		list := ""
		for _, name := range argv[5:] {
			list += solvables(name, m.Repo[name]...)
		}
		if list == "" {
			return pkgtooltest.Failed(104, begin+"<message type=\"info\">No matching items found.</message>\n"+end, ""), nil
		}
		return pkgtooltest.OK(begin + "<search-result version=\"0.0\">\n<solvable-list>\n" + list + "</solvable-list>\n</search-result>\n" + end), nil
	case slices.Contains(argv, "--dry-run"):
		list := solvables("base", "1.0")
		for _, s := range specs(argv[1:]) {
			if s == "unmet" {
				return pkgtooltest.Failed(4, begin+"<prompt id=\"1\">\n<description>Problem: nothing provides nosuch needed by unmet-1.0-1.noarch\n Solution 1: do not install unmet\n</description>\n<text>Choose</text></prompt>\n"+end, ""), nil
			}
			list += solvables(s, "1.0")
		}
		tag := map[string]string{"install": "to-install", "remove": "to-remove"}[argv[0]]
		return pkgtooltest.OK(begin + "<install-summary packages-to-change=\"2\">\n<" + tag + ">\n" + list + "</" + tag + ">\n</install-summary>\n" + end), nil
	case argv[0] == "install":
		if spec := m.Install("=", specs(argv[1:])); spec != "" {
			return pkgtooltest.Failed(104, "", "Package '"+spec+"' not found.\n"), nil
		}
		return pkgtooltest.Failed(restartNeeded, "", ""), nil
	case argv[0] == "remove":
		for _, name := range argv[1:] {
			delete(m.DB, name)
		}
		return pkgtooltest.OK(""), nil
	case argv[0] == "addlock" || argv[0] == "removelock":
		m.Holds[argv[1]] = argv[0] == "addlock"
		return pkgtooltest.OK(""), nil
	case argv[0] == "locks":
		list := ""
		for name, held := range m.Holds {
			if held {
				list += "<lock number=\"1\"><name>" + name + "</name><type>package</type></lock>\n"
			}
		}
		return pkgtooltest.OK(begin + "<locks size=\"1\">" + list + "</locks>" + end), nil
	}
	return host.Result{}, fmt.Errorf("command %q not found", c)
}

// What the plan tells of packages that come, go and cannot come.
func TestPredict(t *testing.T) {
	m := &pkgtooltest.Machine{Repo: map[string][]string{"demo": {"1.0-1", "2.0-1"}, "unmet": {"1.0-1"}}, DB: map[string]string{"gone": "1.0-1"}}
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }})
	list := packages.PredictAlike(t.Context(), h.Planning(t.Context()), []resources.Package{pkgtooltest.Package("demo", "present"), pkgtooltest.Package("gone", "absent")})
	require.Equal(t, "version 2.0-1, with base", list[0].Caveat)
	require.Equal(t, []string{"base"}, list[0].Installs)
	require.Equal(t, "removes base too", list[1].Caveat)
	require.True(t, list[1].Lost)
	list = packages.PredictAlike(t.Context(), h.Planning(t.Context()), []resources.Package{pkgtooltest.Package("unmet", "present")})
	require.EqualError(t, list[0].Err, "zypper could not install it: exit status 4: Problem: nothing provides nosuch needed by unmet-1.0-1.noarch")
}

// An upgrade brings what the new version needs, and fails in the plan if zypper refuses it, unless something
// is removed before.
func TestPredictUpgrades(t *testing.T) {
	m := &pkgtooltest.Machine{
		Repo: map[string][]string{"demo": {"1.0-1", "2.0-1"}, "unmet": {"1.0-1", "2.0-1"}},
		DB:   map[string]string{"demo": "1.0-1", "unmet": "1.0-1", "gone": "1.0-1"},
	}
	predict := func(wants ...resources.Package) []resource.Prediction {
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }})
		return packages.PredictAlike(t.Context(), h.Planning(t.Context()), wants)
	}
	list := predict(pkgtooltest.Package("demo", "latest"), pkgtooltest.Package("unmet", "latest"))
	require.NoError(t, list[0].Err)
	require.ErrorContains(t, list[1].Err, "nothing provides nosuch needed by unmet")
	require.Equal(t, "version 2.0-1, with base", predict(pkgtooltest.Package("demo", "latest"))[0].Caveat)
	require.NoError(t, predict(pkgtooltest.Package("gone", "absent"), pkgtooltest.Package("unmet", "latest"))[1].Err)
}

// A package that is only installed is not available from a repository, and invalid XML is an error.
func TestOffers(t *testing.T) {
	res := pkgtooltest.OK("<stream><search-result><solvable-list><solvable name=\"demo\" edition=\"7-1\" arch=\"noarch\" repository=\"(System Packages)\"/>" +
		"<solvable name=\"demo\" edition=\"1:0.9-2\" arch=\"noarch\" repository=\"x\"/></solvable-list></search-result></stream>")
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return res, nil }})
	wants := []resources.Package{pkgtooltest.Package("demo.noarch", "present")}
	list, err := offers(t.Context(), &h.View, wants, make([]resources.PackageState, 1))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"1:0.9-2"}}, list)

	res = pkgtooltest.Failed(7, "System management is locked by the application with pid 1 (zypper).\n", "")
	h, _ = hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return res, nil }})
	_, err = offers(t.Context(), &h.View, wants, make([]resources.PackageState, 1))
	require.ErrorContains(t, err, "zypper search: expected XML")
}

// A package on hold is released for a change, and is on hold again afterwards, also if that fails.
func TestHoldOutlastsFailure(t *testing.T) {
	for version, isThere := range map[string]bool{"2.0-1": true, "9-9": false} {
		m := &pkgtooltest.Machine{Repo: map[string][]string{"demo": {"1.0-1", "2.0-1"}}, DB: map[string]string{"demo": "1.0-1"}, Holds: map[string]bool{"demo": true}}
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) { return answer(m, c) }})
		want := pkgtooltest.Package("demo", version)
		want.Hold = new(true)
		have, err := packages.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		for _, a := range want.Decide(have).Actions {
			if err == nil {
				err = want.Perform(t.Context(), h, packages, a)
			}
		}
		require.Equal(t, isThere, err == nil, err)
		require.True(t, m.Holds["demo"], version)
	}
}
