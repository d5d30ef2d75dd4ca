package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestRestoreXattrs: undo and restore give files and directories their extended attributes back, also those that were
// removed.
func TestRestoreXattrs(t *testing.T) {
	// u::rwx, u:4711:rw-, g::r-x, m::rwx, o::---
	list := "\x02\x00\x00\x00\x01\x00\x07\x00\xff\xff\xff\xff\x02\x00\x06\x00\x67\x12\x00\x00\x04\x00\x05\x00\xff\xff\xff\xff\x10\x00\x07\x00\xff\xff\xff\xff\x20\x00\x00\x00\xff\xff\xff\xff"
	for name, run := range map[string][]decl{
		"removed":  {absent("/d")},
		"replaced": {file("/d/f", "new")},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.write("d/f", "old", 0o640)
			want := map[[2]string]string{
				{"d/f", "user.note"}:               "kept",
				{"d/f", "system.posix_acl_access"}: list,
				{"d", "user.note"}:                 "kept too",
				{"d", "system.posix_acl_default"}:  list,
			}
			for at, value := range want {
				err := unix.Setxattr(filepath.Join(b.root, at[0]), at[1], []byte(value), 0)
				if errors.Is(err, unix.EOPNOTSUPP) {
					t.Skip(err)
				}
				require.NoError(t, err)
			}
			mode := func() os.FileMode {
				fi, err := os.Lstat(filepath.Join(b.root, "d/f"))
				require.NoError(t, err)
				return fi.Mode()
			}
			before := mode()
			_, errs := b.restore(b.must(run...))
			require.Empty(t, errs)
			require.Equal(t, before, mode())
			for at, value := range want {
				buf := make([]byte, 1024)
				n, err := unix.Getxattr(filepath.Join(b.root, at[0]), at[1], buf)
				require.NoError(t, err, at)
				require.Equal(t, value, string(buf[:n]), at)
			}
		})
	}
}
