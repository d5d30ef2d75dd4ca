//go:build !linux || portable

package safepath

// Constraint returns none: ccm does not ask this system.
func (d *Handle) Constraint() Constraint { return Constraint{} }

// Room returns false.
func (d *Handle) Room() (r Room, ok bool) { return r, false }

// Quotas returns none: ccm does not ask this system.
func (d *Handle) Quotas(_, _ uint32) []Room { return nil }

// MayWrite returns nil.
func (d *Handle) MayWrite() error { return nil }

// Preallocate does nothing.
func Preallocate(int, int64) error { return nil }
