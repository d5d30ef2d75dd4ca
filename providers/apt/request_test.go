package apt

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Properties other than the version become arguments of the command, or separate commands.
func TestWishes(t *testing.T) {
	const install = "apt-get install -y -q -o DPkg::Options::=--force-confold -o DPkg::Lock::Timeout=600 "
	yes, no := new(true), new(false)
	dir := t.TempDir()
	for _, name := range []string{"ccm-demo_1.1.deb", "ccm-other_1.1.deb", "text.deb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	deb := filepath.Join(dir, "ccm-demo_1.1.deb")
	for _, x := range []struct {
		name     string
		have     *entry
		want     resources.Package
		commands []string // what changes something
		err      string
	}{
		{"options", nil, resources.Package{Ensure: "present", Options: []string{"--no-install-recommends", "-t", "stable"}}, []string{install + "--no-install-recommends -t stable ccm-demo"}, ""},
		{"options of a removal", &entry{version: "1.0"}, resources.Package{Ensure: "absent", Options: []string{"--auto-remove"}},
			[]string{"apt-get -q -y -o DPkg::Lock::Timeout=600 remove --auto-remove ccm-demo"}, ""},
		{"constraint", nil, resources.Package{Ensure: ">= 1.0, < 2"}, []string{install + "--allow-downgrades ccm-demo=1.1"}, ""},
		{"constraint that holds", &entry{version: "1.0"}, resources.Package{Ensure: "< 2"}, nil, ""},
		{"constraint that is violated", &entry{version: "2.0"}, resources.Package{Ensure: "!= 1.1, <2"}, []string{install + "--allow-downgrades ccm-demo=1.0"}, ""},
		{"constraint of an absent one that cannot be had", nil, resources.Package{Ensure: "> 3"}, nil, "apt cannot find version > 3 of ccm-demo, only 2.0, 1.1, 1.0"},
		{"no downgrade on the way up", &entry{version: "1.0"}, resources.Package{Ensure: "2.0", AllowDowngrade: no}, []string{install + "ccm-demo=2.0"}, ""},
		{"hold", nil, resources.Package{Ensure: "1.0", Hold: yes}, []string{install + "--allow-downgrades ccm-demo=1.0", "apt-mark hold ccm-demo"}, ""},
		{"manual", &entry{version: "1.0", automatic: true}, resources.Package{Ensure: "present", Manual: true}, []string{"apt-mark manual ccm-demo"}, ""},
		{"manual already", &entry{version: "1.0"}, resources.Package{Ensure: "present", Manual: true}, nil, ""},
		{"held", &entry{version: "1.0", want: "hold"}, resources.Package{Ensure: "1.0", Hold: yes}, nil, ""},
		{"held in another version", &entry{version: "1.0", want: "hold"}, resources.Package{Ensure: "2.0", Hold: yes},
			[]string{"apt-mark unhold ccm-demo", install + "--allow-downgrades ccm-demo=2.0", "apt-mark hold ccm-demo"}, ""},
		{"release", &entry{version: "1.0", want: "hold"}, resources.Package{Ensure: "present", Hold: no}, []string{"apt-mark unhold ccm-demo"}, ""},
		{"release and remove", &entry{version: "1.0", want: "hold"}, resources.Package{Ensure: "absent", Hold: no},
			[]string{"apt-mark unhold ccm-demo", "apt-get -q -y -o DPkg::Lock::Timeout=600 remove ccm-demo"}, ""},
		{"purge", &entry{version: "1.0", edited: true}, resources.Package{Ensure: "purged"}, []string{"apt-get -q -y -o DPkg::Lock::Timeout=600 purge ccm-demo"}, ""},
		{"purge what is left", &entry{version: "1.0", status: "config-files"}, resources.Package{Ensure: "purged"}, []string{"apt-get -q -y -o DPkg::Lock::Timeout=600 purge ccm-demo"}, ""},
		{"absent leaves what is left", &entry{version: "1.0", status: "config-files"}, resources.Package{Ensure: "absent"}, nil, ""},
		{"file", nil, resources.Package{Ensure: "present", Source: deb}, []string{install + "--allow-downgrades " + deb}, "Unable to locate"}, // the machine knows no files
		{"missing file", nil, resources.Package{Ensure: "present", Source: deb + "x"}, nil, "open " + deb + "x: no such file or directory"},
		{"file of another version", nil, resources.Package{Ensure: "1.2", Source: deb}, nil, "expected a source with version 1.2 of ccm-demo, found 1.1 in it"},
		{"file of another package", nil, resources.Package{Ensure: "1.1", Source: dir + "/ccm-other_1.1.deb"}, nil, "expected a source with the package ccm-demo, found ccm-other 1.1 in it"},
		{"file that is none", nil, resources.Package{Ensure: "present", Source: dir + "/text.deb"}, nil, "expected a package as source: dpkg-deb: error: '" + dir + "/text.deb' is not a Debian format archive"},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := newMachine()
			if x.have != nil {
				if x.have.status == "" {
					x.have.status = installed
				}
				m.with("ccm-demo", *x.have)
			}
			x.want.Name = "ccm-demo"
			require.NoError(t, x.want.Validate())
			ran, err := perform(t, m, x.want)
			if x.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.err)
			}
			var changes []string
			for _, s := range ran {
				if strings.HasPrefix(s, "apt-get") || strings.HasPrefix(s, "apt-mark") && !strings.HasPrefix(s, "apt-mark show") {
					changes = append(changes, s)
				}
			}
			require.Equal(t, x.commands, changes)
		})
	}
}

