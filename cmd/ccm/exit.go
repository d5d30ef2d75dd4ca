package main

// Exit statuses.
const (
	exitOK          = 0
	exitUsage       = 1   // could not start: command line, script, manifest, lock
	exitChanges     = 2   // with --detailed-exitcodes: something was changed, or would be
	exitFailed      = 4   // a resource failed
	exitInterrupted = 130 // ended by a signal
)

// status is an exit status that is no error of its own: everything has been
// said.
type status int

// Error implements error.
func (s status) Error() string { return "exit status " + string(rune('0'+s)) }

// err returns s as an error, nil if it is 0.
func (s status) err() error {
	if s == exitOK {
		return nil
	}
	return s
}
