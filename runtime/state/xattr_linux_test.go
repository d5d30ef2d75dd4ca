package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// TestRestoreCapabilities: undo and restore give a file its capabilities back, or take them away, whether or not the run
// changed the content too.
func TestRestoreCapabilities(t *testing.T) {
	bind := "\x01\x00\x00\x02\x00\x04\x00\x00" + strings.Repeat("\x00", 12)
	chown := "\x01\x00\x00\x02\x01\x00\x00\x00" + strings.Repeat("\x00", 12)
	for _, old := range []string{"", chown} {
		for _, content := range []string{"old", "new"} {
			t.Run(content+" content", func(t *testing.T) {
				b := newBox(t)
				b.write("f", "old", 0o755)
				path := filepath.Join(b.root, "f")
				if old != "" {
					err := unix.Setxattr(path, "security.capability", []byte(old), 0)
					if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) {
						t.Skip(err)
					}
					require.NoError(t, err)
				} else if os.Geteuid() != 0 {
					t.Skip("needs root")
				}
				run := b.must(file("/f", content, props{"mode": "0755", "capabilities": "cap_net_bind_service=ep"}))
				buf := make([]byte, 64)
				now := func() string {
					n, err := unix.Getxattr(path, "security.capability", buf)
					if err == unix.ENODATA {
						return ""
					}
					require.NoError(t, err)
					return string(buf[:n])
				}
				require.Equal(t, bind, now())
				_, errs := b.restore(run)
				require.Empty(t, errs)
				require.Equal(t, old, now())
			})
		}
	}
}
