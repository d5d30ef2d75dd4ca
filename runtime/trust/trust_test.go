package trust_test

import (
	"fmt"
	"maps"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/test/tally"
)

// A tree is a fake file system for a Policy: for each path the kind and octal mode as stat(1) prints them, the
// owner's uid, and the target of a link.
type tree map[string]string

func (m tree) trust(owners ...uint32) *trust.Policy {
	return &trust.Policy{
		Owners: owners,
		Lstat: func(name string, st *syscall.Stat_t) error {
			entry, ok := m[name]
			if !ok {
				return syscall.ENOENT
			}
			words := strings.Fields(entry)
			mode, err := strconv.ParseUint(words[0], 8, 32)
			if err != nil {
				return err
			}
			uid, err := strconv.ParseUint(words[1], 10, 32)
			*st = syscall.Stat_t{Uid: uint32(uid)}
			reflect.ValueOf(&st.Mode).Elem().SetUint(mode) // its type differs between systems
			return err
		},
		Readlink: func(name string) (string, error) { return strings.Fields(m[name])[2], nil },
		UserName: func(uid uint32) string { return map[uint32]string{1000: "alice (uid 1000)", 1001: "uid 1001"}[uid] },
	}
}

// with returns a copy of m with more entries, and with directories of root above them.
func (m tree) with(more tree) tree {
	out := tree{"/": "040755 0"}
	maps.Copy(out, m)
	maps.Copy(out, more)
	for _, name := range slices.Collect(maps.Keys(out)) {
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			if _, ok := out[dir]; !ok {
				out[dir] = "040755 0"
			}
		}
	}
	return out
}

