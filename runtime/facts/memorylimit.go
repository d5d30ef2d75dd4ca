package facts

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// memoryLimit returns the least memory limit of the control groups that process 1 is in, in bytes; 0 if there is none.
// So it is that of a container, and not that of the service that ccm runs in (cgroups(7)).
func memoryLimit(run *host.View) (int64, error) {
	groups, err := readText(run, "/proc/1/cgroup")
	if err != nil {
		return 0, err
	}
	var least int64
	for line := range strings.Lines(groups) {
		// number:controllers:path
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount, file := "/sys/fs/cgroup", "memory.max"
		if fields[1] != "" {
			if !slices.Contains(strings.Split(fields[1], ","), "memory") {
				continue
			}
			mount, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// In a container without a name space of its own for control groups the path is that of the machine around it,
		// which does not exist here. The root of the mount is its own group then.
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			text, err := readText(run, path.Join(mount, group, file))
			if err != nil {
				return 0, err
			}
			// No limit is "max", or with version 1 the greatest number of whole pages.
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 1<<60 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least, nil
}
