package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without the system bus, one process of systemctl reads the state of all services.
func TestProcessesOfServices(t *testing.T) {
	x := newTools(t, map[string]string{"systemctl": `
[ "$1" = show ] || { echo "$@" >&2; exit 1; }
while [ "$1" != -- ]; do shift; done; shift
for u; do printf 'Id=%s\nNames=%s\nLoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=static\nFragmentPath=/lib/systemd/system/%s\nNeedDaemonReload=no\nType=simple\n\n' "$u" "$u" "$u"; done`})
	name := siteFile(t, "lua", `for i = 1, 200 do service("ccm-test-" .. i, { ensure = "running" }) end`)
	cmd := exec.Command("with-systemd", "run", "--detailed-exitcodes", "--state-dir", t.TempDir(), name)
	cmd.Env = append(os.Environ(), "PATH="+x.dir, "HOME="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState; code == nil || code.ExitCode() == noNamespace {
		t.Skipf("no mount namespace can be had here, in which systemd seems to run: %v %s", err, out)
	}
	require.NoError(t, err, "%s", out)
	require.Equal(t, []string{"systemctl 204"}, x.started(t))
}

// noNamespace is the exit status of withSystemd if it cannot make a namespace.
const noNamespace = 77

// withSystemd is ccm on a machine where systemd seems to run without a system bus: it has its own /run with just the
// directory that sd_booted(3) checks.
func withSystemd() {
	err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("tmpfs", "/run", "tmpfs", 0, "")
	}
	if err == nil {
		err = os.MkdirAll("/run/systemd/system", 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(noNamespace)
	}
	main()
}
