package resource

import (
	"errors"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// A HealthCheck is a command in the conventions of Nagios plugins: exit status 0
// is ok, 1 a warning, 2 critical. Any other, a command that is missing and one that
// takes too long are unknown. What is critical or unknown fails the resource. In place of a
// command it may have rules of goss: one that does not hold is critical.
type HealthCheck struct {
	// Command is the command to run: split into words as a shell does, and run without a shell. Exit
	// status 0 is ok, 1 a warning, 2 critical, and anything else unknown, also if there is no such
	// command.
	Command string `ccm:"command,argv"`
	// GossRules are rules for the program goss, as in a file of goss. The program must be in the PATH.
	// The check is critical if a rule is violated, and unknown if goss reports no result.
	GossRules map[string]any `ccm:"goss_rules"`
	// Format is how the check reports its result. The default is nagios for a command and goss for
	// rules.
	Format HealthFormat `ccm:"format"`
	// Name is the name of the check in reports. The default is the command, or goss.
	Name string `ccm:"name"`
	// Tries is how often to try the check until it is ok.
	Tries int `ccm:"tries,default=1"`
	// TrySleep is the time between two tries, such as "1s".
	TrySleep host.Duration `ccm:"try_sleep,default=1s"`
	// Timeout limits the time of each try, such as "10s".
	Timeout host.Duration `ccm:"timeout,default=10s"`
	// WarnFails makes a warning fail the resource. By default it is only reported.
	WarnFails bool `ccm:"warn_fails"`
}

// A HealthFormat is the form in which a health check reports its result.
type HealthFormat string

// The formats: the exit status of a Nagios plugin, and what goss reports.
const (
	NagiosFormat HealthFormat = "nagios"
	GossFormat   HealthFormat = "goss"
)

// Values implements schema.Enum.
func (HealthFormat) Values() []string { return []string{string(NagiosFormat), string(GossFormat)} }

// JSONSchema implements schema.JSONSchemer.
func (HealthCheck) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"required": []any{"command"}},
		map[string]any{"required": []any{"goss_rules"}},
	}}
}

// IsGoss reports whether the check is one of rules of goss.
func (c *HealthCheck) IsGoss() bool { return c.GossRules != nil }

// check returns what is wrong with the check.
func (c *HealthCheck) check() error {
	switch {
	case c.IsGoss() && c.Command != "":
		return diag.Expected("a command or goss_rules").Got("both")
	case c.IsGoss() && c.Format == NagiosFormat:
		return diag.Requires("format nagios", "a command, got goss_rules")
	case c.IsGoss() && len(c.GossRules) == 0:
		return diag.Expected("at least one rule in goss_rules")
	case c.IsGoss():
		return nil
	case c.Format == GossFormat:
		return diag.Requires("format goss", "goss_rules, got a command")
	}
	words, err := SplitWords(c.Command)
	if err == nil && len(words) == 0 {
		err = diag.Expected("a command or goss_rules")
	}
	return err
}

// checkHealthChecks reports commands that could never run, and checks that would
// never be tried.
func checkHealthChecks(checks []HealthCheck) error {
	var errs []error
	for i := range checks {
		c := &checks[i]
		if err := c.check(); err != nil {
			errs = append(errs, PropertyErrorf("health_checks", "check %d: %w", i+1, err))
		}
		if c.Tries < 1 {
			errs = append(errs, PropertyErrorf("health_checks", "tries of check %d %w", i+1, diag.MustBe("at least 1").Got("%d", c.Tries)))
		}
	}
	return errors.Join(errs...)
}
