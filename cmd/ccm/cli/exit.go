package cli

import "strconv"

// Exit statuses.
const (
	ExitOK          = 0
	ExitUsage       = 1   // could not start: command line, script, manifest, lock
	ExitChanges     = 2   // with --detailed-exitcodes: something changed or would change
	ExitFailed      = 4   // a resource failed
	ExitInterrupted = 130 // ended by a signal
)

// Status is an exit status without a message: everything has been reported already.
type Status int

// Error implements error.
func (s Status) Error() string { return "exit status " + strconv.Itoa(int(s)) }

// Err returns s as an error, nil if it is 0.
func (s Status) Err() error {
	if s == ExitOK {
		return nil
	}
	return s
}
