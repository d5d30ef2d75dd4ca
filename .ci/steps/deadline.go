package main

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// runWithin runs a command, and ends it and all its children after the limit: first by SIGQUIT, for which Go programs
// print what each goroutine does, and 30 seconds later by SIGKILL.
func runWithin(cmd *exec.Cmd, limit time.Duration, out io.Writer) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Minute // for output that a child of the command still holds
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
	}
	fmt.Fprintf(out, "not finished after %v: ended\n", limit)
	signal := func(s syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s) }
	signal(syscall.SIGQUIT)
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		signal(syscall.SIGKILL)
		<-done
	}
	signal(syscall.SIGKILL) // children that outlived the command
	return fmt.Errorf("not finished after %v", limit)
}
