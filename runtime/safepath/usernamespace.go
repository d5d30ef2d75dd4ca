package safepath

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// IsMapped reports whether the user namespace of this process has a user and a group (user_namespaces(7)): files
// cannot be given to others, and no command can run as them.
func IsMapped(uid, gid uint32) bool {
	return users().has(uid) && groups().has(gid)
}

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
