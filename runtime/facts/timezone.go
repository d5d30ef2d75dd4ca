package facts

import (
	"context"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherTimezone reads the time zone of the machine (localtime(5)); the environment of this process does not count.
// The name is that of the link, or else in the file that Debian has.
func gatherTimezone(_ context.Context, v *host.View) (any, error) {
	const localtime = "/etc/localtime"
	in := installed(v)
	data, err := in.ReadUpTo(localtime, 1<<20)
	if missing(err) {
		return map[string]any{"name": "UTC", "abbreviation": "UTC", "offset": int64(0)}, nil
	}
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	if target, err := in.Readlink(localtime); err == nil {
		_, name, _ := strings.Cut(target, "zoneinfo/")
		put(branch, "name", strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/"))
	}
	if branch["name"] == nil {
		name, err := readText(in, "/etc/timezone")
		if err != nil {
			return nil, err
		}
		put(branch, "name", name)
	}
	// A file that is no time zone counts as UTC for programs, and nothing is known of it here.
	if zone, err := time.LoadLocationFromTZData("", data); err == nil {
		abbreviation, offset := v.Now().In(zone).Zone()
		branch["abbreviation"], branch["offset"] = abbreviation, int64(offset)
	}
	return branch, nil
}
