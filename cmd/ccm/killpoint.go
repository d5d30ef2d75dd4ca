//go:build killpoint

package main

import (
	"os"
	"strconv"
	"syscall"
)

// With the build tag killpoint, ccm kills itself before the effect whose number
// is in CCM_KILL_AT, so that tests can end a real process at every step.
func init() {
	at, err := strconv.Atoi(os.Getenv("CCM_KILL_AT"))
	if err != nil {
		return
	}
	effect = func(string, string) error {
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
}
