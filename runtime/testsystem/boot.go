package testsystem

import (
	"context"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// bootTime is how long a container may take to boot, and to shut down.
const bootTime = time.Minute

// waitBooted waits until systemd of a system has booted. The function ready returns whether commands can be tried, and
// an error if the system has ended; it may be nil.
func waitBooted(ctx context.Context, s System, limit time.Duration, ready func() (bool, error)) error {
	within, cancel := context.WithTimeoutCause(ctx, limit, diag.TimedOut("the boot", limit))
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	// One command waits for the boot: asking again and again would slow it down. systemd before 240 has no --wait.
	const script = "systemctl is-system-running --wait 2>/dev/null || systemctl is-system-running"
	for {
		try, err := true, error(nil)
		if ready != nil {
			if try, err = ready(); err != nil {
				return err
			}
		}
		if try {
			var out strings.Builder
			_, err := s.Exec(within, Cmd{Argv: []string{"sh", "-c", script}, Stdout: &out})
			if state, _, _ := strings.Cut(out.String(), "\n"); err == nil && (state == "running" || state == "degraded") {
				return nil
			}
		}
		select {
		case <-within.Done():
			return context.Cause(within)
		case <-ticks.C:
		}
	}
}
