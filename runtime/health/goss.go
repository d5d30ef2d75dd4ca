package health

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

// gossProgram is the program that checks rules of goss (https://goss.readthedocs.io). It is looked
// up in the PATH.
const gossProgram = "goss"

// gossCommand has goss read rules from standard input, and report in JSON.
var gossCommand = []string{gossProgram, "--gossfile", "-", "validate", "--format", "json", "--no-color"}

// A gossReport is a report of goss (outputs/json.go of github.com/goss-org/goss).
type gossReport struct {
	Results []struct {
		Successful bool   `json:"successful"`
		Line       string `json:"summary-line-compact"`
	} `json:"results"`
	Summary *struct {
		Tests  int    `json:"test-count"`
		Failed int    `json:"failed-count"`
		Line   string `json:"summary-line"`
	} `json:"summary"`
}

// judgeGoss returns the state for a report of goss, and a line with the failed rules. A failed rule
// is critical. Without a report the state is unknown.
func judgeGoss(res host.Result, err error) (State, string) {
	if _, ok := errors.AsType[*command.NotFoundError](err); ok {
		return Unknown, "goss_rules require goss in the PATH: " + err.Error()
	}
	if err != nil {
		return Unknown, err.Error()
	}
	var report gossReport
	if err := json.Unmarshal(res.Stdout, &report); err != nil || report.Summary == nil {
		_, line := judge(host.Result{Code: int(Unknown), Stdout: res.Stdout, Stderr: res.Stderr}, nil)
		return Unknown, fmt.Sprintf("goss printed no report, exit status %d%s", res.Code, withOutput(line))
	}
	if report.Summary.Failed == 0 {
		if res.Code != 0 {
			return Unknown, fmt.Sprintf("goss reported success, but exit status %d", res.Code)
		}
		return OK, report.Summary.Line
	}
	what := fmt.Sprintf("%d of %d rules failed", report.Summary.Failed, report.Summary.Tests)
	for _, r := range report.Results {
		if !r.Successful {
			line, _, _ := strings.Cut(strings.TrimSpace(r.Line), "\n")
			return Critical, what + withOutput(line)
		}
	}
	return Critical, what
}
