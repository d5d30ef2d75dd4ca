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

// mostUnknown limits the percentage of resources of random sites that a plan cannot know because of other resources,
// mostUnknownOfFew that of the first sites. They may only be lowered.
const (
	mostUnknown      = 8
	mostUnknownOfFew = 10
)

// mostRefused limits the percentage of random sites that are refused before the plan.
const mostRefused = 1

// A statement is the result for one resource in a plan or a run.
type statement struct {
	Type, Name, Outcome string
	Certain             *bool
	Because             []string
	Errors              []string
	Reason              string
	Does                string `json:"noop_message"`
	Diff                json.RawMessage
	Forecast            *struct {
		Outcome string
		Once    bool
		Refresh bool
		Errors  []string
	}
}

// expected is what state returns of a resource that is pending and not certain.
const expected = "expected"

// state returns the outcome, or expected.
func (x statement) state() string {
	if x.Certain != nil && !*x.Certain {
		return expected
	}
	return x.Outcome
}

// isOpen reports whether a plan leaves open what becomes of the resource.
func (x statement) isOpen() bool { return x.state() == "unknown" || x.state() == expected }

// isAlike reports whether two plans of a resource are equal.
func (x statement) isAlike(y statement) bool {
	return x.state() == y.state() && x.Does == y.Does && string(x.Diff) == string(y.Diff)
}

// tell runs a command and returns its statements about resources.
func (w *randomWorld) tell(t *testing.T, sites, command string, out map[string]bool, flags ...string) (map[string]statement, int, error) {
	args := append(slices.Clone(w.flags), flags...)
	if w.rooted {
		args = append(args, "--root", w.dir)
	}
	return w.tellOf(t, command, append(args, w.write(t, sites, out))...)
}

// tellOf is tell with the arguments of the command.
func (w *randomWorld) tellOf(t *testing.T, command string, args ...string) (map[string]statement, int, error) {
	var stdout, stderr bytes.Buffer
	e := newEnv(strings.NewReader(""), &stdout, &stderr, host.RealClock{})
	e.Substitutes = randomMachine{filepath.Join(w.dir, "sys"), w.at}.providers()
	status := run(t.Context(), e, append([]string{command, "--output", "json"}, args...))
	all := make(map[string]statement)
	for line := range strings.Lines(stdout.String()) {
		var x statement
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
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.URL.Path != "/x.tar.gz" {
			http.NotFound(out, in)
			return
		}
		_, _ = out.Write(buf.Bytes())
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// gitRepository returns a repository with one commit, or a path without a file if git is not installed.
func gitRepository(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "repo")
	if _, err := exec.LookPath("git"); err != nil {
		return dir
	}
	for _, words := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"}} {
		out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, words...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return dir
}

// TestPlansComeTrue makes random sites on random machines, and compares the plan with the run. CCM_PLANS is their
// number, CCM_PLANS_SEED the first seed. A site that fails is reduced to the resources and files that the failure
// needs.
func TestPlansComeTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("makes random sites: make test-all")
	}
	isolate(t)
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	provideTools(t)
	url, repo := archiveServer(t), gitRepository(t)
	unknown, deeper, total, refused, outcomes := 0, 0, 0, 0, make(map[string]int)
	first, sites := number("CCM_PLANS_SEED", 1), number("CCM_PLANS", 80)
	for seed := first; seed < first+sites; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			w := newRandomWorld(uint64(seed), t.TempDir(), url, repo)
			u, n, err := w.check(t)
			unknown, deeper, total = unknown+u, deeper+w.deeper, total+n
			for outcome, n := range w.expected {
				outcomes[outcome] += n
			}
			if w.refused {
				refused++
			}
			if err != nil {
				small, err := w.shrunk(t, err)
				_, text := small.site(nil)
				t.Error(strings.ReplaceAll(fmt.Sprintf("%v\n%s\n%s", err, text, small.start), w.dir, "/D"))
			}
		})
	}
	t.Logf("seeds %d to %d: %d of %d resources unknown, %.1f %%; %d times something else made a difference without the first causes; %d sites refused; expected ones became %v",
		first, first+sites-1, unknown, total, 100*float64(unknown)/float64(total), deeper, refused, outcomes)
	require.LessOrEqual(t, 100*refused, mostRefused*sites, "these sites say nothing of plans")
	most := mostUnknown
	if total < 1000 {
		most = mostUnknownOfFew
	}
	if total > 200 {
		require.LessOrEqual(t, 100*unknown, most*total, "more is unknown than was")
	}
}

