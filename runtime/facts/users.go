package facts

import (
	"context"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherUsers reads the users in /etc/passwd (passwd(5)), by name. Those of a directory
// service are not there.
func gatherUsers(_ context.Context, v *host.View) (any, error) {
	passwd, err := readText(v, "/etc/passwd")
	if passwd == "" || err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for line := range strings.Lines(passwd) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(fields) != 7 || branch[fields[0]] != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(fields[2], 10, 32)
		gid, err2 := strconv.ParseUint(fields[3], 10, 32)
		if err1 != nil || err2 != nil {
			continue // a comment, or a line for NIS
		}
		user := map[string]any{"uid": int64(uid), "gid": int64(gid), "comment": fields[4], "home": fields[5], "shell": fields[6]}
		branch[fields[0]] = user
	}
	return branch, nil
}
