package unpack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// RemoveLeftover removes the directory for unpacking that a run has left behind at a
// path of the operating system when it died, and reports whether it was there. It
// has to be the one that was made, by this user, with no one at work in it; of one of
// which only the place is known (dev and ino are 0) it is enough that it is empty.
func RemoveLeftover(path string, dev, ino uint64) (removed bool, err error) {
	dir, base := filepath.Split(path)
	if !strings.HasPrefix(base, ".") || !strings.HasSuffix(base, stageSuffix) && !safepath.IsRandomName(base, stageSuffix) {
		return false, fmt.Errorf("%s is no directory for unpacking", path)
	}
	w := &safepath.Resolver{Root: "/", UserName: func(uid uint32) string { return strconv.FormatUint(uint64(uid), 10) }}
	parent, err := w.Directory(filepath.Clean(dir))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, safepath.PathError("open", dir, err)
	}
	defer parent.Close()
	p := safepath.Location{Dir: parent, Name: base}
	info, err := p.Stat()
	own, _ := safepath.Self()
	switch {
	case err != nil:
		return false, safepath.PathError("stat", path, err)
	case info.Kind != host.Directory || info.UID != own || isLocked(p):
		return false, nil // something else by now, or another process is at work in it
	case dev == 0 && ino == 0:
		err := safepath.Unlink(p)
		if err == nil || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			return err == nil, nil
		}
		return false, safepath.PathError("remove", path, err)
	case info.Dev != dev || info.Ino != ino:
		return false, nil
	}
	return true, removeStage(p)
}
