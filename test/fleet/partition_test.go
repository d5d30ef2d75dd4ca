package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// inOwnNetwork runs a test once more in its own network namespace, where it can drop packets (network_namespaces(7)).
// It reports whether this process is in that namespace.
func inOwnNetwork(t *testing.T) bool {
	if os.Getenv(binariesVariable) != "" {
		out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput()
		require.NoError(t, err, "%s", out)
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a network of its own")
	}
	_, err := exec.LookPath("nft")
	require.NoError(t, err, "make fleet-soak needs nft, of the package nftables")
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "20m")
	cmd.Env = append(os.Environ(), binariesVariable+"="+filepath.Dir(binary))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	return false
}

// drop sets rules of nft(8) that drop packets; no arguments remove all rules.
func drop(t *testing.T, rules ...string) {
	script := "table inet lost\ndelete table inet lost\n"
	if len(rules) > 0 {
		script += "table inet lost {\n  chain lost {\n    type filter hook output priority 0\n"
		for _, r := range rules {
			script += "    " + r + "\n"
		}
		script += "  }\n}\n"
	}
	cmd := exec.Command("nft", "-f", "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// portsOf returns the ports of servers, for clients and for the other servers, as a set of nft.
func portsOf(servers []string, forClients, forServers bool) string {
	var list []string
	for _, p := range servers {
		n, _ := strconv.Atoi(p)
		if forClients {
			list = append(list, p)
		}
		if forServers {
			list = append(list, fmt.Sprint(n+2000))
		}
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// Nodes lose all servers, one server loses all others, and packets pass in one direction only. Jobs sent meanwhile
// are carried out once when the network is back, and no event is lost.
func TestSoakPartition(t *testing.T) {
	soak(t)
	if !inOwnNetwork(t) {
		return
	}
	f := newThree(t)
	l := f.lab
	f.startAndRelease("web1", "web2")

	// The nodes are cut off in both directions, and so is the operator in this process; a command of another group is
	// not.
	drop(t, "meta skgid 0 tcp dport "+portsOf(l.ports, true, false)+" ct mark set 1", "ct mark 1 drop")
	l.untilCutOff(t, len(f.nodes))
	f.drift("web1")
	f.run("web1", "file { '/etc/issue', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n")
	stdout, stderr := l.asOther(t, "fleet", "run", "--environment", "prod", "--all", "--sign", f.key.File, "--expires", "3s", "--output", "json")
	require.Contains(t, stdout+stderr, "web1")
	require.Equal(t, "by hand", f.motd("web1"))
	drop(t)
	// A difference of five minutes between clocks is tolerated, so the job is still in time.
	f.eventually(func() bool { return f.motd("web1") == "one" })
	f.eventually(func() bool { return f.told("web1")["/etc/issue"] == 1 })
	id := f.lastJob(t)
	for name := range f.nodes {
		f.eventually(func() bool { return slices.Contains(f.results(name, id), "done") })
		require.Equal(t, []string{"accepted", "done"}, f.results(name, id))
	}

	// One server is cut off in both directions; then it only receives.
	one := l.ports[:1]
	for i, rules := range [][]string{
		{"tcp dport " + portsOf(one, true, true) + " drop", "tcp sport " + portsOf(one, true, true) + " drop"},
		{"tcp sport " + portsOf(one, true, true) + " drop"},
	} {
		drop(t, rules...)
		text := fmt.Sprintf("while %d was lost", i)
		require.Eventually(t, func() bool { // the operator may have to connect to another server first
			_, _, status := l.ccm("fleet", "release", "prod", f.siteOf(text), "--sign", f.key.File, "--no-check")
			return status == 0
		}, 2*limit, time.Second)
		for name := range f.nodes {
			require.Eventually(t, func() bool { return f.motd(name) == text }, 2*limit, 100*time.Millisecond, "%s: %s", name, text)
		}
		drop(t)
		f.settled()
	}
	f.release(motd("last"))
	require.Equal(t, signed.Done, f.advance().State)
}

// asOther runs ccm as the operator with another group, by which rules can distinguish its packets.
func (l *lab) asOther(t *testing.T, args ...string) (stdout, stderr string) {
	cmd := l.command(t.Context(), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 0, Gid: 1}}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // nodes without an answer are a failure
	return out.String(), errs.String()
}

// untilCutOff waits until nodes are silent.
func (l *lab) untilCutOff(t *testing.T, nodes int) {
	waitFor(t, "silence", func() error {
		stdout, stderr := l.asOther(t, "fleet", "nodes", "--output", "json")
		silent := 0
		for line := range strings.Lines(stdout) {
			var x struct {
				Seen time.Time `json:"seen"`
			}
			if json.Unmarshal([]byte(line), &x) == nil && time.Since(x.Seen) > 3*time.Second {
				silent++
			}
		}
		if silent != nodes {
			return fmt.Errorf("%d are silent: %s", silent, stderr)
		}
		return nil
	})
}

// siteOf writes a site with the file.
func (f *fleet) siteOf(text string) (dir string) {
	dir = f.t.TempDir()
	require.NoError(f.t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(motd(text)), 0o644))
	return dir
}

// lastJob returns the ID of the environment's last job.
func (f *fleet) lastJob(t *testing.T) string {
	m, err := direct.Last(t.Context(), f.nc, subject.Jobs, subject.Job("prod", ""))
	require.NoError(t, err)
	j := new(signed.Job)
	require.NoError(t, signed.Read(m.Data, j))
	return j.ID
}
