package ssh

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDigests(t *testing.T) {
	require.Equal(t, "R2 2026-01-02 03:04:05 run /srv/site.lua 0 nothing to do", digestOf("history")([]string{"RUN STARTED", "R2  2026-01-02 03:04:05  run /srv/site.lua  0      nothing to do", "R1"}))
	require.Equal(t, "2 ok, warning: clock", digestOf("doctor")([]string{"ok       user   root", "warning  clock  wrong", "         hint: chrony", "ok  lock"}))
	require.Equal(t, "file#/a: present", digestOf("status")([]string{"file#/a", "  ensure: present", "  size: 1"}))
	require.Nil(t, digestOf("run"))
}