// shrunk returns the smallest world in which check still fails, and its error.
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

// without returns declarations without one of them and without references to it.
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

// check compares a plan with the run. It returns the number of resources that are unknown because of others.
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
	if w.refused = planned == 1; w.refused {
		return 0, 0, nil
	}
	known, total := true, len(plan)
	w.expected = make(map[string]int)
	for _, d := range w.list {
		if plan[d.id()].isOpen() {
			if plan[d.id()].state() == "unknown" && len(plan[d.id()].Because) > 0 { // the others depend on effects
				unknown++
			}
			known = false
			err = errors.Join(err, w.checkUnknown(t, t.TempDir(), d.id(), plan))
		}
	}
	// A saved plan is run as planned, and nothing is refused.
	run, ran, runErr := w.tellOf(t, "run", saved)
	err = errors.Join(err, runErr)
	if missed := w.missed(plan, run); len(missed) > 0 { // no plan can know what depends on these
		w.populate(t)
		without, _, planErr := w.tell(t, t.TempDir(), "plan", missed)
		err = errors.Join(err, planErr)
		maps.DeleteFunc(plan, func(id string, x statement) bool { return !missed[id] && !x.isAlike(without[id]) })
	}
	for id := range plan {
		for _, text := range run[id].Errors {
			if strings.HasPrefix(text, "planned: ") {
				err = errors.Join(err, fmt.Errorf("%s: %s", id, text))
			}
		}
	}
	err = errors.Join(err, w.compare(plan, run))
	if known && err == nil && planned != ran && !slices.ContainsFunc(w.list, declaration.onlyRunFails) {
		err = fmt.Errorf("a plan exits with %d, a run with %d", planned, ran)
	}
	return unknown, total, err
}

// missed returns the resources that failed in a run for a reason that no plan checks, or that the plan left open, and those
// that were skipped because of them.
func (w *randomWorld) missed(plan, run map[string]statement) map[string]bool {
	isOpen := func(d declaration) bool { return d.onlyRunFails() || plan[d.id()].isOpen() }
	ids := make(map[string]bool)
	for _, d := range w.list {
		r := run[d.id()].Outcome
		if r == "failed" && (d.unanswered || plan[d.id()].isOpen()) || r == "skipped" && w.mayBeSkipped(d, run, isOpen) {
			ids[d.id()] = true
		}
	}
	return ids
}

// treeOf returns all files below a directory, by path.
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

// checkUnknown checks that a resource is known in a plan without all the resources that it is unknown because of.
// Removing one of them is not enough: two may each make the same directory. It may still be unknown because of others
// whose outcome changes without them, such as a command whose guard no longer finds a directory; then it must be
// known without these as well.
func (w *randomWorld) checkUnknown(t *testing.T, sites, id string, plan map[string]statement) error {
	out := make(map[string]bool)
	for now := plan; now[id].isOpen(); {
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
			if len(out) > 0 && plan[b].state() == now[b].state() {
				return fmt.Errorf("%s is unknown because of %v and, without these, because of %v", id, plan[id].Because, because)
			}
		}
		for _, b := range because {
			out[b] = true
		}
		var err error
		var status int
		if now, status, err = w.tell(t, sites, "plan", out); err != nil {
			return err
		}
		if status == 1 {
			return fmt.Errorf("the site is refused without %v", out)
		}
		if now[id].isOpen() && len(now[id].Because) > 0 {
			w.deeper++
		}
	}
	return nil
}

