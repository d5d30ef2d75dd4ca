package resource

// A DoneError says that the actions were done, and that something failed all the same which
// a look does not show: the script of a package that is installed now.
type DoneError struct{ Err error }

// Error implements error.
func (e *DoneError) Error() string { return e.Err.Error() }

// Unwrap returns what failed.
func (e *DoneError) Unwrap() error { return e.Err }