func TestTrust(t *testing.T) {
	tries := tally.Of(t, "scripts, modules, data, facts and state that is world-writable or replace", "root refuses them and names the directory or file")
	const believed = ""
	for name, x := range map[string]struct {
		tree tree
		file string
		want string // the end of the error, with its hint
	}{
		"a file of root":     {tree{"/etc/site.lua": "0100644 0"}, "/etc/site.lua", believed},
		"a file of a user":   {tree{"/home/me/site.lua": "0100644 1000", "/home/me": "040700 1000"}, "/home/me/site.lua", believed},
		"a group may write":  {tree{"/srv/site.lua": "0100664 1000", "/srv": "040775 1000"}, "/srv/site.lua", believed},
		"the root directory": {tree{}, "/", believed},
		"a device":           {tree{"/dev/null": "020666 0"}, "/dev/null", believed},
		"the file":           {tree{"/etc/site.lua": "0100646 0"}, "/etc/site.lua", "/etc/site.lua is world-writable (mode 0646) | chmod o-w /etc/site.lua"},
		"a pipe":             {tree{"/run/p": "010666 0"}, "/run/p", "/run/p is world-writable (mode 0666) | chmod o-w /run/p"},
		"directory": {tree{"/srv/site.lua": "0100644 0", "/srv": "040777 0"}, "/srv/site.lua",
			"directory /srv is world-writable (mode 0777) | chmod o-w /srv"},
		"is world-writable a directory above": {tree{"/srv/a/b/site.lua": "0100644 0", "/srv/a": "040757 0"}, "/srv/a/b/site.lua",
			"directory /srv/a is world-writable (mode 0757) | chmod o-w /srv/a"},
		"is world-writable all": {tree{"/": "040777 0", "/site.lua": "0100644 0"}, "/site.lua",
			"directory / is world-writable (mode 0777) | chmod o-w /"},
		"a directory that is world-writable": {tree{"/etc/facts.d": "040777 0"}, "/etc/facts.d",
			"directory /etc/facts.d is world-writable (mode 0777) | chmod o-w /etc/facts.d"},

		"sticky, root's":          {tree{"/tmp": "041777 0", "/tmp/site.lua": "0100644 0"}, "/tmp/site.lua", believed},
		"sticky, mine":            {tree{"/tmp": "041777 0", "/tmp/site.lua": "0100644 7"}, "/tmp/site.lua", believed},
		"sticky, below mine":      {tree{"/tmp": "041777 0", "/tmp/d": "040700 7", "/tmp/d/site.lua": "0100644 1000"}, "/tmp/d/site.lua", believed},
		"sticky, of somebody":     {tree{"/tmp": "041777 0", "/tmp/site.lua": "0100644 1000"}, "/tmp/site.lua", "/tmp/site.lua belongs to alice (uid 1000), and /tmp is world-writable (mode 1777) | copy it to your own directory"},
		"sticky, below somebody":  {tree{"/tmp": "041777 0", "/tmp/d": "040755 1000", "/tmp/d/site.lua": "0100644 0"}, "/tmp/d/site.lua", "/tmp/d belongs to alice (uid 1000), and /tmp is world-writable (mode 1777) | copy it to your own directory"},
		"sticky, open file":       {tree{"/tmp": "041777 0", "/tmp/site.lua": "0100666 0"}, "/tmp/site.lua", "/tmp/site.lua is world-writable (mode 0666) | chmod o-w /tmp/site.lua"},
		"the sticky one":          {tree{"/tmp": "041777 0"}, "/tmp", believed},
		"sticky bit of a file":    {tree{"/etc/site.lua": "0101666 0"}, "/etc/site.lua", "/etc/site.lua is world-writable (mode 1666) | chmod o-w /etc/site.lua"},
		"not sticky below sticky": {tree{"/tmp": "041777 0", "/tmp/d": "040777 0", "/tmp/d/site.lua": "0100644 0"}, "/tmp/d/site.lua", "directory /tmp/d is world-writable (mode 0777) | chmod o-w /tmp/d"},

		"a link":                        {tree{"/etc/site.lua": "0120777 0 /srv/site.lua", "/srv/site.lua": "0100644 0"}, "/etc/site.lua", believed},
		"a relative link":               {tree{"/etc/a/site.lua": "0120777 0 ../b/./site.lua", "/etc/b/site.lua": "0100644 0"}, "/etc/a/site.lua", believed},
		"a link to an open file":        {tree{"/etc/site.lua": "0120777 0 /srv/site.lua", "/srv/site.lua": "0100666 0"}, "/etc/site.lua", "/srv/site.lua is world-writable (mode 0666) | chmod o-w /srv/site.lua"},
		"a link into an open directory": {tree{"/etc/d": "0120777 0 /srv/d", "/srv/d": "040777 0", "/srv/d/site.lua": "0100644 0"}, "/etc/d/site.lua", "directory /srv/d is world-writable (mode 0777) | chmod o-w /srv/d"},
		"out of a link by ..":           {tree{"/etc/d": "0120777 0 /srv/a/b", "/srv/a": "040777 0", "/srv/a/b": "040755 0", "/etc/site.lua": "0100644 0", "/srv/a/site.lua": "0100644 0"}, "/etc/d/../site.lua", "directory /srv/a is world-writable (mode 0777) | chmod o-w /srv/a"},
		"somebody's link":               {tree{"/tmp": "041777 0", "/tmp/site.lua": "0120777 1000 /etc/site.lua", "/etc/site.lua": "0100644 0"}, "/tmp/site.lua", "/tmp/site.lua belongs to alice (uid 1000), and /tmp is world-writable (mode 1777) | copy it to your own directory"},
	} {
		t.Run(name, func(t *testing.T) {
			tries.Add(1)
			err := tree{}.with(x.tree).trust(0, 7).Check(x.file)
			if x.want == believed {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			e, ok := err.(*diag.Error)
			require.True(t, ok, "%v", err)
			want, hint, _ := strings.Cut(x.want, " | ")
			require.Equal(t, x.file+": not trusted as root: "+want, e.Pos.File+": "+e.Err.Error())
			require.Equal(t, hint+", or use --allow-insecure", e.Hint)
		})
	}
}

// A file that the user did not name must belong to root, or to the user who called sudo.
func TestTrustOfWhatIsFound(t *testing.T) {
	tries := tally.Of(t, "files of other users that are found and not named: data, environment, facts, specs, modules, search paths", "root leaves them out or refuses them and names the owner")
	for name, x := range map[string]struct {
		tree tree
		file string
		want string // the untrusted file and its owner
	}{
		"of root":                    {tree{"/srv/.env": "0100644 0"}, "/srv/.env", ""},
		"of who asked for root":      {tree{"/srv": "040755 7", "/srv/.env": "0100644 7"}, "/srv/.env", ""},
		"of root below somebody's":   {tree{"/home/a": "040755 1000", "/home/a/site": "040755 0", "/home/a/site/.env": "0100644 0"}, "/home/a/site/.env", ""},
		"a directory":                {tree{"/srv/d": "040755 0"}, "/srv/d/.", ""},
		"somebody's":                 {tree{"/srv/.env": "0100600 1000"}, "/srv/.env", "/srv/.env belongs to alice (uid 1000)"},
		"of one without a name":      {tree{"/srv/.env": "0100600 1001"}, "/srv/.env", "/srv/.env belongs to uid 1001"},
		"root's, somebody's dir":     {tree{"/srv": "040755 1000", "/srv/.env": "0100644 0"}, "/srv/.env", "its directory /srv belongs to alice (uid 1000)"},
		"a directory of somebody":    {tree{"/srv/d": "040755 1000"}, "/srv/d/.", "/srv/d belongs to alice (uid 1000)"},
		"root's link to somebody's":  {tree{"/srv/.env": "0120777 0 /home/.env", "/home/.env": "0100644 1000"}, "/srv/.env", "/home/.env belongs to alice (uid 1000)"},
		"somebody's link to root's":  {tree{"/srv/.env": "0120777 1000 /root/.env", "/root/.env": "0100644 0"}, "/srv/.env", "/srv/.env belongs to alice (uid 1000)"},
		"root's link in somebody's":  {tree{"/srv": "040755 1000", "/srv/.env": "0120777 0 /root/.env", "/root/.env": "0100644 0"}, "/srv/.env", "its directory /srv belongs to alice (uid 1000)"},
		"through a link of somebody": {tree{"/srv/l": "0120777 1000 /root", "/root/.env": "0100644 0"}, "/srv/l/.env", "/srv/l belongs to alice (uid 1000)"},
		"in the sticky one":          {tree{"/tmp": "041777 0", "/tmp/.env": "0100644 7"}, "/tmp/.env", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tries.Add(1)
			m := tree{}.with(x.tree).trust(0, 7)
			require.NoError(t, m.Check(x.file), "what is named is not asked about")
			err := m.CheckFound(x.file)
			if x.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, x.file+": not trusted as root: "+x.want+" (or trust everything with --allow-insecure)")
		})
	}
	kept := tree{}.with(tree{"/home/a": "040755 1000", "/home/a/state": "040700 0", "/srv/state": "040700 7", "/srv/l": "0120777 1000 /srv/state"}).trust(0, 7)
	require.NoError(t, kept.CheckKept("/srv/state"))
	require.ErrorContains(t, kept.CheckKept("/srv/l"), "/srv/l belongs to alice (uid 1000)")
	require.ErrorContains(t, kept.CheckKept("/home/a/state"), "/home/a belongs to alice (uid 1000)")
	m := tree{}.with(tree{"/tmp": "041777 0", "/tmp/.env": "0100644 1000"}).trust(0, 7)
	require.ErrorContains(t, m.CheckFound("/tmp/.env"), "and /tmp")
	require.ErrorIs(t, m.CheckFound("/tmp/nothing"), os.ErrNotExist)
	require.NoError(t, (*trust.Policy)(nil).CheckFound("/nothing"))
}

