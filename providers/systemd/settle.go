package systemd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// settle looks again at units that are on their way from one state to another,
// until they have got there or patience is at its end.
func (s *services) settle(ctx context.Context, v *host.View, units []unit, errs []error) {
	waiting, err := s.wait.Settle(ctx, func() (at []int) {
		for i, u := range units {
			if errs[i] == nil && u.unsettled() {
				at = append(at, i)
			}
		}
		return at
	}, func(at []int) {
		names := make([]string, len(at))
		for k, i := range at {
			names[k] = units[i].name
		}
		again, failed := s.ctl.status(ctx, v, names...)
		for k, i := range at {
			units[i], errs[i] = again[k], failed[k]
		}
	})
	for _, i := range waiting {
		errs[i] = err
	}
}

// A startup is what is known of a unit that was just started.
type startup struct {
	restarts string // how often systemd had started it by itself then
	did      string // what was done with it: started or reloaded
}

// started looks at a unit right after systemctl has started it, and remembers it
// for outlast. For a service that does not say itself when it is ready, systemctl
// start returns before it has got anywhere. Did is what systemctl did: started or reloaded.
func (s *services) started(ctx context.Context, h *host.Host, want resources.Service, did string) error {
	u, err := s.ctl.one(ctx, &h.View, unitName(want.ServiceName()))
	if err != nil {
		return err
	}
	if fall := u.fall(u.NRestarts, did); fall != "" {
		return s.fallen(ctx, &h.View, u, fall)
	}
	if want.Settle > 0 && u.mayFall() {
		s.startups.Add(u.name, h.Now(), startup{u.NRestarts, did})
	}
	return nil
}

// outlast returns an error if a service that was started in this run does not stay
// up for as long as is wanted of it.
func (s *services) outlast(ctx context.Context, v *host.View, want resources.Service) error {
	name := unitName(want.ServiceName())
	return s.startups.Outlast(ctx, v, s.wait, name, want, func(start startup) (bool, error) {
		u, err := s.ctl.one(ctx, v, name)
		if err != nil {
			return false, err
		}
		if fall := u.fall(start.restarts, start.did); fall != "" {
			return false, s.fallen(ctx, v, u, fall)
		}
		return !u.mayFall(), nil
	})
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
