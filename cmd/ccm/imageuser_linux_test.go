package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestImageOfAnOrdinaryUser: in a user namespace, as unshare --map-root-user and newuidmap(1) make it, the root there has no
// more rights than its user. The files of this machine, which belong to nobody there, are good enough for it.
func TestImageOfAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	const user, others = 54321, 200000
	one := []syscall.SysProcIDMap{{ContainerID: 0, HostID: user, Size: 1}}
	for name, x := range map[string]struct {
		users []syscall.SysProcIDMap
		owner uint32 // outside, of what belongs to the user 7 of the image
	}{
		"one user":      {one, 0},
		"several users": {append(one, syscall.SysProcIDMap{ContainerID: 1, HostID: others, Size: 65536}), others + 6},
	} {
		t.Run(name, func(t *testing.T) {
			image := hosttest.Image(t, "sh", "id")
			dir := filepath.Dir(image)
			at := func(name string) string { return filepath.Join(dir, name) }
			program, err := os.ReadFile("/proc/self/exe")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(at("confinedccm"), program, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(image, "etc/passwd"), []byte("root:x:0:0::/root:/bin/sh\nlp:x:7:7::/:/bin/sh\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(image, "etc/group"), []byte("root:x:0:\nlp:x:7:\n"), 0o644))
			site := "file { '/etc/motd', content = 'x', owner = 'root', group = 'root', mode = '0644' }\nexec { 'id', command = { 'sh', '-c', 'id -u > /etc/id' }, creates = '/etc/id' }\n"
			if x.owner != 0 {
				site += "file { '/etc/lp', content = 'x', owner = 'lp', group = 'lp', mode = '0644' }\n"
			}
			require.NoError(t, os.WriteFile(at("site.lua"), []byte(site), 0o644))
			require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error { return os.Lchown(path, user, user) }))
			run := func(command string) string {
				cmd := exec.CommandContext(t.Context(), at("confinedccm"), command, "--root", image, at("site.lua"))
				cmd.Dir, cmd.Env = "/", append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "CCM_STATE_DIR=", "CCM_CACHE_DIR="+at("cache"), "NO_COLOR=1")
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags: syscall.CLONE_NEWUSER, UidMappings: x.users, GidMappings: x.users, GidMappingsEnableSetgroups: x.owner != 0,
					Credential: &syscall.Credential{NoSetGroups: x.owner == 0},
				}
				out, err := cmd.CombinedOutput()
				if err != nil && cmd.ProcessState == nil || strings.Contains(string(out), "not permitted") {
					t.Skipf("no user namespaces: %v %s", err, out)
				}
				require.NoError(t, err, string(out))
				return string(out)
			}
			out := run("run")
			require.Regexp(t, `(?m)^[23] resources: [23] changed`, out)
			require.NotContains(t, out, "warning")
			require.Contains(t, run("plan"), "Nothing to do")
			for name, owner := range map[string]uint32{"etc/motd": user, "etc/id": user, "var/lib/ccm/history.ndjson": user, "etc/lp": x.owner} {
				if owner == 0 {
					continue
				}
				fi, err := os.Stat(filepath.Join(image, name))
				require.NoError(t, err)
				require.Equal(t, owner, fi.Sys().(*syscall.Stat_t).Uid, name)
			}
		})
	}
}
