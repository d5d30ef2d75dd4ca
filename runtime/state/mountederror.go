package state

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/host"
)

// A MountedError reports that a directory is not removed, because a file system is mounted at it or
// below it. The user has to unmount it, who knows what uses it.
type MountedError struct{ At string }

// Error reports what is mounted and what to do.
func (e *MountedError) Error() string {
	return fmt.Sprintf("a file system is mounted at %s, which is kept (umount it, then remove the directory)", e.At)
}

// Mounted returns a *MountedError if a file system is mounted at the path or below it, and nil
// otherwise. Mounts are those of the whole machine.
func (r Restoration) Mounted(mounts host.Mounts) error {
	if at := mounts.At(placeOf(r.Path, r.Dir)[1:]); at != "" {
		return &MountedError{"/" + at}
	}
	return nil
}
