package safepath

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// IsMapped reports whether the user namespace of this process has a user and a group (user_namespaces(7)): files
// cannot be given to others, and no command can run as them.
func IsMapped(uid, gid uint32) bool {
	return users().has(uid) && groups().has(gid)
}

// IsBorrowedRoot reports whether root is only the name of an ordinary user in a user namespace (unshare --map-root-user):
// / belongs to nobody there. Such a root has the rights of that user.
var IsBorrowedRoot = sync.OnceValue(func() bool {
	const overflow = 65534 // what is not mapped
	var st unix.Stat_t
	return !users().hasAll() && unix.Stat("/", &st) == nil && st.Uid == overflow
})

// users and groups are the IDs that the user namespace has.
var (
	users  = sync.OnceValue(func() idMap { return readIDMap("uid") })
	groups = sync.OnceValue(func() idMap { return readIDMap("gid") })
)

// An idMap lists ranges of IDs, each as its first one and their number. A nil one has all.
type idMap [][2]uint64

func readIDMap(kind string) idMap {
	text, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return nil
	}
	return parseIDMap(string(text))
}

// parseIDMap reads /proc/PID/uid_map: lines of the first ID inside, the first one outside, and their number.
func parseIDMap(text string) (m idMap) {
	for line := range strings.Lines(text) {
		var first, outside, n uint64
		if _, err := fmt.Sscan(line, &first, &outside, &n); err == nil {
			m = append(m, [2]uint64{first, n})
		}
	}
	return m
}

func (m idMap) has(id uint32) bool {
	for _, r := range m {
		if uint64(id) >= r[0] && uint64(id)-r[0] < r[1] {
			return true
		}
	}
	return m == nil
}

// hasAll reports whether no ID is missing, as outside of user namespaces.
func (m idMap) hasAll() bool { return m == nil || len(m) == 1 && m[0] == [2]uint64{0, 1<<32 - 1} }
