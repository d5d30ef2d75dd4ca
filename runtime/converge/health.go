package converge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A HealthState is what a health check says, in the conventions of Nagios
// plugins (Monitoring Plugins Development Guidelines, section 2.3).
type HealthState uint8

// The health states, in the order of their exit codes.
const (
	HealthOK HealthState = iota
	HealthWarning
	HealthCritical
	HealthUnknown
)

// HealthStates lists all health states.
var HealthStates = [...]HealthState{HealthOK, HealthWarning, HealthCritical, HealthUnknown}

// String returns the word for s.
func (s HealthState) String() string {
	return [...]string{"ok", "warning", "critical", "unknown"}[s]
}

// predicate returns what follows "is" in a sentence about a check.
func (s HealthState) predicate() string {
	if s == HealthWarning {
		return "a warning"
	}
	return s.String()
}

// Health is the result of one health check.
type Health struct {
	Name   string
	State  HealthState
	Output string // the first line of output of the command, or why there is none
	Tries  int
	Took   time.Duration // all tries together
}

// checkHealth runs the health checks of a resource, and fails it if one of them
// does. HealthUnknown counts as bad.
func checkHealth(ctx context.Context, v *host.View, ev *Event) {
	for _, c := range ev.Resource.Common.HealthChecks {
		began := v.Now()
		res := health(ctx, v, c)
		res.Took = v.Now().Sub(began)
		ev.Health = append(ev.Health, res)
		fails := res.State > HealthWarning || res.State == HealthWarning && c.WarnFails
		if fails && ev.Err == nil {
			ev.Outcome = Failed
			ev.Err = fmt.Errorf("health check %s is %s%s", res.Name, res.State.predicate(), withOutput(res.Output))
		}
	}
}

// health runs one check until it says ok, as often as it may.
func health(ctx context.Context, v *host.View, c resource.HealthCheck) (h Health) {
	h.Name = c.Name
	cmd, judge, err := healthCommand(&c)
	if h.Name == "" {
		h.Name = cmp.Or(c.Command, gossProgram)
	}
	if err != nil {
		h.State, h.Output = HealthUnknown, err.Error()
		return h
	}
	for h.Tries = 1; ; h.Tries++ {
		res, err := v.Query(ctx, cmd)
		h.State, h.Output = judge(res, err)
		if h.State == HealthOK || h.Tries >= c.Tries {
			return h
		}
		select {
		case <-ctx.Done():
			return h
		case <-time.After(time.Duration(c.TrySleep)):
		}
	}
}

// healthCommand returns the command of a check, and what its result means.
func healthCommand(c *resource.HealthCheck) (host.Cmd, func(host.Result, error) (HealthState, string), error) {
	cmd := host.Cmd{Timeout: time.Duration(c.Timeout), KeepLocale: true}
	var err error
	if c.IsGoss() {
		cmd.Argv = gossCommand
		cmd.Stdin, err = json.Marshal(c.GossRules)
		return cmd, judgeGoss, err
	}
	cmd.Argv, err = resource.SplitWords(c.Command)
	return cmd, judge, err
}

// judge returns the state that the result of a check means, and its output.
func judge(res host.Result, err error) (HealthState, string) {
	if err != nil {
		return HealthUnknown, err.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	if line == "" {
		line, _, _ = strings.Cut(strings.TrimSpace(string(res.Stderr)), "\n")
	}
	if res.Code >= 0 && res.Code <= int(HealthUnknown) {
		return HealthState(res.Code), line
	}
	return HealthUnknown, fmt.Sprintf("exit status %d%s", res.Code, withOutput(line))
}

// withOutput returns ": " and the output of a command, or "".
func withOutput(output string) string {
	if output == "" {
		return ""
	}
	return ": " + output
}
