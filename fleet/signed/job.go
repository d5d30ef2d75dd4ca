package signed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// MaxJob is the time after its creation in which a job may be carried out.
const MaxJob = 24 * time.Hour

// MaxNames is the largest number of nodes that a job names. A job for more has only a condition.
const MaxNames = 500

// A Verb is the verb of a job.
type Verb string

// The verbs of jobs.
const (
	VerbRun    Verb = "run"
	VerbPlan   Verb = "plan"
	VerbCancel Verb = "cancel"
	VerbFacts  Verb = "facts"
	VerbEvents Verb = "events" // send again the events in records of runs
)

// A Job asks nodes to do something with their present release. It carries no code.
type Job struct {
	Header
	// ID is unique: 26 digits and capital letters, like a ULID.
	ID   string `json:"id"`
	Verb Verb   `json:"verb"`
	// Nodes are the addressed nodes, sorted, if there are at most MaxNames; otherwise Condition
	// addresses them.
	Nodes     []string `json:"nodes,omitempty"`
	Condition string   `json:"where,omitempty"`
	// Name is the digest of the names of all addressed nodes, and Count their number.
	Name  string `json:"set"`
	Count int    `json:"count"`
	// AtMost is the number of nodes at a time; 0 for all.
	AtMost int `json:"at_most,omitempty"`
	// Targets limit a run to these resources, as type#name.
	Targets []string `json:"targets,omitempty"`
	// MonitorOnly runs only health checks.
	MonitorOnly bool `json:"monitor_only,omitempty"`
	// Since and Until limit the events to those of runs that began between them, by the clock of
	// the node.
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
}

// Kind implements Document.
func (*Job) Kind() Kind { return KindJob }

// Validate implements Document.
func (j *Job) Validate() error {
	switch j.Verb {
	case VerbRun, VerbPlan, VerbCancel, VerbFacts, VerbEvents:
	default:
		return fmt.Errorf("verb: %w", diag.Expected("run, plan, cancel, facts or events").Got("%q", j.Verb))
	}
	switch {
	case (j.Verb == VerbEvents) != !j.Until.IsZero() || j.Until.Before(j.Since):
		return fmt.Errorf("since, until: %w", diag.Expected("both for events only, since before until"))
	case len(j.ID) != 26 || strings.Trim(j.ID, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "":
		return fmt.Errorf("id: %w", diag.Expected("26 digits and capital letters").Got("%q", j.ID))
	case j.Expires.Sub(j.CreateTime) > MaxJob:
		return fmt.Errorf("expires: %w", diag.MustBe("at most %s after creation", MaxJob))
	case len(j.Nodes) > MaxNames || len(j.Targets) > MaxNames || j.Count < 0 || j.AtMost < 0:
		return fmt.Errorf("nodes, targets: %w", diag.Exceeds("", "%d names", MaxNames))
	case len(j.Nodes) == 0 && j.Condition == "":
		return diag.Expected("nodes, or where")
	case len(j.Reason) > maxText || len(j.Condition) > maxText || len(j.By) > maxText:
		return fmt.Errorf("reason, where, by: %w", diag.Exceeds("", "%d bytes", maxText))
	}
	if err := checkDigest(j.Name); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	for _, name := range j.Nodes {
		if !isName(name) {
			return fmt.Errorf("nodes: %w", diag.Expected("names of nodes").Got("%q", name))
		}
	}
	if len(j.Nodes) > 0 && (SetDigest(j.Nodes) != j.Name || len(j.Nodes) != j.Count) {
		return fmt.Errorf("set: %w", diag.Not("", "the digest of the nodes"))
	}
	for _, t := range j.Targets {
		if err := CheckTarget(t); err != nil {
			return fmt.Errorf("targets: %w", err)
		}
	}
	return nil
}

// CheckTarget returns an error for a text that is not the name of a resource.
func CheckTarget(t string) error {
	if kind, name, ok := strings.Cut(t, "#"); !ok || kind == "" || name == "" || t[0] == '-' || strings.ContainsFunc(t, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return diag.Expected("type#name").Got("%q", t)
	}
	return nil
}

// SetDigest returns the digest of a set of nodes.
func SetDigest(nodes []string) string {
	names := slices.Sorted(slices.Values(nodes))
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Check returns an error if a node must not carry out the job at a time.
func (j *Job) Check(now time.Time) error {
	switch {
	case now.After(j.Expires.Add(Skew)):
		return refuse(Expired, "the job expired at %s", j.Expires.Format(time.RFC3339))
	case j.CreateTime.After(now.Add(Skew)):
		return refuse(ClockSkew, "the job was created at %s, the time here is %s: one of the clocks is wrong", j.CreateTime.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// Means returns an error unless a node is addressed. Holds evaluates a condition for the node.
func (j *Job) Means(node string, holds func(condition string) (bool, error)) error {
	if len(j.Nodes) > 0 {
		if !slices.Contains(j.Nodes, node) {
			return refuse(NotMeant, "the job is for other nodes")
		}
		return nil
	}
	ok, err := holds(j.Condition)
	if err != nil {
		return refuse(NotMeant, "cannot evaluate the condition of the job: %w", err)
	}
	if !ok {
		return refuse(NotMeant, "the job is for other nodes")
	}
	return nil
}

// ForgetAt returns the time from which the ID of a job need not be remembered.
func (j *Job) ForgetAt() time.Time { return j.Expires.Add(MaxJob) }
