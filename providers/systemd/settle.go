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

// settle looks again at units that are starting or stopping, until they have settled or the
// patience is used up.
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

// A startup is the data on a unit that was just started.
type startup struct {
	restarts string // number of automatic restarts at that time
	action   string // the action: started or reloaded
}

// recordStart looks at a unit right after systemctl has started it, and records it for
// watchStart. If a service does not tell when it is ready, systemctl start returns at once. Did is the
// action: started or reloaded.
func (s *services) recordStart(ctx context.Context, h *host.Host, want resources.Service, did string) error {
	u, err := s.ctl.one(ctx, &h.View, unitName(want.ServiceName()))
	if err != nil {
		return err
	}
	if failure := u.failure(u.NRestarts, did); failure != "" {
		return s.startError(ctx, &h.View, u, failure)
	}
	if want.Settle > 0 && u.mayEnd() {
		s.startups.Add(u.name, h.Now(), startup{u.NRestarts, did})
	}
	return nil
}

// watchStart returns an error if a service that was started in this run does not stay up for its
// settle time.
func (s *services) watchStart(ctx context.Context, v *host.View, want resources.Service) error {
	name := unitName(want.ServiceName())
	return s.startups.Watch(ctx, v, s.wait, name, want, func(start startup) (bool, error) {
		u, err := s.ctl.one(ctx, v, name)
		if err != nil {
			return false, err
		}
		if failure := u.failure(start.restarts, start.action); failure != "" {
			return false, s.startError(ctx, v, u, failure)
		}
		return !u.mayEnd(), nil
	})
}

// startError returns the error about a unit that did not stay up.
func (s *services) startError(ctx context.Context, v *host.View, u unit, how string) error {
	return fmt.Errorf("%w: %s%s%s", resource.ErrDesiredStateFailed, how, u.end(), s.ctl.log(ctx, v, u.name))
}

// mayEnd reports whether u is a service with processes, or is becoming one. Other units, such as
// a timer, a socket or a finished oneshot service, stay up.
func (u unit) mayEnd() bool {
	// For a mount, Type is that of the file system.
	return u.Type != "" && strings.HasSuffix(u.name, ".service") && !(u.ActiveState == "active" && u.SubState == "exited")
}

// failure says how a started or reloaded unit has ended, "" if it has not. Restarts is its
// number of automatic restarts at the first look.
func (u unit) failure(restarts, did string) string {
	before, _ := strconv.Atoi(restarts)
	now, _ := strconv.Atoi(u.NRestarts)
	switch {
	case u.ActiveState == "failed":
		return "the service was " + did + " and failed"
	case u.SubState == "auto-restart" || u.SubState == "auto-restart-queued" || now > before:
		return "the service was " + did + ", failed and keeps restarting"
	case u.ActiveState == "inactive" && u.Type == "oneshot":
		return "the service ran to its end: a oneshot service without RemainAfterExit=yes is never running " +
			`(to only enable it: ensure = "unmanaged", enable = true)`
	case u.ActiveState == "inactive":
		return "the service was " + did + " and is not running"
	}
	return ""
}
