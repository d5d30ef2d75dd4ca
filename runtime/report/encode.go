package report

import (
	"strconv"
	"time"

	"github.com/luaccm/ccm/runtime/schema"
)

// AppendJSON appends the event to b as encoding/json would write it, without HTML
// escapes. It uses no reflection, because a run may write many thousand events.
func (e Event) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("protocol", e.Protocol)
	o.text("event_id", e.EventID)
	o.key("timestamp")
	o.b = append(o.b, '"')
	o.b = e.Timestamp.AppendFormat(o.b, time.RFC3339Nano)
	o.b = append(o.b, '"')
	o.text("type", e.Type)
	o.text("name", e.Name)
	o.optionalText("alias", e.Alias)
	o.optionalText("provider", e.Provider)
	o.optionalText("position", e.Position)
	o.optionalText("requested_ensure", e.RequestedEnsure)
	o.optionalText("final_ensure", e.FinalEnsure)
	o.key("duration")
	o.b = strconv.AppendInt(o.b, int64(e.Duration), 10)
	o.text("outcome", e.Outcome)
	o.flag("changed", e.Changed)
	o.flag("refreshed", e.Refreshed)
	o.flag("failed", e.Failed)
	o.flag("skipped", e.Skipped)
	o.flag("noop", e.Noop)
	o.optionalText("noop_message", e.NoopMessage)
	o.optionalText("message", e.Message)
	o.optionalText("reason", e.Reason)
	o.optionalText("caveat", e.Caveat)
	o.texts("refreshed_by", e.RefreshedBy)
	list(&o, "left_over", e.LeftOver, func(o *object, x LeftOver) {
		o.optionalText("resource", x.Resource)
		o.text("by", x.By)
		o.text("run_id", x.RunID)
	})
	o.texts("because", e.Because)
	o.appendForecast(e.Forecast)
	o.deltas("diff", e.Diff)
	o.optionalText("text", e.Text)
	o.texts("unmet_requirements", e.UnmetRequirements)
	list(&o, "health_checks", e.HealthChecks, func(o *object, h HealthCheck) {
		o.text("name", h.Name)
		o.text("status", h.Status)
		o.optionalText("output", h.Output)
		o.key("tries")
		o.b = strconv.AppendInt(o.b, int64(h.Tries), 10)
	})
	o.texts("errors", e.Errors)
	return append(o.b, '}')
}

// An object writes a JSON object.
type object struct{ b []byte }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) text(name, text string) {
	o.key(name)
	o.b = schema.AppendText(o.b, text)
}

// optionalText is text, without the name if the text is empty.
func (o *object) optionalText(name, text string) {
	if text != "" {
		o.text(name, text)
	}
}

func (o *object) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

func (o *object) texts(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	o.key(name)
	for i, text := range texts {
		o.b = append(o.b, "[,"[min(i, 1)])
		o.b = schema.AppendText(o.b, text)
	}
	o.b = append(o.b, ']')
}

// list writes a list of objects, unless it is empty.
func list[T any](o *object, name string, items []T, fields func(o *object, item T)) {
	if len(items) == 0 {
		return
	}
	o.key(name)
	for i, item := range items {
		o.b = append(o.b, "[,"[min(i, 1)], '{')
		fields(o, item)
		o.b = append(o.b, '}')
	}
	o.b = append(o.b, ']')
}
