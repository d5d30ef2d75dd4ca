package secret

import "golang.org/x/sys/unix"

// isTmpfs reports whether the files of a directory are in memory.
func isTmpfs(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && (uint32(st.Type) == unix.TMPFS_MAGIC || uint32(st.Type) == unix.RAMFS_MAGIC)
}
