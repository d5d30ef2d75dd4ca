package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// mostUnknown is how many of a hundred resources of random sites may be unknown because of
// others in a plan, mostUnknownOfFew how many of those of the first sites. They may only go down.
const (
	mostUnknown      = 15
	mostUnknownOfFew = 17
)

// A told is what is said of one resource.
type told struct {
	Type, Name, Outcome string
	Because             []string
	Errors              []string
	Reason              string
	Forecast            *struct {
		Outcome string
		Once    bool
		Refresh bool
		Errors  []string
	}
}

// tell runs a command and returns what it says of each resource.
func (w *randomWorld) tell(t *testing.T, sites, command string, out map[string]bool, flags ...string) (map[string]told, int, error) {
	args := append(slices.Clone(w.flags), flags...)
	if w.rooted {
		args = append(args, "--root", w.dir)
	}
	return w.tellOf(t, command, append(args, w.write(t, sites, out))...)
}

// tellOf is tell with the arguments of the command.
func (w *randomWorld) tellOf(t *testing.T, command string, args ...string) (map[string]told, int, error) {
	var stdout, stderr bytes.Buffer
	e := newEnv(strings.NewReader(""), &stdout, &stderr, host.RealClock{})
	e.Substitutes = randomMachine{filepath.Join(w.dir, "sys"), w.at}.providers()
	status := e.run(t.Context(), append([]string{command, "--output", "json"}, args...))
	all := make(map[string]told)
	for line := range strings.Lines(stdout.String()) {
		var x told
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			return nil, status, fmt.Errorf("%s: %w: %s\n%s", command, err, line, stderr.String())
		}
		if x.Type != "" {
			all[x.Type+"#"+x.Name] = x
		}
	}
	return all, status, nil
}

func archiveServer(t *testing.T) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, name := range []string{"inside", "top/inside"} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 2, Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte("1\n"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(buf.Bytes()) }))
	t.Cleanup(srv.Close)
	return srv.URL
}

// gitRepository returns a repository with one commit, or a path at which nothing is if there is
// no git.
func gitRepository(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "repo")
	if _, err := exec.LookPath("git"); err != nil {
		return dir
	}
	for _, words := range [][]string{{"init", "-q", dir}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"}} {
		out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return dir
}

// TestPlansComeTrue makes random sites on random machines, and compares what a plan
// says with what a run does. CCM_PLANS says how many, CCM_PLANS_SEED where to begin. Left out
// is what no plan knows: whether a URL answers, and what an archive holds.
// A site that fails is told with no more resources and files than it takes.
func TestPlansComeTrue(t *testing.T) {
	isolate(t)
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	url, repo := archiveServer(t), gitRepository(t)
	unknown, deeper, total := 0, 0, 0
	first := number("CCM_PLANS_SEED", 1)
	for seed := first; seed < first+number("CCM_PLANS", 60); seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			w := newRandomWorld(uint64(seed), t.TempDir(), url, repo)
			u, n, err := w.check(t)
			unknown, deeper, total = unknown+u, deeper+w.deeper, total+n
			if err != nil {
				small, err := w.shrunk(t, err)
				_, text := small.site(nil)
				t.Error(strings.ReplaceAll(fmt.Sprintf("%v\n%s\n%s", err, text, small.start), w.dir, "/D"))
			}
		})
	}
	t.Logf("%d of %d resources unknown, %.1f %%; %d times something else made a difference without the first causes", unknown, total, 100*float64(unknown)/float64(total), deeper)
	most := mostUnknown
	if total < 1000 {
		most = mostUnknownOfFew
	}
	if total > 200 {
		require.LessOrEqual(t, 100*unknown, most*total, "more is unknown than was")
	}
}

// shrunk returns a world of which nothing can be left out without an error of
// the check being gone, and that error.
func (w *randomWorld) shrunk(t *testing.T, err error) (*randomWorld, error) {
	small := *w
	for again := true; again; {
		again = false
		try := func(less randomWorld) bool {
			_, _, e := less.check(t)
			if e != nil {
				small, err, again = less, e, true
			}
			return e != nil
		}
		for i := len(small.list) - 1; i >= 0; i-- {
			less := small
			less.list = without(small.list, i)
			try(less)
		}
		for i := len(small.start) - 1; i >= 0; i-- {
			less := small
			less.start = slices.Delete(slices.Clone(small.start), i, i+1)
			try(less)
		}
	}
	return &small, err
}

// without returns declarations without one of them, and without references to it.
func without(list []declaration, i int) []declaration {
	id := list[i].id()
	list = slices.Delete(slices.Clone(list), i, i+1)
	for k := range list {
		after := make(map[string][]string)
		for relation, ids := range list[k].after {
			after[relation] = slices.DeleteFunc(slices.Clone(ids), func(x string) bool { return x == id })
		}
		list[k].after = after
	}
	return list
}

