package report

import "github.com/luaccm/ccm/runtime/jsonwriter"

// AppendJSON appends the event to b as encoding/json would write it, without HTML
// escapes. It uses no reflection, because a run may write many thousand events.
func (e Event) AppendJSON(b []byte) []byte {
	o := jsonwriter.Begin(b)
	o.Text("protocol", e.Protocol)
	o.Text("event_id", e.EventID)
	o.Time("timestamp", e.Timestamp)
	o.OptionalText("host", e.Host)
	o.OptionalText("root", e.Root)
	o.Text("type", e.Type)
	o.Text("name", e.Name)
	o.OptionalText("alias", e.Alias)
	o.Texts("tags", e.Tags)
	o.OptionalText("provider", e.Provider)
	o.OptionalText("position", e.Position)
	o.OptionalText("requested_ensure", e.RequestedEnsure)
	o.OptionalText("final_ensure", e.FinalEnsure)
	o.Int("duration", int64(e.Duration))
	o.Text("outcome", e.Outcome)
	if e.Certain != nil {
		o.Bool("certain", *e.Certain)
	}
	o.Bool("changed", e.Changed)
	o.Bool("refreshed", e.Refreshed)
	o.Bool("failed", e.Failed)
	if e.Ignored {
		o.Bool("ignored", true)
	}
	o.Bool("skipped", e.Skipped)
	o.Bool("noop", e.Noop)
	o.OptionalText("noop_message", e.NoopMessage)
	o.OptionalText("message", e.Message)
	o.OptionalText("reason", e.Reason)
	o.OptionalText("caveat", e.Caveat)
	o.Texts("requires", e.Requires)
	o.Texts("subscribes", e.Subscribes)
	if e.OrderMore > 0 {
		o.Int("order_more", int64(e.OrderMore))
	}
	o.Texts("refreshed_by", e.RefreshedBy)
	jsonwriter.List(&o, "left_over", e.PendingRefresh, func(o *jsonwriter.Object, x PendingRefresh) {
		o.OptionalText("resource", x.Resource)
		o.Text("by", x.By)
		o.Text("run_id", x.RunID)
	})
	o.Texts("because", e.Because)
	if e.BecauseMore > 0 {
		o.Int("because_more", int64(e.BecauseMore))
	}
	appendForecast(&o, e.Forecast)
	appendDiff(&o, e.Diff)
	o.OptionalText("text", e.Text)
	o.Texts("unmet_requirements", e.UnmetRequirements)
	jsonwriter.List(&o, "health_checks", e.HealthChecks, func(o *jsonwriter.Object, h HealthCheck) {
		o.Text("name", h.Name)
		o.Text("status", h.Status)
		o.OptionalText("output", h.Output)
		o.Int("tries", int64(h.Tries))
		if h.Duration != 0 {
			o.Int("duration", int64(h.Duration))
		}
	})
	o.Texts("errors", e.Errors)
	if e.ExitCode != nil {
		o.Int("exit_code", int64(*e.ExitCode))
	}
	o.OptionalText("stdout", e.Stdout)
	o.OptionalText("stderr", e.Stderr)
	return o.End()
}
