package unpack

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// RemoveLeftover removes the stage that a dead run left behind at a path of the operating system,
// and reports whether it did. The directory must be the one that was made, belong to this user,
// and not be locked. If only the path is known (dev and ino are 0), it must be empty.
func RemoveLeftover(path string, dev, ino uint64) (removed bool, err error) {
	dir, base := filepath.Split(path)
	if !strings.HasPrefix(base, ".") || !strings.HasSuffix(base, stageSuffix) && !safepath.IsRandomName(base, stageSuffix) {
		return false, diag.Not(path, "a directory for unpacking")
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
	case info.Kind != safepath.Directory || info.UID != own || isLocked(p):
		return false, nil // it is another directory by now, or another process uses it
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