// forgetIndex makes a process that has not read the index.
func forgetIndex(t *testing.T) {
	old := tool
	t.Cleanup(func() { tool = old })
	tool = newTool()
}

// The index is read again before an installation if it is older than desired, and where it
// does not have a package and is older than a day: once.
func TestIndex(t *testing.T) {
	stale, fresh := 25*time.Hour, 2*time.Hour
	for _, x := range []struct {
		name    string
		age     time.Duration
		wants   []resources.Package
		updates int
		plan    string
		err     string
	}{
		{"old enough to be left alone", fresh, []resources.Package{{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(stale)}}, 0, "version 2.0", ""},
		{"too old", fresh, []resources.Package{{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(time.Hour)}, {Name: "ccm-ma", Ensure: "present", Refresh: host.Duration(time.Hour)}}, 1,
			"version 2.0, the package index is 2 hours old and would be refreshed first", ""},
		{"nobody requires it", stale, []resources.Package{{Name: "ccm-demo", Ensure: "present"}}, 0, "version 2.0", ""},
		{"new", stale, []resources.Package{{Name: "ccm-new", Ensure: "present"}}, 1,
			"not in the package index, which is 25 hours old and would be refreshed first", ""},
		{"only named by other packages", stale, []resources.Package{{Name: "ccm-named", Ensure: "present"}}, 1,
			"not in the package index, which is 25 hours old and would be refreshed first", ""},
		{"only named by other packages, with a version", stale, []resources.Package{{Name: "ccm-named", Ensure: "1.0"}}, 1,
			"not in the package index, which is 25 hours old and would be refreshed first", ""},
		{"new, and the index is not old", fresh, []resources.Package{{Name: "ccm-new", Ensure: "present"}}, 0, "", "apt is unable to locate package ccm-new"},
		{"of the future, and required", -fresh, []resources.Package{{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(stale)}, {Name: "ccm-ma", Ensure: "present", Refresh: host.Duration(stale)}}, 1,
			"version 2.0, the package index is dated in the future and would be refreshed first", ""},
		{"new, and the index is of the future", -stale, []resources.Package{{Name: "ccm-new", Ensure: "present"}}, 1,
			"not in the package index, which is dated in the future and would be refreshed first", ""},
		{"a clock that differs a little", -time.Minute, []resources.Package{{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(stale)}}, 0, "version 2.0", ""},
		{"not there", stale, []resources.Package{{Name: "nosuch", Ensure: "present"}}, 1,
			"not in the package index, which is 25 hours old and would be refreshed first", "apt is unable to locate package nosuch"},
	} {
		t.Run(x.name, func(t *testing.T) {
			forgetIndex(t)
			m := newMachine()
			m.upstream = map[string][]release{"ccm-new": {{version: "1.0", arch: "all"}}, "ccm-named": {{version: "1.0", arch: "all"}}}
			m.virtual["ccm-named"] = []string{}
			h, root := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
			lists := filepath.Join(root, "var/lib/apt/lists")
			require.NoError(t, os.MkdirAll(lists, 0o755))
			for name, age := range map[string]time.Duration{"deb_InRelease": x.age, "deb_Packages": 2 * x.age} {
				file := filepath.Join(lists, name)
				require.NoError(t, os.WriteFile(file, nil, 0o600))
				require.NoError(t, os.Chtimes(file, time.Time{}, h.Now().Add(-age)))
			}
			list := packages{}.predict(t.Context(), h.Planning(t.Context()), x.wants)
			require.Equal(t, x.plan, list[0].Caveat)
			require.Zero(t, m.updates, "a plan refreshes nothing")
			for _, want := range x.wants {
				err := packages{}.Install(t.Context(), h, want)
				if x.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, x.err)
				}
			}
			require.Equal(t, x.updates, m.updates)
		})
	}
}