func TestTrustOfWhatIsNotThere(t *testing.T) {
	m := tree{}.with(tree{"/etc/loop": "0120777 0 loop", "/etc/gone": "0120777 0 /nowhere"})
	for _, name := range []string{"/etc/no", "/no/no", "/etc/gone"} {
		require.ErrorIs(t, m.trust(0).Check(name), os.ErrNotExist, name)
	}
	require.ErrorIs(t, m.trust(0).Check("/etc/loop"), syscall.ELOOP)
}

// Of: root trusts the user who called sudo, doas or pkexec; other users trust everything.
func TestTrustOf(t *testing.T) {
	sudo := func(id string) func(string) string {
		return func(name string) string { return map[string]string{"SUDO_UID": id}[name] }
	}
	require.Nil(t, trust.Of(1000, sudo("7")))
	require.NoError(t, trust.Of(1000, sudo("")).Check("/no/where"))
	require.Equal(t, []uint32{0}, trust.Of(0, sudo("")).Owners)
	require.Equal(t, []uint32{0, 1000}, trust.Of(0, sudo("1000")).Owners)
	require.Equal(t, []uint32{0}, trust.Of(0, sudo("-1")).Owners)
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	require.Equal(t, []uint32{0, 7}, trust.Of(0, env(map[string]string{"PKEXEC_UID": "7"})).Owners)
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	id, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, uint32(id)}, trust.Of(0, env(map[string]string{"DOAS_USER": "nobody"})).Owners)
	require.Equal(t, []uint32{0}, trust.Of(0, env(map[string]string{"DOAS_USER": "no such user"})).Owners)
}

