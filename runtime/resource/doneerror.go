package resource

// A DoneError reports that the actions were done but something failed that Status does not show,
// such as the script of a package that is installed now.
type DoneError struct{ Err error }

// Error implements error.
func (e *DoneError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *DoneError) Unwrap() error { return e.Err }
