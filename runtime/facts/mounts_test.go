package facts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

func TestMounts(t *testing.T) {
	v := rootWith(t)
	root := v.Root()
	mounts := strings.ReplaceAll(`/dev/vda1 / ext4 rw,relatime 0 0
/dev/vda2 ROOT xfs rw,relatime,attr2 0 0
proc ROOT/proc proc rw,nosuid 0 0
//nas/my\040share ROOT/srv/with\040space cifs ro,username=a\134b 0 0
tmpfs ROOT/srv/line\012feed\134 tmpfs rw 0 0
tmpfs ROOTother tmpfs rw 0 0
systemd-1 ROOT/misc autofs rw 0 0
/dev/vdb ROOT/misc ext4 ro 0 0
too short

`, "ROOT", root)
	v = withFiles(t, v, map[string]string{"/proc/self/mounts": mounts})
	require.Equal(t, map[string]any{
		"/":                 map[string]any{"device": "/dev/vda2", "type": "xfs", "options": []any{"rw", "relatime", "attr2"}},
		"/proc":             map[string]any{"device": "proc", "type": "proc", "options": []any{"rw", "nosuid"}},
		"/srv/with space":   map[string]any{"device": "//nas/my share", "type": "cifs", "options": []any{"ro", `username=a\b`}},
		"/srv/line\nfeed\\": map[string]any{"device": "tmpfs", "type": "tmpfs", "options": []any{"rw"}},
		"/misc":             map[string]any{"device": "/dev/vdb", "type": "ext4", "options": []any{"ro"}},
	}, get(t, v, "mounts"))
}

func TestMountsOfThisMachine(t *testing.T) {
	here := get(t, &host.New(host.Options{}).View, "mounts")
	require.Equal(t, "proc", here.(map[string]any)["/proc"].(map[string]any)["type"])
	require.Equal(t, here, get(t, rootWith(t, map[string]string{"/etc/motd": "hi\n"}), "mounts"))
}

func TestUnescapeMount(t *testing.T) {
	for field, want := range map[string]string{
		`a`: `a`, `a\040b`: `a b`, `\011\012\043\134`: "\t\n#\\", `\134040`: `\040`, `a\`: `a\`, `\04`: `\04`, `\999`: `\999`, `\777`: `\777`, `\377`: "\xff",
	} {
		require.Equal(t, want, unescapeMount(field), field)
	}
}
