package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mistaken request stays as it is: the machine makes a new request with another key.
func TestEnrolmentAskedOtherwise(t *testing.T) {
	l := sharedLab(t)
	name, token := unique("web"), filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(l.must(t, "fleet", "enrol", "token", "--name", name, "--environment", "prod", "--token-file", filepath.Join(t.TempDir(), "tokens"))), 0o600))
	dir := t.TempDir()
	args := []string{"agent", "enrol", "--servers", strings.Join(l.directory(t).Fleet.URLs(), ","), "--ca", l.dir + "/ca.pem", "--credentials", l.dir + "/enrol.creds",
		"--name", name, "--directory", dir, "--wait", "1s"}
	ask := func(more ...string) string {
		t.Helper()
		_, stderr, status := l.ccm(append(args, more...)...)
		require.Equal(t, 1, status, stderr)
		require.Contains(t, stderr, "ccm: no answer yet (run the command again to keep waiting)\n")
		return stderr
	}
	first := ask("--environment", "prdo")
	require.NotContains(t, first, "before")
	require.Equal(t, first, ask("--environment", "prdo"), "the same is asked for with the same key")
	for _, more := range [][]string{{"--environment", "prod"}, {"--environment", "prod", "--token-file", token}} {
		other := ask(more...)
		require.Contains(t, other, "The earlier request was different; requesting again with a new key.\n")
	}
	require.Equal(t, 3, strings.Count(l.must(t, "fleet", "enrol"), name+" "))

	for said, more := range map[string][]string{
		"expected a signer and a public key":                  {"--environment", "prod", "--signers", token},
		"expected lower-case letters, digits and -":           {"--environment", "Prod"},
		"expected a token as printed by ccm fleet enrol toke": {"--environment", "prod", "--token-file", l.dir + "/ca.pem"},
	} {
		_, stderr, status := l.ccm(append(args, more...)...)
		require.Equal(t, 1, status)
		require.Contains(t, stderr, said)
	}
	require.NoFileExists(t, filepath.Join(dir, "allowed_signers"))
}

