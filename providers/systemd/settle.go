package systemd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

const ms = time.Millisecond

var (
	// patience is how long Status waits for units on their way, look by look:
	// five seconds.
	patience = []time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 700 * ms, 800 * ms, 1000 * ms, 1000 * ms}
	// attention is how long a service is watched after it was started: half a
	// second.
	attention = []time.Duration{50 * ms, 100 * ms, 150 * ms, 200 * ms}
)

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// settle looks again at units that are on their way from one state to another,
// until they have got there or patience is at its end.
func (s *services) settle(ctx context.Context, v *host.View, units []unit, errs []error) {
	for _, d := range patience {
		var at []int
		var names []string
		for i, u := range units {
			if errs[i] == nil && u.unsettled() {
				at, names = append(at, i), append(names, u.name)
			}
		}
		if len(at) == 0 {
			return
		}
		if err := s.wait(ctx, d); err != nil {
			for _, i := range at {
				errs[i] = err
			}
			return
		}
		again, failed := s.ctl.status(ctx, v, names...)
		for k, i := range at {
			units[i], errs[i] = again[k], failed[k]
		}
	}
}

// watch returns an error if a service that was just started does not stay up.
// For a service that does not say itself when it is ready, systemctl start
// returns before it has got anywhere.
func (s *services) watch(ctx context.Context, h *host.Host, name string) error {
	restarts := ""
	for i := 0; ; i++ {
		u, err := s.ctl.one(ctx, &h.View, name)
		if err != nil {
			return err
		}
		if restarts == "" {
			restarts = u.NRestarts
		}
		if fall := u.fall(restarts); fall != "" {
			return fmt.Errorf("%w: %s%s%s", resource.ErrDesiredStateFailed, fall, u.end(), s.ctl.log(ctx, &h.View, name))
		}
		if u.ActiveState == "active" && !u.startsBlindly() || i == len(attention) {
			return nil
		}
		if err := s.wait(ctx, attention[i]); err != nil {
			return err
		}
	}
}

// startsBlindly reports whether systemd holds u to be running as soon as there
// is a process (systemd.service(5), Type=).
func (u unit) startsBlindly() bool {
	return u.SubState == "running" && slices.Contains([]string{"simple", "exec", "idle", "forking"}, u.Type)
}

// fall says how a unit has fallen that was started, "" if it has not. Restarts
// is how often systemd had started it by itself when it was looked at first.
func (u unit) fall(restarts string) string {
	before, _ := strconv.Atoi(restarts)
	now, _ := strconv.Atoi(u.NRestarts)
	switch {
	case u.ActiveState == "failed":
		return "the service was started and failed"
	case u.SubState == "auto-restart" || u.SubState == "auto-restart-queued" || now > before:
		return "the service was started, failed and is being started again and again"
	case u.ActiveState == "inactive" && u.Type == "oneshot":
		return "the service ran to its end: a oneshot service without RemainAfterExit=yes is never running"
	case u.ActiveState == "inactive":
		return "the service was started and is not running"
	}
	return ""
}
