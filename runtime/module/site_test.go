package module_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/module"
	"github.com/luaccm/ccm/runtime/trust"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

// vendored makes a site with one module in vendor.
func vendored(t *testing.T) (dir string, lock *module.Lock) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, map[string]string{
		"ccm.mod.lua":                    `return { dependencies = { nginx = { version = "1.2.0", git = "https://git.example.org/nginx.git" } } }`,
		"vendor/nginx/ccm.mod.lua":       `return { name = "nginx", exports = { "nginx" } }`,
		"vendor/nginx/lib/nginx.lua":     "return {}\n",
		"vendor/nginx/templates/a.tmpl":  "server {}\n",
		"vendor/nginx/lib/nginx/tls.lua": "return {}\n",
	})
	hash, err := module.HashDir(dir + "/vendor/nginx")
	require.NoError(t, err)
	lock = &module.Lock{Modules: []module.LockedModule{{
		Name: "nginx", Version: "v1.2.0", Source: module.Source{Git: "https://git.example.org/nginx.git"}, Tag: "v1.2.0",
		Commit: "0123456789012345678901234567890123456789", Hash: hash, Exports: []string{"nginx"},
	}}}
	write(t, dir, map[string]string{"ccm.lock": string(lock.Text())})
	return dir, lock
}

// A module in vendor is found, and a change of any byte of its files or of the lock is refused.
func TestEachByteCounts(t *testing.T) {
	dir, _ := vendored(t)
	cache := t.TempDir()
	copies := func() ([]module.Copy, error) {
		s, err := module.Open(nil, dir, []string{cache})
		if err != nil {
			return nil, err
		}
		return s.Copies()
	}
	list, err := copies()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, dir+"/vendor/nginx", list[0].Dir)

	lock, err := os.ReadFile(dir + "/ccm.lock")
	require.NoError(t, err)
	for i := range lock {
		for _, bit := range []byte{1, 2, 32, 128} {
			lock[i] ^= bit
			_, err := module.ParseLock("ccm.lock", lock)
			require.Error(t, err, "bit %d of byte %d of the lock", bit, i)
			lock[i] ^= bit
		}
		_, err := module.ParseLock("ccm.lock", lock[:i])
		require.Error(t, err, "the lock is cut at %d", i)
	}
	for _, name := range []string{"vendor/nginx/ccm.mod.lua", "vendor/nginx/lib/nginx.lua", "vendor/nginx/lib/nginx/tls.lua", "vendor/nginx/templates/a.tmpl"} {
		file := filepath.Join(dir, name)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i := range text {
			text[i] ^= 1
			require.NoError(t, os.WriteFile(file, text, 0o644))
			_, err := copies()
			require.Error(t, err, "byte %d of %s", i, name)
			text[i] ^= 1
		}
		require.NoError(t, os.WriteFile(file, text[:len(text)-1], 0o644))
		_, err = copies()
		require.Error(t, err, "%s is cut short", name)
		require.NoError(t, os.WriteFile(file, text, 0o644))
	}
	_, err = copies()
	require.NoError(t, err)
	write(t, dir, map[string]string{"vendor/nginx/more.lua": ""})
	_, err = copies()
	require.ErrorContains(t, err, "nginx@v1.2.0 does not match the lock file:")
	require.NoError(t, os.Remove(dir+"/vendor/nginx/more.lua"))
	require.NoError(t, os.Symlink("/etc/passwd", dir+"/vendor/nginx/link"))
	_, err = copies()
	require.ErrorContains(t, err, "such as a link")
}

