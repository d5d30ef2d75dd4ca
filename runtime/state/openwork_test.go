package state_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/command"
)

// TestCommandBeforeItsNumber: if a run dies after starting a command and before recording its PID, the command is
// recognised by the ID in its environment. Other commands go on, and so does a daemon that the command has started.
func TestCommandBeforeItsNumber(t *testing.T) {
	for name, leader := range map[string]bool{"command": true, "its child alone": false} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.must() // makes the state directory
			start := func(id string, daemon bool) (isOver func() bool) {
				cmd := osexec.Command("sleep", "1000")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !daemon, Setsid: daemon}
				if !leader && !daemon {
					cmd = osexec.Command("sh", "-c", "sleep 1000 & exit")
					cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				}
				cmd.Env = append(os.Environ(), command.RunVariable+"=r", command.IDVariable+"="+id)
				require.NoError(t, cmd.Start())
				done := make(chan struct{})
				go func() { _ = cmd.Wait(); close(done) }()
				t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); <-done })
				if !leader && !daemon {
					<-done
				}
				return func() bool { return !isGroupRunning(t, cmd.Process.Pid) }
			}
			work := b.store().Work("r")
			firstOver := start(work.RecordCommand("sleep 1", false).ID(), false)
			second := work.RecordCommand("sleep 2", false)
			over := start(second.ID(), false)
			daemonOver := start(second.ID(), true)
			otherOver := start("r.77", false)

			b.store().CleanUp()
			require.Eventually(t, func() bool { return over() && firstOver() }, time.Minute, 5*time.Millisecond)
			require.False(t, daemonOver(), "a daemon")
			require.False(t, otherOver(), "another command")
			require.Equal(t, []string{
				"ended the command sleep 1, which run r left behind when it was killed",
				"ended the command sleep 2, which run r left behind when it was killed",
			}, b.warned)
			b.store().CleanUp()
			require.Len(t, b.warned, 2)
		})
	}
}

// isGroupRunning reports whether a process of a group runs. A zombie does not count: the first process of a container
// may not wait for it.
func isGroupRunning(t *testing.T, group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		var state string
		var parent, of int
		_, fields, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(fields, &state, &parent, &of); err == nil && of == group && state != "Z" {
			return true
		}
	}
	return false
}

// TestCommandApartBeforeItsNumber: the same for a command in its own session, which has another user.
func TestCommandApartBeforeItsNumber(t *testing.T) {
	b := newBox(t)
	b.must()
	apart := b.store().Work("r").RecordCommand("sleep 3", true)
	cmd := osexec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), command.RunVariable+"=r", command.IDVariable+"="+apart.ID())
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); <-done })
	b.store().CleanUp()
	<-done
	require.Equal(t, []string{"ended the command sleep 3, which run r left behind when it was killed"}, b.warned)
}
