package facts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSELinux(t *testing.T) {
	const config = "# SELINUX= can take one of these three values:\n\nSELINUX=enforcing\nSELINUXTYPE=targeted\n"
	for _, c := range []struct {
		name, enforce, config string
		want                  map[string]any
	}{
		{"enforcing", "1", config, map[string]any{"enabled": true, "mode": "enforcing", "config_mode": "enforcing", "config_policy": "targeted"}},
		{"permissive until boot", "0", config, map[string]any{"enabled": true, "mode": "permissive", "config_mode": "enforcing", "config_policy": "targeted"}},
		{"disabled until boot", "", config, map[string]any{"enabled": false, "mode": "disabled", "config_mode": "enforcing", "config_policy": "targeted"}},
		{"capitals", "1", "SELINUX=Permissive\n", map[string]any{"enabled": true, "mode": "enforcing", "config_mode": "permissive"}},
		{"no configuration", "", "", map[string]any{"enabled": false, "mode": "disabled"}},
		{"other words", "", "SELINUX=on\x1b[31m\n=\n", map[string]any{"enabled": false, "mode": "disabled"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"/etc/os-release": "ID=rocky\n", "/proc/version": ""}
			if c.enforce != "" {
				files["/sys/fs/selinux/enforce"] = c.enforce // without a line feed, as the kernel writes it
			}
			if c.config != "" {
				files["/etc/selinux/config"] = c.config
			}
			require.Equal(t, c.want, get(t, rootWith(t, files), "selinux"))
		})
	}
}

func TestSELinuxThatCannotBeRead(t *testing.T) {
	running := map[string]string{"/etc/os-release": "ID=rocky\n", "/proc/version": ""}
	for file, c := range map[string]struct{ text, want string }{
		"/sys/fs/selinux/enforce": {strings.Repeat("2\x1b", 1000), `fact selinux: /sys/fs/selinux/enforce: expected 0 or 1, got "2\x1b2\x1b2\x1b2\x1b2\x1b2\x1b2\x1b2\x1b2\x1b2\x1b"`},
		"/etc/selinux/config":     {strings.Repeat("#", largestText+1), "fact selinux: read /etc/selinux/config: expected a file of at most 64.0 MiB"},
	} {
		_, err := New(t.Context(), rootWith(t, running, map[string]string{file: c.text}), Standard(), nil).Get("selinux")
		require.ErrorContains(t, err, c.want)
		require.Less(t, len(err.Error()), 200)
	}
}
