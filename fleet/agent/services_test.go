package agent

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A failed registration stays reported until a run has tried again or the resource is gone. A health check of another
// resource and a failed run do not change it.
func TestUnregisteredServices(t *testing.T) {
	u, began := make(unregisteredServices), time.Now()
	run := func(mode Mode, text string, events ...line) []string {
		began = began.Add(time.Second)
		r := &Run{Request: Request{Source: "s", Mode: mode}, Began: began}
		for i := range events {
			events[i].Type = "file"
			u.record(r, &events[i])
		}
		s := new(summary)
		require.NoError(t, json.Unmarshal([]byte(text), s))
		return u.end(r, &Result{Summary: json.RawMessage(text)}, s)
	}
	checked := json.RawMessage(`[{}]`)
	problems := `{"registrations":{"problems":[{"resource":"file#a","service":"A","error":"no"},{"resource":"file#b","service":"B","error":"no"}]}}`
	both := []string{"A of file#a is not registered: no", "B of file#b is not registered: no"}
	require.Equal(t, both, run(Apply, problems, line{Name: "a", Outcome: "stable", HealthChecks: checked}, line{Name: "b", Outcome: "changed"}))
	require.Equal(t, both, run(Check, `{}`, line{Name: "a", Outcome: "failed", HealthChecks: checked}, line{Name: "b", Outcome: "stable"}))
	require.Equal(t, both[1:], run(Check, `{}`, line{Name: "a", Outcome: "stable", HealthChecks: checked}, line{Name: "b", Outcome: "stable"}))
	require.Equal(t, both[1:], run(Apply, `{}`, line{Name: "a", Outcome: "stable"}, line{Name: "b", Outcome: "skipped"}))
	require.Equal(t, []string{"2 services are not registered (set registration to jetstream, nats or none)"}, run(Apply, `{"registrations":{"unpublished":2}}`, line{Name: "a", Outcome: "stable"}), "b is declared no more")
	require.Empty(t, run(Apply, `{}`, line{Name: "a", Outcome: "stable"}))
}
