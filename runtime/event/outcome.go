package event

// An Outcome is the result of a resource.
type Outcome uint8

// The outcomes.
const (
	Stable  Outcome = iota // up to date already
	Changed                // brought up to date
	Pending                // would be changed
	Unknown                // unknown before a pending change was made
	Skipped                // not looked at
	Failed
)

// Outcomes lists all outcomes in the order of summaries.
var Outcomes = [...]Outcome{Changed, Pending, Unknown, Skipped, Failed, Stable}

// String returns the word for o in JSON, the language and filters.
func (o Outcome) String() string {
	return [...]string{"stable", "changed", "pending", "unknown", "skipped", "failed"}[o]
}