// A newer version may come with a newer index: only then is anything changed.
func TestLatestOfOldIndex(t *testing.T) {
	for newer, phrases := range map[bool]string{true: "upgraded to latest", false: "upgraded to latest"} {
		forgetIndex(t)
		m := newMachine().with("ccm-demo", entry{version: "2.0", status: installed})
		if newer {
			m.upstream = map[string][]release{"ccm-demo": {{version: "3.0", arch: "all"}}}
		}
		h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
		want := resources.Package{Name: "ccm-demo", Ensure: "latest", Refresh: host.Duration(24 * time.Hour)}
		have, err := packages{}.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		d := want.Decide(have)
		require.Equal(t, "the package index is missing and is refreshed first", d.Uncertain)
		require.Equal(t, phrases, d.Actions[0].Phrase)
		err = want.Perform(t.Context(), h, packages{}, d.Actions[0])
		if newer {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "nothing was changed")
		}
		have, err = packages{}.Status(t.Context(), &h.View, want)
		require.NoError(t, err)
		require.True(t, want.Decide(have).Stable())
		require.Equal(t, map[bool]string{true: "3.0", false: "2.0"}[newer], have.Metadata.Version)
	}
}

// An index that cannot be read is not tried for each package.
func TestIndexFails(t *testing.T) {
	forgetIndex(t)
	m := newMachine()
	m.updateFails = true
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: m.Answer})
	for range 3 {
		err := packages{}.Install(t.Context(), h, resources.Package{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(time.Hour)})
		require.ErrorContains(t, err, "cannot refresh the package index, which is missing: apt-get update")
	}
	require.Equal(t, 1, m.updates)
}

// Apt touches the directory of its downloads even where it can read no index. The old index stays
// old, for the other packages of the run and for the next run.
func TestIndexFailsStaysOld(t *testing.T) {
	forgetIndex(t)
	m := newMachine()
	m.updateFails = true
	var partial string
	h, root := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		if c.Argv[0] == "touch" {
			at, err := strconv.ParseInt(strings.TrimPrefix(c.Argv[2], "--date=@"), 10, 64)
			require.NoError(t, err)
			return host.Result{}, os.Chtimes(partial, time.Time{}, time.Unix(at, 0))
		}
		if slices.Contains(c.Argv, "update") {
			require.NoError(t, os.Chtimes(partial, time.Time{}, time.Now().Add(100*time.Hour)))
		}
		return m.Answer(c)
	}})
	partial = filepath.Join(root, "var/lib/apt/lists/partial")
	require.NoError(t, os.MkdirAll(partial, 0o755))
	require.NoError(t, os.Chtimes(partial, time.Time{}, h.Now().Add(-72*time.Hour)))
	want := resources.Package{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(24 * time.Hour)}
	for range 2 {
		require.ErrorContains(t, packages{}.Install(t.Context(), h, want), "cannot refresh the package index, which is 3 days old: apt-get update")
	}
	require.Equal(t, 1, m.updates)
	forgetIndex(t)
	require.Equal(t, "3 days old", tool.OlderIndex(t.Context(), &h.View, want))
}

// A file of the index with a date in the future, from when the clock was ahead, does not make the index new: the others
// count.
func TestIndexPartlyOfTheFuture(t *testing.T) {
	forgetIndex(t)
	h, root := hosttest.New(t, nil)
	lists := filepath.Join(root, "var/lib/apt/lists")
	require.NoError(t, os.MkdirAll(filepath.Join(lists, "partial"), 0o755))
	require.NoError(t, os.Chtimes(filepath.Join(lists, "partial"), time.Time{}, h.Now().AddDate(70, 0, 0)))
	require.NoError(t, os.WriteFile(filepath.Join(lists, "deb_InRelease"), nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(lists, "deb_InRelease"), time.Time{}, h.Now().Add(-72*time.Hour)))
	want := resources.Package{Name: "ccm-demo", Ensure: "present", Refresh: host.Duration(24 * time.Hour)}
	require.Equal(t, "3 days old", tool.OlderIndex(t.Context(), &h.View, want))
}
