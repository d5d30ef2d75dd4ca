package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/release"
)

// A killableNode is a process of ccm agent as a node of a fleet.
type killableNode struct {
	t    *testing.T
	l    *lab
	name string
	dir  string
	env  []string
	cmd  *exec.Cmd
	said *output
}

// agentOf prepares the agent of a new node of prod.
func (l *lab) agentOf(t *testing.T, name, allowed string) *killableNode {
	p := &killableNode{t: t, l: l, name: name, dir: t.TempDir(), said: new(output)}
	p.env = append(os.Environ(), "CCM_STATE_DIR="+filepath.Join(p.dir, "state"), "NO_COLOR=1")
	signers := filepath.Join(p.dir, "allowed_signers")
	require.NoError(t, os.WriteFile(signers, []byte(allowed), 0o644))
	d := l.directory(t)
	config := fmt.Sprintf("interval: 1h\nlog_level: debug\ncache_dir: %s\nfleet:\n  servers: [%s]\n  ca: %s\n  credentials: %s\n  signers: %s\n",
		filepath.Join(p.dir, "cache"), strings.Join(d.Fleet.URLs(), ", "), d.CA(), l.addNode(t, name, "prod").credentials, signers)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "agent.yaml"), []byte(config), 0o600))
	t.Cleanup(func() {
		if p.cmd != nil {
			p.killAll()
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, p.said)
		}
	})
	return p
}

// start starts the agent.
func (p *killableNode) start() {
	p.cmd = exec.Command(binary, "--allow-insecure", "agent", "--config", filepath.Join(p.dir, "agent.yaml"))
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = p.dir, p.env, p.said
	require.NoError(p.t, p.cmd.Start())
}

// kill kills the agent only.
func (p *killableNode) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// killAll kills the agent, its run and the processes of the run at once.
func (p *killableNode) killAll() {
	runs := children(p.cmd.Process.Pid)
	p.kill()
	for _, pid := range runs {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // a run is a process group
	}
}

// children returns the child processes of a process (proc_pid_stat(5)).
func children(pid int) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // behind the name of the program
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, child)
		}
	}
	return list
}

// slow returns a site with a file, a command that waits for a file go, and a file after it.
func (p *killableNode) slow(word string) string {
	at := func(name string) string { return filepath.Join(p.dir, name) }
	file := func(name string) string {
		return fmt.Sprintf("file { %q, content = %q, owner = \"%d\", group = \"%d\", mode = \"0644\" }\n", at(name), word, os.Getuid(), os.Getgid())
	}
	return file("before") + fmt.Sprintf("exec { \"wait\", command = \"touch %s; while [ ! -e %s ]; do sleep 0.05; done\", provider = \"shell\", unless = \"test -e %s\" }\n",
		at("began-"+word), at("go-"+word), at("go-"+word)) + file("after")
}

// release releases a site without waiting for nodes.
func (p *killableNode) release(key, word string) {
	p.l.must(p.t, "fleet", "release", "prod", p.l.site(p.t, p.slow(word)), "--sign", key, "--no-check")
}

// until waits until a file exists.
func (p *killableNode) until(name string) {
	p.t.Helper()
	waitFor(p.t, name, func() error {
		_, err := os.Stat(filepath.Join(p.dir, name))
		return err
	})
}

// goOn ends the command of a site.
func (p *killableNode) goOn(word string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "go-"+word), nil, 0o644))
}

// A nodeReport is a node as operators see it.
type nodeReport struct {
	State struct {
		Release int
		Outcome string
		RunID   string `json:"run_id"`
		Failed  []record.Failure
		Counts  record.Counts
	}
	Presence struct{ Boot string }
}

// says returns the node as operators see it.
func (p *killableNode) says() (n nodeReport) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal([]byte(p.l.must(p.t, "fleet", "nodes", p.name, "--output", "json")), &n))
	return n
}

// ran waits until the node has run a release, and returns its report.
func (p *killableNode) ran(version int) (n nodeReport) {
	p.t.Helper()
	waitFor(p.t, fmt.Sprintf("release %d to be run", version), func() error {
		if n = p.says(); n.State.Release != version || n.State.RunID == "" {
			return fmt.Errorf("it says %+v", n.State)
		}
		return nil
	})
	return n
}

// rollout returns the state of the rollout.
func (p *killableNode) rollout() (a release.Assessment) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal([]byte(p.l.must(p.t, "fleet", "rollout", "prod", "--output", "json")), &a))
	return a
}