// On the real file system: files in the directory for temporary files can be trusted, and inherited descriptors
// always are.
func TestTrustOfFiles(t *testing.T) {
	mine := &trust.Policy{Owners: []uint32{0, uint32(os.Geteuid())}}
	file := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o644))
	text, err := mine.ReadFile(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	t.Chdir(filepath.Dir(file))
	require.NoError(t, mine.Check("site.lua"))
	require.NoError(t, mine.Check("./.././"+filepath.Base(filepath.Dir(file))+"//site.lua"))

	require.NoError(t, os.Chmod(file, 0o666))
	_, err = mine.ReadFile(t.Context(), "site.lua")
	require.ErrorContains(t, err, "site.lua: not trusted as root: "+file+" is world-writable (mode 0666)")
	text, err = (*trust.Policy)(nil).ReadFile(t.Context(), "site.lua")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, mine.Check("/dev/fd/"+strconv.Itoa(int(r.Fd()))))
	r.Close()
}

// A text longer than one read is complete.
func TestReadLongText(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 512<<10 - 1, 512 << 10, 512<<10 + 1, 3_000_001} {
		name := filepath.Join(dir, fmt.Sprint(size))
		want := strings.Repeat("0123456789\n", size/11+1)[:size]
		require.NoError(t, os.WriteFile(name, []byte(want), 0o600))
		got, err := (*trust.Policy)(nil).ReadFile(t.Context(), name)
		require.NoError(t, err)
		require.True(t, string(got) == want, size)
	}
}

// A policy with memory checks each directory once, and gives the same answers as one without.
func TestTrustRemembers(t *testing.T) {
	m := tree{}.with(tree{
		"/srv/site/a.lua": "0100644 0", "/srv/site/b.lua": "0100644 0", "/srv/site/open.lua": "0100646 0",
		"/srv/site/out": "0120777 0 /srv/shared", "/srv/shared": "040777 0", "/srv/shared/c.lua": "0100644 0",
		"/srv/site/in": "0120777 0 ../inner", "/srv/inner/d.lua": "0100644 0",
		"/home/me": "040755 1000", "/home/me/e.lua": "0100644 0", "/home/me/f.lua": "0100644 1000",
		"/tmp": "041777 0", "/tmp/mine.lua": "0100644 0", "/tmp/theirs.lua": "0100644 1000", "/tmp/dir": "040755 1000", "/tmp/dir/g.lua": "0100644 0",
	})
	names := slices.Sorted(maps.Keys(m))
	names = append(names, "/srv/site/out/c.lua", "/srv/site/in/d.lua", "/srv/site/in/../a.lua", "/srv/site/out/../inner/d.lua", "/srv//site/a.lua", "/srv/site/none.lua", "/srv/none/a.lua")
	p := m.trust(0)
	r := p.Remembering()
	for range 2 {
		for _, ask := range []func(*trust.Policy, string) error{(*trust.Policy).Check, (*trust.Policy).CheckFound, (*trust.Policy).CheckKept} {
			for _, name := range names {
				require.Equal(t, ask(p, name), ask(r, name), name)
			}
		}
	}

	looks := 0
	p = m.trust(0)
	lstat := p.Lstat
	p.Lstat = func(name string, st *syscall.Stat_t) error {
		looks++
		return lstat(name, st)
	}
	r = p.Remembering()
	require.NoError(t, r.Check("/srv/site/a.lua"))
	looks = 0
	require.NoError(t, r.Check("/srv/site/b.lua"))
	require.Equal(t, 1, looks, "the file only")
	require.Nil(t, (*trust.Policy)(nil).Remembering())
}
