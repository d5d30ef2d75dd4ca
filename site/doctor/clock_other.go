//go:build !linux

package doctor

import "errors"

// clockSynchronized is not known on this system.
func clockSynchronized() (bool, error) { return false, errors.ErrUnsupported }
