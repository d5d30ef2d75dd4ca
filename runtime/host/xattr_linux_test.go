//go:build !portable

package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// acl returns an access list (acl(5)) in which user 4711 may read and write, and the mask is for group and mask.
func acl(mask uint16) []byte {
	var b bytes.Buffer
	write := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	write(uint32(2))
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, 1<<32 - 1}, {2, 6, 4711}, {4, 4, 1<<32 - 1}, {0x10, mask, 1<<32 - 1}, {0x20, 0, 1<<32 - 1}} {
		write(e)
	}
	return b.Bytes()
}

// capability is a file capability of version 2: cap_net_bind_service, effective.
var capability = []byte{1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// setXattr sets an attribute, or skips the test where the file system or the kernel has none.
func setXattr(t *testing.T, path, name string, value []byte) {
	t.Helper()
	err := unix.Setxattr(path, name, value, 0)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		t.Skipf("no attributes: %s: %v", name, err)
	}
	require.NoError(t, err)
}

func xattrOf(path, name string) string {
	buf := make([]byte, 1024)
	n, err := unix.Getxattr(path, name, buf)
	if err != nil {
		return err.Error()
	}
	return string(buf[:n])
}

// TestXattrsOfReplacedFile: a replaced file keeps its extended attributes, whichever way it is written.
func TestXattrsOfReplacedFile(t *testing.T) {
	ways := map[string]func(h *host.Host) error{
		"WriteFile": func(h *host.Host) error { return h.WriteFile("/f", strings.NewReader("new"), me()) },
		"edit": func(h *host.Host) error {
			e := h.NewEdit(context.Background(), "/f")
			return errors.Join(e.Host().WriteFile("/f", strings.NewReader("new"), me()), e.Commit())
		},
		"batch": func(h *host.Host) error {
			b := h.NewBatch()
			errs := []error{b.File().WriteFile("/f", strings.NewReader("new"), me())}
			b.Announce(errs)
			b.Commit(errs, func(int) {})
			return errs[0]
		},
		"Create": func(h *host.Host) error {
			tmp, err := h.Create("/f", me())
			if err == nil {
				_, err = tmp.Write([]byte("new"))
			}
			return errors.Join(err, tmp.Commit())
		},
		"chown": func(h *host.Host) error {
			attr := me()
			attr.GID++
			return errors.Join(h.WriteFile("/f", strings.NewReader("new"), me()), h.SetAttr("/f", attr), h.SetAttr("/f", me()))
		},
	}
	attributes := map[string][]byte{"user.note": []byte("kept"), safepath.AccessListXattr: acl(4), "user.large": bytes.Repeat([]byte("x"), 700)}
	if os.Geteuid() == 0 {
		attributes[safepath.CapabilityXattr] = capability
		attributes["security.selinux"] = []byte("system_u:object_r:shadow_t:s0\x00")
		attributes["trusted.note"] = []byte("kept")
	}
	if os.Geteuid() != 0 || !safepath.MakesUnnamed() { // without /proc a change of owner loses the capabilities
		delete(ways, "chown")
	}
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			h, root := hosttest.New(t, nil)
			path := filepath.Join(root, "f")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o755))
			for name, value := range attributes {
				setXattr(t, path, name, value)
			}
			require.NoError(t, write(h))
			for name, value := range attributes {
				require.Equal(t, string(value), xattrOf(path, name), name)
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, "new", string(text))
			info, err := h.Lstat("/f")
			require.NoError(t, err)
			require.Equal(t, me(), safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode})
		})
	}
}

// TestDefaultAccessList: a new file takes the default list of its directory, and a replaced one without a list does
// not.
func TestDefaultAccessList(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(root, "old"), nil, 0o600))
	setXattr(t, root, safepath.DefaultListXattr, acl(6))
	require.NoError(t, h.WriteFile("/new", strings.NewReader("x"), me()))
	require.NoError(t, h.WriteFile("/old", strings.NewReader("x"), me()))
	require.NoError(t, h.MakeDirectory("/d", me()))
	require.Equal(t, string(acl(4)), xattrOf(filepath.Join(root, "new"), safepath.AccessListXattr))
	require.Equal(t, unix.ENODATA.Error(), xattrOf(filepath.Join(root, "old"), safepath.AccessListXattr))
	require.Equal(t, string(acl(6)), xattrOf(filepath.Join(root, "d"), safepath.DefaultListXattr))
}

// TestRefusedXattr: an attribute that the file system refuses is a warning that names it.
func TestRefusedXattr(t *testing.T) {
	h, root := hosttest.New(t, nil)
	var log bytes.Buffer
	h = h.WithLog(slog.New(slog.NewTextHandler(&log, nil)))
	x := host.Xattrs{safepath.DefaultListXattr: acl(6), "user.note": []byte("kept")} // files have no default list
	require.NoError(t, host.WithXattrs(h, x).WriteFile("/f", strings.NewReader("x"), me()))
	if xattrOf(filepath.Join(root, "f"), "user.note") != "kept" {
		t.Skip("the file system has no attributes")
	}
	require.Contains(t, log.String(), "/f: not kept: attribute system.posix_acl_default: ")
	require.NotContains(t, log.String(), "user.note")
}