// told returns the events and summaries of the node, as operators see them: by run, "TYPE#NAME OUTCOME" and
// "interrupted" or "ended".
func (p *killableNode) told() map[string][]string {
	p.t.Helper()
	by := map[string][]string{}
	for line := range strings.Lines(p.l.must(p.t, "fleet", "events", p.name, "--output", "json")) {
		var x struct {
			Protocol, Type, Name, Outcome string
			Event                         string `json:"event_id"`
			Run                           string `json:"run_id"`
			Interrupted                   bool
		}
		require.NoError(p.t, json.Unmarshal([]byte(line), &x))
		if i := strings.LastIndexByte(x.Event, '-'); i > 0 {
			x.Run = x.Event[:i]
		}
		switch {
		case x.Type != "":
			by[x.Run] = append(by[x.Run], x.Type+"#"+strings.TrimPrefix(x.Name, p.dir+"/")+" "+x.Outcome)
		case strings.HasSuffix(x.Protocol, ".session.summary") && x.Interrupted:
			by[x.Run] = append(by[x.Run], "interrupted")
		case strings.HasSuffix(x.Protocol, ".session.summary"):
			by[x.Run] = append(by[x.Run], "ended")
		}
	}
	return by
}

// numbers returns the numbers of nodes in the only stage of the rollout: waiting, done and failed.
func (p *killableNode) numbers() [3]int {
	p.t.Helper()
	stage := p.rollout().Stages[0]
	return [3]int{stage.Waiting, stage.Done, stage.Failed}
}

// tells waits until there are runs with exactly these lines.
func (p *killableNode) tells(runs ...[]string) {
	p.t.Helper()
	waitFor(p.t, "what was told", func() error {
		by := p.told()
		var got [][]string
		for _, run := range slices.Sorted(maps.Keys(by)) {
			got = append(got, by[run])
		}
		if !reflect.DeepEqual(got, runs) {
			return fmt.Errorf("it told %v, want %v", got, runs)
		}
		return nil
	})
}

// A node dies during a run, as in a power cut: until it is back nothing is reported of the release; then the changes
// before and after are reported, each once, and the rollout is right. The same if only the run dies, or only the
// agent, whose run goes on.
func TestNodeKilledWithinRun(t *testing.T) {
	l := newLab(t)
	key, allowed := l.operatorKey(t, "ops", 7)
	p := l.agentOf(t, "web1", allowed)
	p.goOn("one")
	p.start()
	p.release(key, "one")
	require.Equal(t, "changed", p.ran(1).State.Outcome)
	all := []string{"file#before changed", "file#after changed", "ended"}
	p.tells(all)

	// Everything on the node dies.
	p.release(key, "two")
	p.until("began-two")
	p.killAll()
	require.Equal(t, 1, p.says().State.Release, "it has not run the second one")
	require.Equal(t, [3]int{1, 0, 0}, p.numbers())
	p.goOn("two")
	p.start()
	require.Equal(t, record.Counts{Total: 3, Stable: 2, Changed: 1}, p.ran(2).State.Counts)
	died := []string{"file#before changed", "interrupted"}
	p.tells(all, died, []string{"file#after changed", "ended"})
	require.Equal(t, [3]int{0, 1, 0}, p.numbers())

	// Only the run dies: that is a failure, and the run is repeated in its time.
	p.release(key, "three")
	p.until("began-three")
	for _, pid := range children(p.cmd.Process.Pid) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	require.Equal(t, []record.Failure{{Resource: "run", Message: "killed by a signal"}}, p.ran(3).State.Failed)
	require.Equal(t, [3]int{0, 1, 1}, p.numbers())
	require.Equal(t, "run", p.rollout().Causes[0].Resource)

	// Only the agent dies. The next one reports the last state, and waits for the run, which goes on.
	p.release(key, "four")
	p.until("began-four")
	p.kill()
	before := p.says()
	p.start()
	waitFor(t, "the next agent", func() error {
		if p.says().Presence.Boot == before.Presence.Boot {
			return errors.New("it does not say that it is there")
		}
		return nil
	})
	require.Equal(t, before.State, p.says().State)
	p.goOn("four")
	require.Equal(t, record.Counts{Total: 3, Stable: 3}, p.ran(4).State.Counts)
	p.tells(all, died, []string{"file#after changed", "ended"}, died, []string{"file#before changed", "exec#wait changed", "file#after changed", "ended"}, []string{"ended"})
	require.Equal(t, [3]int{0, 1, 0}, p.numbers())
}