// compare compares the statements of a plan with those of a run.
func (w *randomWorld) compare(plan, run map[string]statement) (err error) {
	mayFail := func(d declaration) bool {
		p, isKnown := plan[d.id()]
		return !isKnown || p.isOpen() || d.onlyRunFails()
	}
	for _, d := range w.list {
		p, isPlanned := plan[d.id()]
		r := run[d.id()]
		if !isPlanned && r.Outcome != "" {
			continue
		}
		if (r.Outcome == "skipped" || r.Outcome == "failed" && d.kind == "apply") && w.mayBeSkipped(d, run, mayFail) {
			continue
		}
		want, changed := p.Outcome, "changed"
		if w.isRestrained(d) {
			changed = "pending"
		}
		if p.state() == expected {
			w.expected[r.Outcome]++
			if r.Outcome == "stable" {
				err = errors.Join(err, fmt.Errorf("%s: plan %s %+v, run stable", d.id(), expected, p.Forecast))
			}
		}
		switch {
		case p.state() == "pending":
			want = changed
		case p.isOpen() && d.outputDecides() && (r.Outcome == "stable" || r.Outcome == "unknown" || r.Outcome == "failed" && d.kind == "wait_for"): // it was run, or only planned
			continue
		case p.isOpen() && (p.Forecast == nil || slices.ContainsFunc(p.Because, func(b string) bool { return w.mayInterfere(run[b], run) })):
			continue
		case p.isOpen() && p.Forecast.Refresh && !slices.ContainsFunc(d.after["subscribe"], func(id string) bool { return run[id].Outcome == "changed" }):
			want = "stable"
		case p.isOpen():
			want = map[string]string{"stable": "stable", "pending": changed, "failed": "failed"}[p.Forecast.Outcome]
		}
		if !w.isRestrained(d) && (d.isUnhealthy() && want == "stable" || d.onlyRunFails() && want == changed) {
			want = "failed"
		}
		if r.Outcome != want {
			err = errors.Join(err, fmt.Errorf("%s: plan %s %v %+v, run %s %v", d.id(), p.Outcome, p.Errors, p.Forecast, r.Outcome, r.Errors))
		}
	}
	return err
}

// mayInterfere reports whether a resource may have done something in a run, or failed to do something expected.
func (w *randomWorld) mayInterfere(x statement, run map[string]statement) bool {
	id := x.Type + "#" + x.Name
	if x.Outcome == "skipped" {
		return w.mayBeSkipped(w.declaration(id), run, declaration.onlyRunFails)
	}
	return x.Outcome != "stable" || w.outputDecides(id)
}

// declaration returns the declaration of a resource by its ID.
func (w *randomWorld) declaration(id string) declaration {
	return w.list[slices.IndexFunc(w.list, func(d declaration) bool { return d.id() == id })]
}

// mayBeSkipped reports whether a resource depends on one that was skipped, or has failed as expected. A manifest
// fails with its resources.
func (w *randomWorld) mayBeSkipped(d declaration, run map[string]statement, mayFail func(d declaration) bool) bool {
	after := maps.Clone(d.after)
	for _, x := range w.list {
		if d.kind == "apply" && x.in == d.name {
			after["apply"] = append(after["apply"], x.id())
		}
		if x.kind == "apply" && x.name == d.in { // its resources depend on all dependencies of the manifest
			after["apply"] = slices.Concat(after["apply"], x.after["require"], x.after["subscribe"])
		}
	}
	for _, ids := range after {
		for _, id := range ids {
			x := w.declaration(id)
			outcome := run[id].Outcome // missing for a resource that is not selected, which passes its dependencies on
			if mayFail(x) && outcome == "failed" || (outcome == "skipped" || outcome == "" || x.kind == "apply" && outcome == "failed") && w.mayBeSkipped(x, run, mayFail) {
				return true
			}
		}
	}
	return false
}
