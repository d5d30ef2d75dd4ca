package report

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// The protocols of the JSON objects of a report.
const (
	EventProtocol   = "io.choria.ccm.v1.transaction.event"
	OutputProtocol  = "io.choria.ccm.v1.transaction.output"
	SummaryProtocol = "io.choria.ccm.v1.session.summary"
)

// FixedFields are the fields of events that never hold a secret: their values come from this
// program, or are names of resources, which may not be secret.
var FixedFields = []string{"protocol", "event_id", "run_id", "timestamp", "start_time", "type", "name", "outcome", "status"}

// Event is the JSON of an event.
type Event struct {
	// Protocol marks an event.
	Protocol string `json:"protocol"`
	// EventID is unique: the run, and the number of the resource in it.
	EventID string `json:"event_id"`
	// Timestamp is when the resource had its turn, in UTC.
	Timestamp time.Time `json:"timestamp"`
	// Host is the name of the machine. Records of runs have it once, in their header.
	Host string `json:"host,omitempty"`
	// Root is the directory that stood for /; left out for / itself.
	Root string `json:"root,omitempty"`
	// Type is that of the resource.
	Type string `json:"type"`
	// Name is that of the resource.
	Name string `json:"name"`
	// Alias is its second name.
	Alias string `json:"alias,omitempty"`
	// Tags are those of the resource.
	Tags []string `json:"tags,omitempty"`
	// Provider is the name of the provider; left out if none was chosen.
	Provider string `json:"provider,omitempty"`
	// Position is where the resource is declared: file, line and column.
	Position string `json:"position,omitempty"`
	// RequestedEnsure is the value of ensure that is wanted.
	RequestedEnsure string `json:"requested_ensure,omitempty"`
	// FinalEnsure is the value of ensure at the end; left out if that is not known.
	FinalEnsure string `json:"final_ensure,omitempty"`
	// Duration is how long it took, in nanoseconds.
	Duration time.Duration `json:"duration"`
	// Outcome is stable, changed, pending, unknown, skipped or failed.
	Outcome string `json:"outcome"`
	// Certain is false for a pending resource that is not changed if one of because brings exactly
	// what it wants. Otherwise it is left out.
	Certain *bool `json:"certain,omitempty"`
	// Changed is set if the resource was changed or, in a plan, would be.
	Changed bool `json:"changed"`
	// Refreshed is set if something was refreshed because of a change elsewhere.
	Refreshed bool `json:"refreshed"`
	// Failed is set if the resource failed.
	Failed bool `json:"failed"`
	// Ignored is set if the failure does not fail the run (ignore_failure).
	Ignored bool `json:"ignored,omitempty"`
	// Skipped is set if the resource was not looked at.
	Skipped bool `json:"skipped"`
	// Noop is set if nothing is done about the resource: it is only planned.
	Noop bool `json:"noop"`
	// NoopMessage is what would be done, in words. Of ccm drift it is what differs.
	NoopMessage string `json:"noop_message,omitempty"`
	// Message is what was done, in words.
	Message string `json:"message,omitempty"`
	// Reason is the cause of a change: new, intended or corrective. For an unknown or
	// skipped resource it is the reason in words.
	Reason string `json:"reason,omitempty"`
	// Caveat is why a pending resource may turn out otherwise.
	Caveat string `json:"caveat,omitempty"`
	// Requires lists what the resource comes after and only waits for, as type#name.
	Requires []string `json:"requires,omitempty"`
	// Subscribes lists what the resource comes after and refreshes it when it changes. Both
	// lists together have at most 1,000 names.
	Subscribes []string `json:"subscribes,omitempty"`
	// OrderMore is how many more there are.
	OrderMore int `json:"order_more,omitempty"`
	// RefreshedBy lists the resources whose changes the refresh is for.
	RefreshedBy []string `json:"refreshed_by,omitempty"`
	// PendingRefresh lists refreshes of earlier runs that the actions make up for.
	PendingRefresh []PendingRefresh `json:"left_over,omitempty"`
	// Because lists the resources that make this one unknown or not certain, the surest first and at most
	// 100. Forecast is its expected outcome.
	Because []string `json:"because,omitempty"`
	// BecauseMore is how many earlier resources besides may affect the outcome, at most, where
	// because is full.
	BecauseMore int `json:"because_more,omitempty"`
	// Forecast is what would become of a resource that is unknown or not certain; left out if nobody can know.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Diff lists the properties that differed before anything was done.
	Diff []resource.Delta `json:"diff,omitempty"`
	// Text is the unified diff of a content that differed.
	Text string `json:"text,omitempty"`
	// UnmetRequirements lists what the resource requires and that failed or was skipped.
	UnmetRequirements []string `json:"unmet_requirements,omitempty"`
	// HealthChecks are the results of the health checks of the resource.
	HealthChecks []HealthCheck `json:"health_checks,omitempty"`
	// Errors are the reasons why the resource failed.
	Errors []string `json:"errors,omitempty"`
	// ExitCode is that of the command that was run for the resource.
	ExitCode *int `json:"exit_code,omitempty"`
	// Stdout is the end of its output, 64 KiB at most.
	Stdout string `json:"stdout,omitempty"`
	// Stderr is the end of its errors, 64 KiB at most.
	Stderr string `json:"stderr,omitempty"`
}

// Output is the JSON of a line that a command of a resource has written.
type Output struct {
	// Protocol marks a line of output.
	Protocol string `json:"protocol"`
	// RunID is the name of the run, as ccm history has it.
	RunID string `json:"run_id"`
	// Timestamp is when the line came, in UTC.
	Timestamp time.Time `json:"timestamp"`
	// Type is that of the resource.
	Type string `json:"type"`
	// Name is that of the resource.
	Name string `json:"name"`
	// Line is the line, without its end.
	Line string `json:"line"`
}