// The directories above 100 modules that lie together are checked by the policy once each.
func TestWaysAreJudgedOnce(t *testing.T) {
	dir := t.TempDir()
	var lock module.Lock
	asked := ""
	for i := range 100 {
		name := fmt.Sprintf("m%02d", i)
		write(t, dir, map[string]string{
			"vendor/" + name + "/ccm.mod.lua":      fmt.Sprintf("return { name = %q, exports = { %q } }", name, name),
			"vendor/" + name + "/" + name + ".lua": "return {}\n",
		})
		hash, err := module.HashDir(dir + "/vendor/" + name)
		require.NoError(t, err)
		source := "https://git.example.org/" + name
		lock.Modules = append(lock.Modules, module.LockedModule{Name: name, Version: "v1.0.0", Source: module.Source{Git: source}, Tag: "v1.0.0", Hash: hash, Exports: []string{name}})
		asked += fmt.Sprintf("%s = { version = \"1.0.0\", git = %q }, ", name, source)
	}
	write(t, dir, map[string]string{"ccm.mod.lua": "return { dependencies = { " + asked + "} }", "ccm.lock": string(lock.Text())})
	looks := 0
	policy := &trust.Policy{Owners: []uint32{uint32(os.Geteuid())}, Lstat: func(name string, st *syscall.Stat_t) error {
		looks++
		err := syscall.Lstat(name, st)
		st.Uid = uint32(os.Geteuid())
		return err
	}}
	s, err := module.Open(policy.Remembering(), dir, []string{t.TempDir()})
	require.NoError(t, err)
	for i := range lock.Modules {
		found, err := s.Require("", lock.Modules[i].Name)
		require.NoError(t, err)
		require.NotNil(t, found)
	}
	require.Less(t, looks, 100+60, "one for each module, and those on the way")
}

// Read returns only verified content: a file that was changed or added after the check is refused.
func TestReadsWhatWasChecked(t *testing.T) {
	dir, _ := vendored(t)
	s, err := module.Open(nil, dir, []string{t.TempDir()})
	require.NoError(t, err)
	c, err := s.Open("nginx")
	require.NoError(t, err)
	text, ok, err := c.Read("lib/nginx.lua")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "return {}\n", string(text))
	write(t, dir, map[string]string{"vendor/nginx/lib/more.lua": ""})
	_, ok, err = c.Read("lib/more.lua")
	require.NoError(t, err)
	require.False(t, ok)
	write(t, dir, map[string]string{"vendor/nginx/lib/nginx.lua": "return {} -- no\n"})
	_, _, err = c.Read("lib/nginx.lua")
	require.ErrorContains(t, err, "was changed meanwhile")
	require.NoError(t, os.Remove(dir+"/vendor/nginx/lib/nginx.lua"))
	require.NoError(t, os.Symlink("/etc/passwd", dir+"/vendor/nginx/lib/nginx.lua"))
	_, _, err = c.Read("lib/nginx.lua")
	require.Error(t, err)
}

// A module that is world-writable is refused, even with the right hash.
func TestOpenToEverybody(t *testing.T) {
	for _, name := range []string{"vendor/nginx/lib", "vendor/nginx/lib/nginx/tls.lua"} {
		dir, _ := vendored(t)
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o777))
		policy := &trust.Policy{Owners: []uint32{uint32(os.Geteuid())}, Lstat: func(name string, st *syscall.Stat_t) error {
			err := syscall.Lstat(name, st)
			st.Uid = uint32(os.Geteuid())
			return err
		}}
		s, err := module.Open(policy, dir, []string{t.TempDir()})
		require.NoError(t, err)
		_, err = s.Open("nginx")
		require.ErrorContains(t, err, "is world-writable", name)
	}
}

// A lock with a correct sum is refused if ccm mod would write it otherwise: a duplicate key could mean one value to a
// reviewer and another to a program.
func TestLockIsWrittenInOneWay(t *testing.T) {
	_, lock := vendored(t)
	text := string(lock.Text())
	for _, change := range [][2]string{
		{`"name": "nginx",`, `"name": "other", "name": "nginx",`},
		{`"name": "nginx",`, `"NAME": "other", "name": "nginx",`},
		{`"name": "nginx",`, `"name":  "nginx",`},
		{`"name": "nginx",`, `"name": "nginx", "more": 1,`},
		{`"name": "nginx",`, `"name": "ngin\u0078",`},
	} {
		before := text[:strings.LastIndex(text, `"sum": "`)+len(`"sum": "`)]
		changed := strings.Replace(before, change[0], change[1], 1)
		require.NotEqual(t, before, changed)
		sum := sha256.Sum256([]byte(changed + "\"\n}\n"))
		_, err := module.ParseLock("ccm.lock", []byte(changed+hex.EncodeToString(sum[:])+"\"\n}\n"))
		require.ErrorContains(t, err, "lock file is not in the format of ccm mod", change[1])
	}
}
