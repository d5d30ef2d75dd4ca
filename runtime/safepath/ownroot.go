package safepath

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// OpenOwn opens a directory as an os.Root. The directory must be the same as d, empty, and accessible only to the
// user of this process, so that no other user can interfere in it.
func OpenOwn(dir string, d *Handle) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	defer top.Close()
	var st unix.Stat_t
	err = unix.Fstat(int(top.Fd()), &st)
	own, _ := Self()
	if err == nil && (st.Dev != d.Stat.Dev || st.Ino != d.Stat.Ino || st.Uid != own || st.Mode&0o077 != 0) {
		err = &os.PathError{Op: "open", Path: dir, Err: ErrMoved}
	}
	if names, e := top.Readdirnames(1); err == nil && (len(names) > 0 || e == nil) {
		err = &os.PathError{Op: "open", Path: dir, Err: unix.ENOTEMPTY}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}
