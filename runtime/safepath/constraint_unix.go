//go:build !linux || portable

package safepath

// Constraint returns none: ccm does not ask this system.
func (d *Handle) Constraint() Constraint { return Constraint{} }

// Room returns false.
func (d *Handle) Room() (bytes uint64, another, ok bool) { return 0, true, false }

// MayWrite returns nil.
func (d *Handle) MayWrite() error { return nil }

// Preallocate does nothing.
func Preallocate(int, int64) error { return nil }
