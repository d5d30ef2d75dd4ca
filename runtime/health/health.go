// Package health runs the health checks of resources.
package health

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

// A State is the result of a health check, in the conventions of Nagios plugins (Monitoring Plugins
// Development Guidelines, section 2.3).
type State uint8

// The health states, in the order of their exit codes.
const (
	OK State = iota
	Warning
	Critical
	Unknown
)

// States lists all health states.
var States = [...]State{OK, Warning, Critical, Unknown}

// String returns the word for s.
func (s State) String() string {
	return [...]string{"ok", "warning", "critical", "unknown"}[s]
}

// predicate returns the text behind "is" in a sentence about a check.
func (s State) predicate() string {
	if s == Warning {
		return "a warning"
	}
	return s.String()
}

// A Result is the result of one health check.
type Result struct {
	Name     string
	State    State
	Output   string // the first line of output of the command, or why there is none
	Tries    int
	Duration time.Duration // all tries together
}

// Check runs health checks, and returns an error if one of them fails its resource. Unknown counts
// as a failure.
func Check(ctx context.Context, v *host.View, checks []resource.HealthCheck) (list []Result, err error) {
	for _, c := range checks {
		began := v.Now()
		res := run(ctx, v, c)
		res.Duration = v.Now().Sub(began)
		list = append(list, res)
		fails := res.State > Warning || res.State == Warning && c.WarnFails
		if fails && err == nil {
			err = fmt.Errorf("health check %s is %s%s", res.Name, res.State.predicate(), withOutput(res.Output))
		}
	}
	return list, err
}

// MayRun returns the error of the first check whose command the host would refuse; nil if there is
// none.
func MayRun(v *host.View, checks []resource.HealthCheck) error {
	for i := range checks {
		cmd, _, err := commandOf(&checks[i])
		if err != nil {
			continue // Check reports it
		}
		if err := v.MayRun(cmd); err != nil {
			return fmt.Errorf("health check: %w", err)
		}
	}
	return nil
}

// run runs one check until it is ok, within the check's number of tries.
func run(ctx context.Context, v *host.View, c resource.HealthCheck) (h Result) {
	h.Name = c.Name
	cmd, judge, err := commandOf(&c)
	if h.Name == "" {
		h.Name = cmp.Or(c.Command, gossProgram)
	}
	if err != nil {
		h.State, h.Output = Unknown, err.Error()
		return h
	}
	for h.Tries = 1; ; h.Tries++ {
		res, err := v.Query(ctx, cmd)
		h.State, h.Output = judge(res, err)
		if h.State == OK || h.Tries >= c.Tries {
			return h
		}
		select {
		case <-ctx.Done():
			return h
		case <-time.After(time.Duration(c.TrySleep)):
		}
	}
}

// commandOf returns the command of a check, and the function that judges its result.
func commandOf(c *resource.HealthCheck) (host.Cmd, func(host.Result, error) (State, string), error) {
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

// judge returns the state for the result of a check, and its output.
func judge(res host.Result, err error) (State, string) {
	if err != nil {
		return Unknown, err.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	if line == "" {
		line, _, _ = strings.Cut(strings.TrimSpace(string(res.Stderr)), "\n")
	}
	if res.Code >= 0 && res.Code <= int(Unknown) {
		return State(res.Code), line
	}
	return Unknown, fmt.Sprintf("exit status %d%s", res.Code, withOutput(line))
}

// withOutput returns ": " and the output of a command, or "".
func withOutput(output string) string {
	if output == "" {
		return ""
	}
	return ": " + output
}
