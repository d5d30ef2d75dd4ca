package facts

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherUser tells the names that the view has for the numbers of this process,
// so that they can be the owner and the group of a file.
func gatherUser(_ context.Context, v *host.View) (any, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	branch := map[string]any{
		"uid": int64(uid), "name": v.UserName(uint32(uid)),
		"gid": int64(gid), "group": v.GroupName(uint32(gid)),
	}
	passwd, err := readText(v, "/etc/passwd")
	if err != nil {
		return nil, err
	}
	home := homeOf(passwd, uid)
	if home == "" {
		home = os.Getenv("HOME")
	}
	put(branch, "home", home)
	return branch, nil
}

// homeOf returns the home directory of a user in the text of a passwd(5) file,
// or "".
func homeOf(passwd string, uid int) string {
	for line := range strings.Lines(passwd) {
		fields := strings.Split(line, ":")
		if len(fields) >= 6 && fields[2] == strconv.Itoa(uid) {
			return fields[5]
		}
	}
	return ""
}
