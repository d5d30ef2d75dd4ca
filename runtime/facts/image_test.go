package facts

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// TestImage: of a root that commands enter, the init system is the one that it boots with, and the architecture that of
// its shell.
func TestImage(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	fact := func(name string) any {
		x, _ := New(t.Context(), &host.New(host.Options{Root: root, Foreign: true}).View, Standard(), nil).Get(name)
		return x
	}
	put("etc/os-release", "ID=debian\n")
	here := fact("os.arch")
	require.Nil(t, fact("init"))
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	binary.LittleEndian.PutUint16(elf[16:], 2)   // an executable file
	binary.LittleEndian.PutUint16(elf[18:], 258) // EM_LOONGARCH
	binary.LittleEndian.PutUint32(elf[20:], 1)
	binary.LittleEndian.PutUint16(elf[52:], 64)
	put("bin/dash", string(elf))
	require.NoError(t, os.Symlink("/bin/dash", filepath.Join(root, "bin/sh")))
	require.Equal(t, "loong64", fact("os.arch"))
	require.NotEqual(t, "loong64", here)
	put("sbin/openrc", "")
	require.Equal(t, "openrc", fact("init"))
	put("usr/lib/systemd/systemd", "")
	require.Equal(t, "systemd", fact("init"))
}