// check compares what a plan says with what a run does. It returns how many resources
// are unknown because of others.
func (w *randomWorld) check(t *testing.T) (unknown, total int, err error) {
	t.Setenv("CCM_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	sites := t.TempDir()
	w.populate(t)
	before := treeOf(t, w.dir)
	saved := filepath.Join(t.TempDir(), "saved.plan")
	plan, planned, err := w.tell(t, sites, "plan", nil, "--out", saved)
	if err != nil {
		return 0, 0, err
	}
	if after := treeOf(t, w.dir); !maps.Equal(before, after) {
		return 0, 0, fmt.Errorf("a plan changes %v to %v", before, after)
	}
	if planned == 1 {
		return 0, 0, nil // an edge leads in a circle, a path is declared twice, or nothing has the tag
	}
	known := true
	for _, d := range w.list {
		if plan[d.id()].Outcome == "unknown" {
			if len(plan[d.id()].Because) > 0 { // the others tell only once they have acted
				unknown++
			}
			known = false
			err = errors.Join(err, w.checkUnknown(t, t.TempDir(), d.id(), plan))
		}
	}
	// A saved plan is run as it was planned: nothing is refused.
	run, ran, runErr := w.tellOf(t, "run", saved)
	for id, x := range run {
		for _, text := range x.Errors {
			if strings.HasPrefix(text, "planned: ") {
				err = errors.Join(err, fmt.Errorf("%s: %s", id, text))
			}
		}
	}
	err = errors.Join(err, runErr, w.compare(plan, run))
	if known && err == nil && planned != ran {
		err = fmt.Errorf("a plan exits with %d, a run with %d", planned, ran)
	}
	return unknown, len(plan), err
}

// treeOf returns what stands below a directory, by path.
func treeOf(t *testing.T, dir string) map[string]string {
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all[path] = d.Type().String()
		switch d.Type() {
		case 0:
			text, err := os.ReadFile(path)
			all[path] += string(text)
			return err
		case os.ModeSymlink:
			target, err := os.Readlink(path)
			all[path] += target
			return err
		}
		return nil
	}))
	return all
}

// checkUnknown checks that a resource is known in a plan without all of those that it is unknown
// because of. One of them alone is not enough: two may each bring the same directory. It may be
// unknown there because of others that have another outcome without them, such as a command whose
// guard finds no directory any more, and of nothing else: then it is known without these as well.
func (w *randomWorld) checkUnknown(t *testing.T, sites, id string, plan map[string]told) error {
	out := make(map[string]bool)
	for now := plan; now[id].Outcome == "unknown"; {
		because := now[id].Because
		if len(because) == 0 && w.outputDecides(id) {
			return nil
		}
		if len(because) == 0 {
			return fmt.Errorf("%s is unknown because of nothing without %v", id, out)
		}
		for _, b := range because {
			if o := now[b].Outcome; o != "pending" && o != "unknown" {
				return fmt.Errorf("%s is unknown because of %s, which is %s", id, b, o)
			}
			if len(out) > 0 && plan[b].Outcome == now[b].Outcome {
				return fmt.Errorf("%s is unknown because of %v and, without these, because of %v", id, plan[id].Because, because)
			}
		}
		for _, b := range because {
			out[b] = true
		}
		var err error
		if now, _, err = w.tell(t, sites, "plan", out); err != nil {
			return err
		}
		if now[id].Outcome == "unknown" && len(now[id].Because) > 0 {
			w.deeper++
		}
	}
	return nil
}

// compare compares what a plan said with what a run did.
func (w *randomWorld) compare(plan, run map[string]told) (err error) {
	for _, d := range w.list {
		p, r := plan[d.id()], run[d.id()]
		if (r.Outcome == "skipped" || r.Outcome == "failed" && d.kind == "apply") && w.mayBeSkipped(d, plan, run) {
			continue
		}
		want, changed := p.Outcome, "changed"
		if w.isRestrained(d) {
			changed = "pending"
		}
		switch {
		case p.Outcome == "pending":
			want = changed
		case p.Outcome == "unknown" && d.outputDecides() && (r.Outcome == "stable" || r.Outcome == "unknown" || r.Outcome == "failed" && d.kind == "wait_for"): // it was executed, or only planned
			continue
		case p.Outcome == "unknown" && (p.Forecast == nil || slices.ContainsFunc(p.Because, func(b string) bool { return w.mayInterfere(run[b]) })):
			continue
		case p.Outcome == "unknown" && p.Forecast.Refresh && !slices.ContainsFunc(d.after["subscribe"], func(id string) bool { return run[id].Outcome == "changed" }):
			want = "stable"
		case p.Outcome == "unknown":
			want = map[string]string{"stable": "stable", "pending": changed, "failed": "failed"}[p.Forecast.Outcome]
		}
		if r.Outcome != want {
			err = errors.Join(err, fmt.Errorf("%s: plan %s %v %+v, run %s %v", d.id(), p.Outcome, p.Errors, p.Forecast, r.Outcome, r.Errors))
		}
	}
	return err
}

// mayInterfere reports whether a resource may have done something in a run.
func (w *randomWorld) mayInterfere(x told) bool {
	return x.Outcome != "skipped" && (x.Outcome != "stable" || w.outputDecides(x.Type+"#"+x.Name))
}

// mayBeSkipped reports whether a resource comes after something unknown that has
// failed, or was skipped for that reason. A manifest fails with what it declares.
func (w *randomWorld) mayBeSkipped(d declaration, plan, run map[string]told) bool {
	after := maps.Clone(d.after)
	for _, x := range w.list {
		if d.kind == "apply" && x.in == d.name {
			after["apply"] = append(after["apply"], x.id())
		}
		if x.kind == "apply" && x.name == d.in { // what it declares comes after all that it comes after
			after["apply"] = slices.Concat(after["apply"], x.after["require"], x.after["subscribe"])
		}
	}
	for _, ids := range after {
		for _, id := range ids {
			i := slices.IndexFunc(w.list, func(x declaration) bool { return x.id() == id })
			if plan[id].Outcome == "unknown" && run[id].Outcome == "failed" || (run[id].Outcome == "skipped" || w.list[i].kind == "apply" && run[id].Outcome == "failed") && w.mayBeSkipped(w.list[i], plan, run) {
				return true
			}
		}
	}
	return false
}
