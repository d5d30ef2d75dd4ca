package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// A mode change gives the same result as chmod(1).
func TestModeChange(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"u=rwX,go=rX", "a+r", "go-w", "o=", "ug=rw,o-rwx", "a-x,u+X", "u+x,go+X", "g+w,a=rX", "go-rwx"} {
		m, err := host.ParseModeChange(text)
		require.NoError(t, err, text)
		for _, mode := range []uint32{0, 0o644, 0o755, 0o100, 0o611, 0o777, 0o4755} {
			for _, isDir := range []bool{false, true} {
				path := filepath.Join(dir, "x")
				if isDir {
					require.NoError(t, os.Mkdir(path, 0o700))
				} else {
					require.NoError(t, os.WriteFile(path, nil, 0o600))
				}
				require.NoError(t, exec.Command("chmod", modeText(mode), path).Run())
				require.NoError(t, exec.Command("chmod", text, path).Run())
				info, err := host.New(host.Options{}).Lstat(path)
				require.NoError(t, err)
				require.Equal(t, modeText(info.Mode), modeText(m.Apply(mode, isDir)), "%s of %04o, directory: %t", text, mode, isDir)
				require.NoError(t, os.Remove(path))
			}
		}
	}
	for text, want := range map[string]string{
		"": "expected parts such as", "=rw": "expected parts such as", "u": "expected parts such as", "u=rs": "expected parts such as", "u=g": "expected parts such as", "u=r,": "expected parts such as", "z+r": "expected parts such as",
		"u+X,u-r,o=X,g=X,u-x": "",
		"g+X,u+x":             "permissions with the same result when applied again",
	} {
		_, err := host.ParseModeChange(text)
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func modeText(mode uint32) string {
	return "0" + string([]byte{byte('0' + mode>>9&7), byte('0' + mode>>6&7), byte('0' + mode>>3&7), byte('0' + mode&7)})
}
