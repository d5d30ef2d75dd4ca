//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScaffold(t *testing.T) {
	l := boot(t, debian)
	require.Zero(t, l.ccm("run", itSite("one", "", "")).summary.Failed)
	const id = "scaffold#/etc/app"
	does := func(args, scaffold, service string) (plan, run verdict) {
		t.Helper()
		return l.converge(step{site: "scaffold/site.lua " + args, does: []string{id + ": " + scaffold, itService + ": " + service}})
	}
	_, run := does("", "Changed 3 scaffold files", "Restarted")
	require.Equal(t, "choria", run.event(id).Provider)
	l.says("app.conf 644\ncheck.sh 755\nsites/main.conf 644", "cd /etc/app; stat -c '%n %a' $(find * -type f | sort)")
	l.says("# written for "+l.name+"\nfamily = debian", "cat /etc/app/app.conf")
	l.says("debian", "/etc/app/check.sh")
	l.says("one\none", "cat /run/it.starts")

	// One file was changed, one removed, and one added.
	l.sh("echo more >> /etc/app/app.conf; rm /etc/app/sites/main.conf; echo mine > /etc/app/sites/other.conf")
	does("", "Changed 2 scaffold files", "Restarted")
	l.says("# written for "+l.name+"\nfamily = debian", "cat /etc/app/app.conf")
	l.says("name = main\nmine", "cat /etc/app/sites/main.conf /etc/app/sites/other.conf")

	// Modes set by post commands are kept.
	l.sh("chmod 0644 /etc/app/check.sh")
	does("", "Changed 1 scaffold file", "Restarted")
	l.says("755", "stat -c %a /etc/app/check.sh")

	does("present purge", "Changed 1 scaffold file", "Restarted")
	l.sh("! test -e /etc/app/sites/other.conf")
	l.says("one\none\none\none\none", "cat /run/it.starts")

	// It is removed, except for files of others.
	l.sh("systemctl reset-failed; echo mine > /etc/app/mine.conf")
	does("absent", "Removed 3 scaffold files", "Restarted")
	l.says("mine.conf", "ls /etc/app")
	l.sh("systemctl reset-failed; rm /etc/app/mine.conf")
	does("present", "Changed 3 scaffold files", "Restarted")
	does("absent", "Removed 3 scaffold files", "Restarted")
	l.sh("! test -e /etc/app")
}

func TestScaffoldGo(t *testing.T) {
	l := boot(t, rhel)
	l.converge(step{site: "scaffold/go.lua", does: []string{"scaffold#/etc/app: Changed 1 scaffold file"}})
	l.says("FAMILY=RHEL\nBRACES={{ kept }}", "cat /etc/app/env")
}
