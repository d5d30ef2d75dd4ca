package systemd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

const ms = time.Millisecond

// patience is how long Status waits for units on their way, look by look: five
// seconds.
var patience = []time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 700 * ms, 800 * ms, 1000 * ms, 1000 * ms}

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

// A startup is what is known of a unit that was just started.
type startup struct {
	at       time.Time // when systemctl said that it had
	restarts string    // how often systemd had started it by itself then
	did      string    // what was done with it: started or reloaded
}

// started looks at a unit right after systemctl has started it, and remembers it
// for outlast. For a service that does not say itself when it is ready, systemctl
// start returns before it has got anywhere. Did is what systemctl did: started or reloaded.
func (s *services) started(ctx context.Context, h *host.Host, want resources.Service, did string) error {
	u, err := s.ctl.one(ctx, &h.View, unitName(want.Name))
	if err != nil {
		return err
	}
	if fall := u.fall(u.NRestarts, did); fall != "" {
		return s.fallen(ctx, &h.View, u, fall)
	}
	if want.Settle > 0 && u.mayFall() {
		s.remember(u.name, &startup{h.Now(), u.NRestarts, did})
	}
	return nil
}

// remember notes that a unit was started, or with nil forgets it.
func (s *services) remember(unit string, at *startup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == nil {
		delete(s.startups, unit)
		return
	}
	if s.startups == nil {
		s.startups = make(map[string]*startup)
	}
	s.startups[unit] = at
}

// outlast returns an error if a service that was started in this run does not stay
// up for as long as is wanted of it, counted from its start. Of one that was not
// started it returns nil at once. Each start is waited for once.
func (s *services) outlast(ctx context.Context, v *host.View, want resources.Service) error {
	name := unitName(want.Name)
	s.mu.Lock()
	start := s.startups[name]
	s.mu.Unlock()
	if start == nil {
		return nil
	}
	defer s.remember(name, nil)
	if want.Ensure != resources.ServiceRunning {
		return nil
	}
	for up, limit := v.Now().Sub(start.at), time.Duration(want.Settle); ; {
		u, err := s.ctl.one(ctx, v, name)
		if err != nil {
			return err
		}
		if fall := u.fall(start.restarts, start.did); fall != "" {
			return s.fallen(ctx, v, u, fall)
		}
		if up >= limit || !u.mayFall() {
			return nil
		}
		// Most that fall do so soon.
		d := min(max(up/2, 50*ms), time.Second, limit-up)
		if err := s.wait(ctx, d); err != nil {
			return err
		}
		up += d
	}
}

// fallen returns the error about a unit that did not stay up.
func (s *services) fallen(ctx context.Context, v *host.View, u unit, how string) error {
	return fmt.Errorf("%w: %s%s%s", resource.ErrDesiredStateFailed, how, u.end(), s.ctl.log(ctx, v, u.name))
}

// mayFall reports whether u is a service with processes, or on its way there. What
// has none, such as a timer, a socket or a service that was run to its end, stays up.
func (u unit) mayFall() bool {
	// Type is that of the file system for a mount.
	return u.Type != "" && strings.HasSuffix(u.name, ".service") && !(u.ActiveState == "active" && u.SubState == "exited")
}

// fall says how a unit has fallen that was started or reloaded, as did says, "" if it
// has not. Restarts is how often systemd had started it by itself when it was looked
// at first.
func (u unit) fall(restarts, did string) string {
	before, _ := strconv.Atoi(restarts)
	now, _ := strconv.Atoi(u.NRestarts)
	switch {
	case u.ActiveState == "failed":
		return "the service was " + did + " and failed"
	case u.SubState == "auto-restart" || u.SubState == "auto-restart-queued" || now > before:
		return "the service was " + did + ", failed and is being started again and again"
	case u.ActiveState == "inactive" && u.Type == "oneshot":
		return "the service ran to its end: a oneshot service without RemainAfterExit=yes is never running"
	case u.ActiveState == "inactive":
		return "the service was " + did + " and is not running"
	}
	return ""
}
