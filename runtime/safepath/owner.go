package safepath

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Self returns the user and the group of this process.
func Self() (uid, gid uint32) { return self() }

// self caches the result, which is needed for each file.
var self = sync.OnceValues(func() (uid, gid uint32) { return uint32(os.Geteuid()), uint32(os.Getegid()) })

// IsOurs reports whether a user is root or the user of this process.
func IsOurs(uid uint32) bool {
	own, _ := Self()
	return uid == 0 || uid == own
}

// IsShared reports whether users other than root and the user of this process may create, rename and remove files in
// a directory.
func IsShared(dir *unix.Stat_t) bool { return isSharedBy(dir.Uid, uint32(dir.Mode)) }

// isSharedBy is IsShared for a directory with that owner and mode.
func isSharedBy(uid, mode uint32) bool { return !IsOurs(uid) || mode&0o022 != 0 }

// UserNumber returns a uid as text, where users cannot be looked up.
func UserNumber(uid uint32) string { return strconv.FormatUint(uint64(uid), 10) }
