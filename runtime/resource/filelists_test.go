package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

func TestFileLists(t *testing.T) {
	reads := 0
	l := resource.NewFileLists(func(l *resource.FileLists) bool {
		reads++
		l.AddList("web")
		l.Add("web", "/etc/web/web.conf", true)
		l.Add("web", "/etc/web/sites-available/default", true)
		l.Add("web", "/usr/share/web/extra.conf.sample", true)
		l.Add("web", "/etc/web/mods/a.ini", true)
		l.Add("web", "/var/log/web.log", false)
		l.Add("web", "/lib/systemd/system/web.service", true)
		l.AddList("two")
		l.AddList("two") // another version
		l.Add("two", "/etc/two.conf", true)
		l.Add("two", "/etc/two.conf", true)
		l.Add("two", "/etc/two.new", true)
		return true
	})
	for _, x := range []struct {
		path             string
		mentions, brings bool
	}{
		{"/etc/web/web.conf", true, true},
		{"/etc/web", true, false},                           // a directory above
		{"/etc/web/other.conf", false, false},               // not listed
		{"/etc/web/sites-enabled/default", true, false},     // a script may link it
		{"/etc/web/extra.conf", true, false},                // a script may copy it
		{"/etc/web/conf.d/20-a.ini", true, false},           // with a number before it
		{"/usr/share/web/extra.conf.sample", true, false},   // documents may be left out
		{"/var/log/web.log", true, false},                   // owned, not brought
		{"/usr/lib/systemd/system/web.service", true, true}, // the same as in /lib
		{"/etc/two.conf", true, true},                       // in both versions
		{"/etc/two.new", true, false},                       // in one of them
	} {
		require.True(t, l.IsKnown())
		require.Equal(t, x.mentions, l.Mentions(x.path), x.path)
		require.Equal(t, x.brings, l.Brings([]string{"web", "two", "none"}, x.path), x.path)
	}
	require.Equal(t, 1, reads)
	require.False(t, l.Brings([]string{"two"}, "/etc/web/web.conf"), "of another package")
	require.False(t, (*resource.FileLists)(nil).IsKnown())
	require.False(t, resource.NewFileLists(func(*resource.FileLists) bool { return false }).IsKnown())
}
