package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// checkTold compares a plan and a run with lines like those of TestFreshMachine.
func (w *randomWorld) checkTold(t *testing.T, resources []string, inLua bool) {
	planned, ran := w.read(t, resources, inLua)
	plan, planStatus, err := w.tell(t, t.TempDir(), "plan", nil)
	require.NoError(t, err)
	run, runStatus, err := w.tell(t, t.TempDir(), "run", nil)
	require.NoError(t, err)
	_, text := w.site(nil)
	for _, d := range w.list {
		outcome, because, _ := strings.Cut(planned[d.id()], ":")
		because, forecast, _ := strings.Cut(because, ">")
		require.Equal(t, outcome, plan[d.id()].state(), "plan of %s %v\n%s", d.id(), plan[d.id()], text)
		require.Equal(t, ran[d.id()], run[d.id()].Outcome, "run of %s %v\n%s", d.id(), run[d.id()].Errors, text)
		if because != "" {
			n := len(plan[d.id()].Because)
			if !strings.Contains(because, ",") {
				n = 1
			}
			require.Equal(t, because, strings.Join(plan[d.id()].Because[:n], ","), d.id())
			require.NotNil(t, plan[d.id()].Forecast)
		}
		if forecast != "" {
			require.Equal(t, forecast, plan[d.id()].Forecast.Outcome, d.id())
		}
	}
	require.Equal(t, runStatus, planStatus, text)
}

// read parses the lines of checkTold.
func (w *randomWorld) read(t *testing.T, lines []string, inLua bool) (planned, ran map[string]string) {
	owner, group := hosttest.Me()
	planned, ran = make(map[string]string), make(map[string]string)
	for _, line := range lines {
		words := strings.Fields(strings.NewReplacer("D/", w.at(w.dir+"/"), "ROOT/", w.dir+"/").Replace(line))
		n := len(words) - 2
		d := declaration{kind: words[0], name: words[1], lua: inLua, after: make(map[string][]string)}
		mode := "0644"
		for _, word := range words[2:n] {
			key, value, _ := strings.Cut(word, "=")
			value = strings.ReplaceAll(value, "~", " ")
			switch key {
			case "require", "subscribe":
				d.after[key] = []string{value}
				continue
			case "mode":
				if mode = value; d.kind == "file" {
					continue
				}
			case "in":
				d.in = value
				continue
			case "refreshonly", "noop", "purge", "recurse", "parents", "uid", "gid":
				d.props = append(d.props, key, value)
				continue
			case "content":
				value += "\n"
			}
			if strings.HasPrefix(value, "{") {
				d.props = append(d.props, key, value)
				continue
			}
			d.props = append(d.props, key, quoteLua(value))
			if !inLua {
				d.props[len(d.props)-1] = strings.ReplaceAll(quoteLua(value), `\010`, `\n`)
			}
		}
		if d.kind == "file" && !strings.Contains(line, "absent") {
			if !strings.Contains(line, "owner=") {
				d.props = append(d.props, "owner", quoteLua(owner), "group", quoteLua(group))
			}
			d.props = append(d.props, "mode", quoteLua(mode))
		}
		w.list = append(w.list, d)
		planned[d.id()], ran[d.id()] = words[n], words[n+1]
	}
	return planned, ran
}

// TestPlannedAccounts: a plan knows the users and groups that earlier resources make, change and remove, as
// TestFreshMachine does for paths. The machine has an absolute link, and a user uc with a group of the same name, who
// is also in the group ga.
func TestPlannedAccounts(t *testing.T) {
	long(t)
	if !canDeclare(declaration{kind: "user"}) {
		t.Skip("needs root and the commands that change users")
	}
	key := "key=" + strings.ReplaceAll(publicKey(1), " ", "~")
	for name, resources := range map[string][]string{
		"a user brings its group": {
			"user ua pending changed",
			"group ua stable stable",
		},
		"the number of a group that a user brings": {
			"user ua uid=4011 pending changed",
			"group ua gid=4011 unknown:user#ua stable",
		},
		"the own group of a user that stays": {
			"group uc ensure=absent failed failed",
			"user uc comment=z pending changed",
		},
		"the own group of a user that gets another": {
			"group gn gid=4711 pending changed",
			"user uc group=gn pending changed",
		},
		"a link that commands follow to elsewhere": {
			"file D/there ensure=directory mode=0755 pending changed",
			"exec e command=true unless=test~-e~ROOT/l unknown:file#/there changed",
		},
		"a key of a user that is pending": {
			"user ub pending changed",
			"user ua pending changed",
			"user ud pending changed",
			"authorized_key k user=ua path=D/k " + key + " pending changed",
		},
		"a user takes its group along": {
			"user uc ensure=absent pending changed",
			"group uc pending changed",
		},
		"what belongs to a user that is removed": {
			"user uc ensure=absent pending changed",
			"file D/x content=x owner=uc group=0 failed failed",
			"authorized_key k user=uc path=D/k " + key + " failed failed",
		},
		"a group that is removed": {
			"group ga ensure=absent pending changed",
			"file D/x content=x owner=0 group=ga failed failed",
			"user uc groups={\"ga\"} failed failed",
		},
		"groups and members that are not there": {
			"user ua groups={\"gn\"} failed failed",
			"user ub group=gn failed failed",
			"group gb members={\"un\"} failed failed",
		},
		"groups and members that are pending": {
			"group gn pending changed",
			"user ua groups={\"gn\"} pending changed",
			"group gb members={\"ua\"} pending changed",
			"user uc groups={\"gb\",\"ga\"} pending changed",
			"group ga members={\"ua\",\"uc\"} pending changed",
		},
		"who is in a group already": {
			"user ua pending changed",
			"group gb members={\"uc\",\"ua\"} pending changed",
			"user uc groups={\"gb\",\"ga\"} stable stable",
		},
	} {
		for _, file := range []string{"site.lua", "site.yaml"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				isolate(t)
				w := &randomWorld{dir: filepath.Join(t.TempDir(), "D"), rooted: true, populated: true}
				w.start = entryList{{path: w.dir + "/etc/login.defs", text: "USERGROUPS_ENAB yes\n"}, {path: w.dir + "/l", target: "/there"}}
				w.populate(t)
				w.checkTold(t, resources, file == "site.lua")
			})
		}
	}
}
