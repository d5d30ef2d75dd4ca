//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script is a shell script with a session, and one command for each resource. It prints the process ID of the service
// at its end.
func script(content string) string {
	return fmt.Sprintf(`PATH=$PATH:/opt/ccm
		eval "$(ccm session new)"
		ccm ensure package ccm-demo-service
		ccm ensure file /etc/ccm-demo/extra.conf --content %s --owner root --group root --mode 0644
		ccm ensure service ccm-demo running --enable --subscribe file#/etc/ccm-demo/extra.conf
		ccm session report --remove
		! test -e "$CCM_SESSION_STORE"
		systemctl show -p MainPID --value ccm-demo`, content)
}

// reported returns the report of the session without its last line, and the process ID.
func reported(out string) (lines []string, pid string) {
	all := strings.Split(out, "\n")
	for i, line := range all {
		if strings.Contains(line, " resources up to date (") || strings.HasPrefix(line, "3 resources: ") {
			return all[i-3 : i], all[len(all)-1]
		}
	}
	return nil, ""
}

// The script is right the first and the second time, and after a change.
func TestSession(t *testing.T) {
	l := boot(t, debian)
	lines, pid := reported(l.sh(script("x=1")))
	require.Equal(t, []string{
		"+ package#ccm-demo-service: Installed (version 1.0)",
		"+ file#/etc/ccm-demo/extra.conf: Created the file",
		"~ service#ccm-demo: Started. Enabled",
	}, lines)
	require.NotEqual(t, "0", pid)
	l.says("enabled", "systemctl is-enabled ccm-demo")

	lines, again := reported(l.sh(script("x=1")))
	require.Equal(t, []string{
		"= package#ccm-demo-service: up to date",
		"= file#/etc/ccm-demo/extra.conf: up to date",
		"= service#ccm-demo: up to date",
	}, lines)
	require.Equal(t, pid, again, "it goes on running")

	lines, restarted := reported(l.sh(script("x=2")))
	require.Equal(t, []string{
		"= package#ccm-demo-service: up to date",
		"~ file#/etc/ccm-demo/extra.conf: Updated the file (intended)",
		"! service#ccm-demo: Restarted, because file#/etc/ccm-demo/extra.conf changed (intended)",
	}, lines)
	require.NotEqual(t, pid, restarted)
}

// The imported resources of a machine have a stable plan on it.
func TestImport(t *testing.T) {
	l := boot(t, debian)
	l.sh("apt-get -qq -y install ccm-demo ccm-demo-service ccm-demo-auto > /dev/null")
	l.sh(`cd /root; PATH=$PATH:/opt/ccm
		ccm import package ccm-demo ccm-demo-service > site.lua
		ccm import service ccm-demo ccm-demo-auto >> site.lua
		ccm import file /etc/ccm-demo /etc/ccm-demo/demo.conf /etc/passwd /usr/bin/env >> site.lua`)
	l.says("package { \"ccm-demo\", \"ccm-demo-service\" }\n"+
		"service { \"ccm-demo\", ensure = \"stopped\", enable = false }\n"+
		"service { \"ccm-demo-auto\", enable = true }", "head -3 /root/site.lua")
	l.sh("cd /root; /opt/ccm/ccm plan --detailed-exitcodes site.lua")
}

// Completion knows the names of services and packages.
func TestNames(t *testing.T) {
	l := boot(t, mixed)
	l.says("ccm-demo-epoch", "/opt/ccm/ccm __complete ensure package ccm-demo-e 2>/dev/null | grep -x ccm-demo-epoch")
	l.sh("apt-get -qq -y install ccm-demo-service > /dev/null")
	l.says("ccm-demo", "/opt/ccm/ccm __complete status service ccm-d 2>/dev/null | grep -x ccm-demo")
}

// The state of packages and services, in the words of their systems.
func TestStatus(t *testing.T) {
	l := boot(t, debian)
	l.says("package#ccm-demo\n  ensure: absent\n  provider: apt", "/opt/ccm/ccm status package ccm-demo")
	l.sh("apt-get -qq -y install ccm-demo=1.0 ccm-demo-service > /dev/null")
	l.says(`"version": "1.0"`, `/opt/ccm/ccm status package ccm-demo --output json | grep -o '"version": "[^"]*"'`)
	l.says("  enabled: false\n  running: false", "/opt/ccm/ccm status service ccm-demo | grep -E 'enabled:|running:'")
	l.says("service#nope\n  provider: systemd\n  missing: true", "/opt/ccm/ccm status service nope")
}
