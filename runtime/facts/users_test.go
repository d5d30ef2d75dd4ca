package facts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUsers(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n# mine\n+nis::::::\nweb.app:x:1001:33::/srv/app:\nroot:x:1:1:other:/:/bin/sh\nshort:x:1\n"})
	require.Equal(t, map[string]any{
		"root":    map[string]any{"uid": int64(0), "gid": int64(0), "comment": "root", "home": "/root", "shell": "/bin/bash"},
		"web.app": map[string]any{"uid": int64(1001), "gid": int64(33), "comment": "", "home": "/srv/app", "shell": ""},
	}, get(t, v, "users"))
	require.Equal(t, "/srv/app", get(t, v, `users.web\.app.home`))
}
