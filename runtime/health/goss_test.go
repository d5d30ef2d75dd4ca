package health

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

// TestGoss: the results of goss, and missing results.
func TestGoss(t *testing.T) {
	for name, x := range map[string]struct {
		res    host.Result
		err    error
		state  State
		output string
	}{
		"all hold": {host.Result{Stdout: []byte(`{"results":[{"successful":true,"summary-line-compact":"File: /etc/passwd: exists: matches"}],"summary":{"failed-count":0,"skipped-count":0,"test-count":1,"summary-line":"Count: 1, Failed: 0, Skipped: 0, Duration: 0.000s"}}` + "\n")},
			nil, OK, "Count: 1, Failed: 0, Skipped: 0, Duration: 0.000s"},
		"one does not": {host.Result{Code: 1, Stdout: []byte(`{"results":[{"successful":true,"summary-line-compact":"a"},{"successful":false,"summary-line-compact":"Port: tcp:80: listening: doesn't match\nExpected\n"}],"summary":{"failed-count":1,"test-count":2,"summary-line":"x"}}`)},
			nil, Critical, "1 of 2 rules failed: Port: tcp:80: listening: doesn't match"},
		"no list of them": {host.Result{Code: 1, Stdout: []byte(`{"summary":{"failed-count":3,"test-count":3}}`)}, nil, Critical, "3 of 3 rules failed"},
		"no report":       {host.Result{Code: 78, Stderr: []byte("Error: found 0 tests, source: STDIN\n")}, nil, Unknown, "goss printed no report, exit status 78: Error: found 0 tests, source: STDIN"},
		"other JSON":      {host.Result{Stdout: []byte("{}")}, nil, Unknown, "goss printed no report, exit status 0: {}"},
		"half a report":   {host.Result{Code: 137, Stdout: []byte(`{"results":[`)}, nil, Unknown, `goss printed no report, exit status 137: {"results":[`},
		"contradiction":   {host.Result{Code: 1, Stdout: []byte(`{"summary":{"failed-count":0,"test-count":3}}`)}, nil, Unknown, "goss reported success, but exit status 1"},
		"no goss":         {host.Result{}, &command.NotFoundError{Name: "goss", Dirs: []string{"/bin"}}, Unknown, `goss_rules require goss in the PATH: command "goss" not found in /bin`},
		"a timeout":       {host.Result{}, errors.New("timed out after 10s"), Unknown, "timed out after 10s"},
	} {
		state, output := judgeGoss(x.res, x.err)
		require.Equal(t, x.state, state, name)
		require.Equal(t, x.output, output, name)
	}
}