// A mistake is reported in the terms of the command line, before anything is done.
func TestFleetMistakes(t *testing.T) {
	l := newLab(t)
	key, _ := l.operatorKey(t, "ops", 7)
	fewNodes(t, l)
	site := l.site(t, "file { '/etc/motd', content = 'x', owner = 'root', group = 'root', mode = '0644' }\n")
	l.must(t, "fleet", "revoke", "new1")
	l.must(t, "fleet", "user", "ann", "--role", "viewer")
	viewer := *l
	viewer.dir = filepath.Join(l.dir, "users", "ann")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--at-most: expected a number of nodes, got -1", []string{"run", "web1", "--at-most", "-1"}},
		{"--expires: expected a duration from 1s to 24h, got 0s", []string{"run", "web1", "--expires", "0s"}},
		{"--expires: expected a duration from 1s to 24h, got 2d", []string{"plan", "web1", "--expires", "48h"}},
		{`--target: expected type#name, got "motd"`, []string{"run", "web1", "--target", "motd"}},
		{"no nodes selected\n", []string{"run", "--environment", "prod", "--where", "facts.nothing.there > 1"}},
		{"file " + l.dir + "/none does not exist", []string{"run", "web1", "--sign", l.dir + "/none"}},
		{"new1 was revoked (show its events with: ccm fleet events new1)", []string{"run", "new1"}},
		{"new1 was revoked", []string{"nodes", "new1"}},
		{"new1 is already revoked", []string{"revoke", "new1"}},
		{`no node wbe1 in the fleet (did you mean "web1"?)`, []string{"revoke", "wbe1"}},
		{"user zed: not found in this fleet", []string{"revoke", "--user", "zed"}},
		{`no such environment "nope" (environments: prod, test)`, []string{"jobs", "--environment", "nope"}},
		{`no such environment "nope" (environments: prod, test)`, []string{"status", "--environment", "nope"}},
		{`no such environment "nope" (environments: prod, test)`, []string{"enrol", "token", "--name", "x", "--environment", "nope"}},
		{"expected an environment: prod, test", []string{"enrol", "token", "--name", "x"}},
		{"--expires: expected a duration such as 30s or 1h30m, got \"-1h\"", []string{"enrol", "token", "--name", "x", "--environment", "prod", "--expires", "-1h"}},
		{"--last: expected a number of jobs, or 0 for all, got -1", []string{"jobs", "--last", "-1"}},
		{"--since: expected a duration such as 30s or 1h30m, got \"-1h\"", []string{"events", "--since", "-1h"}},
		{"--within: expected a duration from 1s to 24h, got 0s", []string{"nodes", "--live", "--within", "0s"}},
		{"site " + l.dir + "/none does not exist\n", []string{"release", "prod", l.dir + "/none"}},
		{"--canary: no node of prod matches the condition: nothing was released", []string{"release", "prod", site, "--canary", `labels.role == "wbe"`}},
		{"expected HOST or HOST:PORT, without a scheme", []string{"init", l.dir + "/other", "--server", "tls://web1"}},
	} {
		args := append([]string{"fleet"}, c.args...)
		if c.args[0] == "run" || c.args[0] == "plan" || c.args[0] == "release" || c.args[0] == "nodes" {
			if !strings.Contains(strings.Join(args, " "), "--sign") {
				args = append(args, "--sign", key)
			}
		}
		stdout, stderr, status := l.ccm(args...)
		require.Equal(t, 1, status, "%s: %s", args, stdout)
		require.Contains(t, stderr, c.want, "%s", args)
		require.NotContains(t, stderr, "stat ", "%s", args)
	}
	_, stderr, _ := l.ccm("fleet", "jobs")
	require.Contains(t, stderr, "No jobs.")
	l.must(t, "fleet", "events", "new1")

	// An error of a condition is reported in one line with a node.
	stdout, stderr, status := l.ccm("fleet", "nodes", "--where", "len(facts.nothing) > 0", "--output", "names")
	require.Zero(t, status)
	require.Empty(t, stdout)
	require.Equal(t, "! Skipped nodes for which the condition cannot be evaluated: db1: invalid argument for len (type nothing), at \"len(facts.nothing) > 0\"\n", stderr)

	// A rollout is shown as a table.
	l.must(t, "fleet", "release", "prod", site, "--canary", `labels.role == "web"`, "--sign", key, "--no-check")
	require.Regexp(t, `(?m)^Release 1 of prod, .*: rolling\nSTAGE .*\nlabels.role == "web"  2 .*waits for its nodes\n100% +1 .*\n$`, l.must(t, "fleet", "rollout", "prod"))

	// A node that is named twice answers once.
	stdout, _, _ = l.ccm("fleet", "run", "web1", "web1", "--expires", "1s", "--sign", key)
	require.Contains(t, stdout, "to 1 of 3 nodes of prod")

	// A viewer has no keys, and can see everything but the servers.
	stdout, stderr, status = viewer.ccm("fleet", "check")
	require.Equal(t, 4, status)
	require.Contains(t, stderr, "Servers were not checked: ")
	require.NotContains(t, stdout, "system.creds")
	require.NotContains(t, stdout, "CCM_ENROL")
	require.Contains(t, stdout, "! nodes whose last run failed: web2, web3\n  show why with: ccm fleet status\n")
	for _, args := range [][]string{{"user", "bob"}, {"enrol", "token", "--name", "x", "--environment", "prod"}} {
		_, stderr, status = viewer.ccm(append([]string{"fleet"}, args...)...)
		require.Equal(t, 1, status)
		require.Contains(t, stderr, "ann", "%s", args)
		require.NotContains(t, stderr, "no such file", "%s", args)
	}

	// Completion proposes matching names, each once.
	for args, want := range map[string]string{
		"run web1":            "web2\nweb3\ndb1\n",
		"nodes web1":          "",
		"release":             "prod\ntest\n",
		"release prod":        "",
		"pause prod":          "",
		"revoke --user":       "ann\n",
		"run web1 --environm": "--environment",
	} {
		last := ""
		fields := strings.Fields(args)
		if strings.HasSuffix(args, "--environm") {
			last, fields = "--environm", fields[:2]
		}
		out := l.must(t, append(append([]string{"__complete", "fleet"}, fields...), last)...)
		offered, _, _ := strings.Cut(out, ":")
		if want == "" {
			require.Empty(t, offered, args)
		}
		for w := range strings.Lines(want) {
			require.Contains(t, offered, w, args)
		}
		require.NotContains(t, offered, "web1\n", args)
	}

	// If servers are down only that is reported, and one line names the checks that are impossible.
	l.kill(l.ports[1])
	l.kill(l.ports[2])
	waitFor(t, "the streams to have no leader", func() error {
		stdout, _, status = l.ccm("fleet", "check")
		if !strings.Contains(stdout, "! no leader, so nothing can be stored: KV CCM_CONTROL, ") || !strings.Contains(stdout, "stream CCM_EVENTS") {
			return fmt.Errorf("%d: %s", status, stdout)
		}
		return nil
	})
	require.NotContains(t, stdout, "is behind: ")
	require.Equal(t, 1, strings.Count(stdout, "CCM_EVENTS"), stdout)
}