// HealthCheck is the JSON of the result of a health check.
type HealthCheck struct {
	// Name is that of the check.
	Name string `json:"name"`
	// Status is ok, warning, critical or unknown.
	Status string `json:"status"`
	// Output is what the check has written.
	Output string `json:"output,omitempty"`
	// Tries is how often it was run.
	Tries int `json:"tries"`
	// Duration is how long all tries took together, in nanoseconds.
	Duration time.Duration `json:"duration,omitempty"`
}

// PendingRefresh is the JSON of a refresh that is pending since an earlier run.
type PendingRefresh struct {
	// Resource is the one to refresh.
	Resource string `json:"resource,omitempty"`
	// By is the resource whose change it is for.
	By string `json:"by"`
	// RunID is the name of the run in which that was changed.
	RunID string `json:"run_id"`
}

// Summary is the JSON of the summary of a run.
type Summary struct {
	// Protocol marks a summary.
	Protocol string `json:"protocol"`
	// RunID is the name of the run, as ccm history has it.
	RunID string `json:"run_id"`
	// Host is the name of the machine.
	Host string `json:"host,omitempty"`
	// Root is the directory that stood for /; left out for / itself.
	Root string `json:"root,omitempty"`
	// StartTime is when the run began, in UTC.
	StartTime time.Time `json:"start_time"`
	// Duration is how long it took, in nanoseconds.
	Duration time.Duration `json:"duration"`
	// Total is how many resources there are.
	Total int `json:"total_resources"`
	// Stable is how many were up to date already.
	Stable int `json:"stable_resources"`
	// Changed is how many were changed.
	Changed int `json:"changed_resources"`
	// Pending is how many would be changed.
	Pending int `json:"pending_resources"`
	// Unknown is how many cannot be known before something pending was done.
	Unknown int `json:"unknown_resources"`
	// Skipped is how many were not looked at.
	Skipped int `json:"skipped_resources"`
	// Failed is how many failed.
	Failed int `json:"failed_resources"`
	// Ignored is how many of the failed resources do not fail the run.
	Ignored int `json:"ignored_failures,omitempty"`
	// Refreshed is how many were refreshed.
	Refreshed int `json:"refreshed_resources"`
	// Health counts the health checks by their status.
	Health map[string]int `json:"health_checks,omitempty"`
	// Noop is set if this was a plan.
	Noop bool `json:"noop"`
	// Interrupted is set if the run was ended before its time.
	Interrupted bool `json:"interrupted"`
	// DroppedRefreshes lists pending refreshes of earlier runs whose resources no longer exist.
	DroppedRefreshes []PendingRefresh `json:"dropped_refreshes,omitempty"`
	// Undeclared is how many resources that earlier runs have made are no longer declared
	// (ccm prune).
	Undeclared int `json:"undeclared_resources,omitempty"`
	// Registrations is what became of services that resources register; left out if none does.
	Registrations *Registrations `json:"registrations,omitempty"`
}

// Registrations is the JSON of what became of services that resources register.
type Registrations struct {
	// Published is how many were sent to the registry.
	Published int `json:"published"`
	// Unpublished is how many were not, because neither --register nor CCM_REGISTER was given.
	Unpublished int `json:"unpublished,omitempty"`
	// Problems are the services that could not be registered.
	Problems []RegistrationProblem `json:"problems,omitempty"`
}

// RegistrationProblem is the JSON of a service that could not be registered.
type RegistrationProblem struct {
	// Resource is what registers it, as type#name.
	Resource string `json:"resource"`
	// Service is its cluster, protocol, name and address.
	Service string `json:"service"`
	// Error is why it is not registered.
	Error string `json:"error"`
}

// JSON reports to programs, one object a line.
type JSON struct {
	mu     sync.Mutex // a command writes while others are reported
	w      io.Writer
	enc    *json.Encoder
	line   []byte // reused for each line
	origin Origin
	diff   DiffMode
}

// An Origin is where a run takes place.
type Origin struct {
	RunID string
	Host  string // the name of the machine; may be ""
	Root  string // the directory used as /; "" or / for / itself
	// Drift is set if the machine is compared with what was applied. No run follows.
	Drift bool
}

// Event returns the JSON form of an event.
func (o Origin) Event(e *event.Event, diff DiffMode) Event {
	out := EventOf(e, o.RunID, diff)
	out.Host, out.Root = o.Host, o.root()
	if o.Drift && e.Outcome == event.Pending {
		out.NoopMessage = driftMessage(e, diff)
	}
	return out
}

// Summary returns the JSON form of a summary.
func (o Origin) Summary(s event.Summary) Summary {
	out := SummaryOf(s, o.RunID)
	out.Host, out.Root = o.Host, o.root()
	return out
}

func (o Origin) root() string {
	if o.Root == "/" {
		return ""
	}
	return o.Root
}

var _ event.Reporter = (*JSON)(nil)

// NewJSON returns a reporter that writes to w.
func NewJSON(w io.Writer, where Origin, diff DiffMode) *JSON {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSON{w: w, enc: enc, origin: where, diff: diff}
}

// Event implements event.Reporter.
func (j *JSON) Event(e *event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.line = append(j.origin.Event(e, j.diff).AppendJSON(j.line[:0]), '\n')
	_, _ = j.w.Write(j.line)
}

// Output writes the object of a line of output.
func (j *JSON) Output(of *resource.Resource, line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.enc.Encode(Output{OutputProtocol, j.origin.RunID, time.Now().UTC(), of.ID.Type, of.ID.Name, line})
}

// Summary writes the last object.
func (j *JSON) Summary(s event.Summary) { _ = j.enc.Encode(j.origin.Summary(s)) }
