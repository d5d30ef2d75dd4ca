package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// FuzzAgentStatus reads any text as the status of an agent: the command does not crash, and control characters do not
// reach the terminal.
func FuzzAgentStatus(f *testing.F) {
	f.Add(`{"pid":1,"version":"1.0.0","config":"/etc/ccm/agent.yaml","since":"2026-11-24T03:10:00Z","state":"running","running":{"source":"a","mode":"run","reason":"b","began":"2026-11-24T03:10:00Z"},
"next_run":"2026-11-24T03:40:00Z","next_health_check":"0001-01-01T00:00:00Z","sources":[{"name":"https://x","digest":"sha256:1","signer":"\u001b]0;x\u0007","asked":"9999-12-31T00:00:00Z","error":"\r\nno","failing_since":"2026-11-24T03:10:00Z",
"last_run":{"source":"a","mode":"run","began":"2026-11-24T03:10:00Z","took":-1,"exit":4,"run_id":"x","counts":{"total":-1,"\u202e":3},"failed":[{"resource":"\u009b31m","message":"y"}],"data_stale":"2026-11-24T03:10:00Z"}}],"data":{"url":"u","data_stale":"2026-11-24T03:10:00Z","error":"e"},"config_error":"\u001b[2J"}`)
	f.Add(`null`)
	f.Add(`{"sources":[null,{}]}`)
	f.Add(`{"sources":[{"last_run":{}}]} x`)
	f.Add(`[]`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "status.json"), []byte(text), 0o600))
		s, err := agent.ReadStatus(dir)
		require.Error(t, err) // no agent is running
		if s == nil {
			return
		}
		_ = s.OK()
		var out strings.Builder
		for _, state := range []string{"stopped", s.State} {
			s.State = state
			printAgentStatus(cli.NewEnv(nil, &out, &out, hosttest.Clock{}, cli.BuildInfo{}), s)
		}
		for _, c := range out.String() {
			require.False(t, c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)), "%q", out.String())
		}
	})
}
