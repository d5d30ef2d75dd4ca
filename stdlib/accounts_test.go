package stdlib_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

const (
	basePasswd = "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000:Alice,,,:/home/alice:/bin/sh\n"
	noGshadow  = "/etc/gshadow does not exist, and administrators of groups are listed there (grpconv creates it)"
	baseGroup  = "root:x:0:\nalice:x:1000:\nwww:x:33:\nwheel:x:10:alice,root\n"
)

func TestUser(t *testing.T) {
	suite{
		name: "user", machine: func(root string) host.Runner { return accounts{root} },
		starts: map[string]map[string]string{
			"missing":   {"/etc/passwd": basePasswd, "/etc/group": baseGroup},
			"group":     {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "bob:x:1700:\n"},
			"ranges":    {"/etc/passwd": basePasswd, "/etc/group": baseGroup, "/etc/subuid": "", "/etc/subgid": ""},
			"there":     {"/etc/passwd": basePasswd + "bob:x:1600:33:Bob:/srv/bob:/bin/bash\n", "/etc/group": strings.Replace(baseGroup, "alice,root", "bob", 1), "/etc/shadow": "bob:$6$old:1::::::\n"},
			"locked":    {"/etc/passwd": basePasswd + "bob:x:1600:33:Bob:/srv/bob:/bin/bash\n", "/etc/group": baseGroup, "/etc/shadow": "bob:!$6$old:1::::::\n"},
			"admin":     {"/etc/passwd": basePasswd + "bob:x:1600:33:Bob:/srv/bob:/bin/bash\n", "/etc/group": baseGroup, "/etc/shadow": "bob:!$6$old:1::::::\n", "/etc/gshadow": "www:!::\nwheel:!:root:alice,root\n"},
			"otherwise": {"/etc/passwd": basePasswd + "bob:x:1601:1000::/home/bob:/bin/sh\n", "/etc/group": strings.Replace(baseGroup, "www:x:33:", "www:x:33:bob", 1), "/etc/shadow": "bob:!:1::::::\n"},
		},
		wants: map[string]string{
			"plain":   `"bob"`,
			"full":    `{ "bob", uid = 1600, group = "www", groups = { "wheel" }, comment = "Bob", home = "/srv/bob", shell = "/bin/bash", password = "$6$new" }`,
			"exact":   `{ "bob", groups = { "wheel" }, membership = "exact" }`,
			"ranges":  `{ "bob", subuids = { "100000:65536" } }`,
			"none":    `{ "bob", groups = {}, membership = "exact" }`,
			"groups":  `{ "bob", groups = { "www", "wheel" } }`,
			"unknown": `{ "bob", groups = { "nope" } }`,
			"once":    `{ "bob", password = "$6$new", update_password = "on_create" }`,
			"ages":    `{ "bob", min_days = 0, max_days = 90, warn_days = -1, expires = "2027-01-31" }`,
			"never":   `{ "bob", max_days = -1, expires = "never" }`,
			"hash":    `{ "bob", password = "$6$old" }`,
			"day":     `{ "bob", password = "$6$new", last_change = "1970-01-02" }`,
			"admin":   `{ "bob", admin_groups = { "www", "wheel" } }`,
			"demand":  `{ "bob", last_change = "1970-01-01" }`,
			"ageless": `{ "bob", last_change = "never" }`,
			"lock":    `{ "bob", locked = true, inactive_days = 30 }`,
			"open":    `{ "bob", locked = false, password = "$6$new" }`,
			"unlock":  `{ "bob", locked = false }`,
			"absent":  `{ "bob", ensure = "absent", manage_home = true }`,
			"taken":   `{ "bob", uid = 1000 }`,
			"shared":  `{ "bob", uid = 1000, non_unique = true }`,
		},
		fails: map[string]string{
			"missing/unlock": "the user does not have a password to unlock", "ranges/unlock": "the user does not have a password to unlock", "group/unlock": "the user does not have a password to unlock",
			"otherwise/unlock": "the user does not have a password to unlock",
			"missing/admin":    noGshadow, "ranges/admin": noGshadow, "group/admin": noGshadow, "there/admin": noGshadow, "locked/admin": noGshadow, "otherwise/admin": noGshadow,
			"missing/unknown": `no such group "nope" in /etc/group`, "ranges/unknown": `no such group "nope" in /etc/group`, "admin/unknown": `no such group "nope" in /etc/group`, "admin/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "group/unknown": `no such group "nope" in /etc/group`, "there/unknown": `no such group "nope" in /etc/group`, "locked/unknown": `no such group "nope" in /etc/group`, "otherwise/unknown": `no such group "nope" in /etc/group`,
			"missing/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "ranges/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "group/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "there/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "locked/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)", "otherwise/taken": "the uid 1000 is used by the user alice (allow both with non_unique = true)",
		},
		phrases: map[string][]string{
			"missing/plain": {"created the user"}, "there/plain": {}, "otherwise/plain": {}, "there/full": {"updated the user"},
			"locked/hash": {}, "locked/full": {"updated the user"}, "locked/lock": {"updated the user"}, "there/lock": {"updated the user"}, "locked/open": {"updated the user"}, "there/unlock": {}, "locked/unlock": {"updated the user"},
			"there/once": {}, "there/never": {}, "there/ages": {"updated the user"}, "there/exact": {}, "otherwise/exact": {"updated the user"}, "there/none": {"updated the user"}, "missing/absent": {}, "there/absent": {"removed the user"},
		},
		after: map[string]map[string]*string{
			"missing/full": {
				"/etc/passwd": new(basePasswd + "bob:x:1600:33:Bob:/srv/bob:/bin/bash\n"), "/etc/group": new("root:x:0:\nalice:x:1000:\nwww:x:33:\nwheel:x:10:alice,root,bob\n"),
				"/etc/shadow": new("bob:$6$new:::::::\n"),
			},
			"group/plain":      {"/etc/passwd": new(basePasswd + "bob:x:1500:1700::/home/bob:/bin/sh\n")},
			"otherwise/exact":  {"/etc/group": new("root:x:0:\nalice:x:1000:\nwww:x:33:\nwheel:x:10:alice,root,bob\n")},
			"otherwise/groups": {"/etc/group": new("root:x:0:\nalice:x:1000:\nwww:x:33:bob\nwheel:x:10:alice,root,bob\n")},
			"missing/once":     {"/etc/shadow": new("bob:$6$new:::::::\n")},
			"there/once":       {"/etc/shadow": new("bob:$6$old:1::::::\n")},
			// Ccm writes the wanted ranges, and useradd the others.
			"ranges/ranges": {"/etc/subuid": new("bob:100000:65536\n"), "/etc/subuid-": nil, "/etc/subgid": new("bob:100000:65536\n"), "/etc/subgid-": new("")},
			"admin/admin":   {"/etc/gshadow": new("www:!:bob:\nwheel:!:root,bob:alice,root\n")},
			"there/day":     {"/etc/shadow": new("bob:$6$new:1::::::\n")},
			"missing/day":   {"/etc/shadow": new("bob:$6$new:1::::::\n")},
			"there/demand":  {"/etc/shadow": new("bob:$6$old:0::::::\n")},
			"there/ageless": {"/etc/shadow": new("bob:$6$old:::::::\n")},
			"there/ages":    {"/etc/shadow": new("bob:$6$old:1:0:90:::20849:\n")},
			"locked/full":   {"/etc/shadow": new("bob:!$6$new:::::::\n")}, "locked/unlock": {"/etc/shadow": new("bob:$6$old:::::::\n")}, "locked/open": {"/etc/shadow": new("bob:$6$new:::::::\n")},
			"there/lock": {"/etc/shadow": new("bob:!$6$old:::::30::\n")}, "locked/lock": {"/etc/shadow": new("bob:!$6$old:1::::30::\n")},
			"there/none": {"/etc/group": new("root:x:0:\nalice:x:1000:\nwww:x:33:\nwheel:x:10:\n")},
		},
	}.run(t)
	require.Equal(t, `site.lua:1:9: user#Bob Smith: name: expected a user name, got "Bob Smith"`, mistake(t, `require "std.user" "Bob Smith"`))
	require.Contains(t, mistake(t, `require "std.user" { "bob", uid = -1 }`), `uid: expected a number from 0 to 4294967294, got -1`)
	require.Contains(t, mistake(t, `require "std.group" { "ops", gid = 4294967295 }`), `gid: expected a number from 0 to 4294967294, got 4294967295`)
}

// TestUserHome: the home is made, moved and made again with the user, and the shell has to be there.
func TestUserHome(t *testing.T) {
	const passwd = basePasswd + "bob:x:1600:1000:Bob:/home/bob:/bin/sh\n"
	with := func(files map[string]string) map[string]string {
		all := map[string]string{
			"/etc/passwd": passwd, "/etc/group": baseGroup, "/etc/skel/.profile": "skel\n", "/etc/login.defs": "UMASK 027\n",
			"/bin/sh": "->dash", "/bin/dash": "#!", "/bin/plain": "", "/bin/gone": "->nothing", "/bin/": "",
		}
		maps.Copy(all, files)
		return all
	}
	suite{
		name: "user", machine: func(root string) host.Runner { return accounts{root} },
		starts: map[string]map[string]string{
			"home":   with(map[string]string{"/home/bob/f": "keep"}),
			"gone":   with(nil),
			"both":   with(map[string]string{"/home/bob/f": "keep", "/srv/deep/bob/": ""}),
			"target": with(map[string]string{"/srv/deep/bob/g": "there"}),
			"file":   with(map[string]string{"/home/bob/f": "keep", "/srv/deep": "a file"}),
			"new":    with(map[string]string{"/etc/passwd": basePasswd}),
		},
		wants: map[string]string{
			"plain":  `{ "bob", manage_home = true }`,
			"not":    `{ "bob", home = "/srv/deep/bob" }`,
			"moved":  `{ "bob", home = "/srv/deep/bob", manage_home = true }`,
			"shell":  `{ "bob", shell = "/bin/sh" }`,
			"zsh":    `{ "bob", shell = "/bin/zsh" }`,
			"broken": `{ "bob", shell = "/bin/gone" }`,
			"mode":   `{ "bob", shell = "/bin/plain" }`,
			"folder": `{ "bob", shell = "/bin" }`,
		},
		fails: func() map[string]string {
			fails := map[string]string{
				"both/moved": "cannot move /home/bob to /srv/deep/bob, which already exists",
				"file/moved": "/srv/deep is not a directory",
			}
			for _, start := range []string{"home", "gone", "both", "target", "file", "new"} {
				fails[start+"/zsh"], fails[start+"/broken"] = "the shell /bin/zsh does not exist", "the shell /bin/gone does not exist"
				fails[start+"/mode"], fails[start+"/folder"] = "the shell /bin/plain is not executable (its mode is 0644)", "the shell /bin is a directory"
			}
			return fails
		}(),
		phrases: map[string][]string{
			"home/plain": {}, "gone/plain": {"created the home directory"}, "home/moved": {"updated the user"}, "gone/moved": {"updated the user"},
			"target/moved": {"updated the user"}, "home/shell": {}, "new/moved": {"created the user"}, "new/plain": {"created the user"}, "gone/not": {"updated the user"},
		},
		after: map[string]map[string]*string{
			"gone/plain":   {"/home/bob/.profile": new("skel\n")},
			"home/moved":   {"/srv/deep/bob/f": new("keep"), "/home/bob/f": nil},
			"gone/moved":   {"/srv/deep/bob/.profile": new("skel\n")},
			"target/moved": {"/srv/deep/bob/g": new("there")},
			"both/moved":   {"/home/bob/f": new("keep"), "/etc/passwd": new(passwd)},
			"home/not":     {"/home/bob/f": new("keep")},
		},
		modes: map[string]map[string]os.FileMode{"gone/plain": {"/home/bob": 0o750}, "gone/moved": {"/srv/deep": 0o755}},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.user" { "bob", home = "/a:b" }`), "user#bob: home: expected a string without colons")
}

func TestGroup(t *testing.T) {
	suite{
		name: "group", machine: func(root string) host.Runner { return accounts{root} },
		starts: map[string]map[string]string{
			"missing": {"/etc/passwd": basePasswd, "/etc/group": baseGroup},
			"there":   {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "ops:x:1800:alice\n"},
			"full":    {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "ops:x:1801:alice,root\n"},
			"nothing": {"/etc/": ""},
			"stale":   {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "ops:x:1800:alice,gone\n"},
			"own":     {"/etc/passwd": basePasswd + "ops:x:1800:1800::/:/bin/sh\n", "/etc/group": baseGroup + "ops:x:1800:\n"},
			"shadow":  {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "ops:x:1800:\n", "/etc/gshadow": "ops:!:alice:\n"},
			"locked":  {"/etc/passwd": basePasswd, "/etc/group": baseGroup + "ops:x:1800:\n", "/etc/gshadow": "ops:$6$x:root,alice:\n"},
			"bare":    {"/etc/passwd": basePasswd, "/etc/group": baseGroup, "/etc/gshadow": "wheel:*::alice,root\n"},
		},
		wants: map[string]string{
			"plain":   `"ops"`,
			"gid":     `{ "ops", gid = 1800, system = true }`,
			"taken":   `{ "ops", gid = 33 }`,
			"shared":  `{ "ops", gid = 33, non_unique = true }`,
			"members": `{ "ops", members = { "root", "alice" } }`,
			"exact":   `{ "ops", members = { "alice" }, membership = "exact" }`,
			"empty":   `{ "ops", members = {}, membership = "exact" }`,
			"absent":  `{ "ops", ensure = "absent" }`,
			"admins":  `{ "ops", admins = { "alice", "root" }, password = "$6$x" }`,
			"nobody":  `{ "ops", admins = {} }`,
			"unknown": `{ "ops", admins = { "gone" } }`,
		},
		fails: func() map[string]string {
			fails := map[string]string{"shadow/unknown": `no such user "gone", an administrator of the group`, "locked/unknown": `no such user "gone", an administrator of the group`, "bare/unknown": `no such user "gone", an administrator of the group`}
			for _, start := range []string{"missing", "there", "full", "nothing", "stale", "own"} {
				fails[start+"/admins"] = noGshadow
				fails[start+"/unknown"] = fails[start+"/admins"]
			}
			for _, start := range []string{"missing", "there", "full", "stale", "own", "shadow", "locked", "bare"} {
				fails[start+"/taken"] = "the gid 33 is used by the group www (allow both with non_unique = true)"
			}
			maps.Copy(fails, map[string]string{
				"own/absent": "ops is the primary group of the user ops and cannot be removed", "nothing/members": `no such user "root" in /etc/passwd`, "nothing/exact": `no such user "alice" in /etc/passwd`,
			})
			return fails
		}(),
		phrases: map[string][]string{
			"missing/plain": {"created the group"}, "there/plain": {}, "there/gid": {}, "full/gid": {"updated the group"}, "full/members": {},
			"there/members": {"updated the group"}, "there/exact": {}, "full/exact": {"updated the group"}, "missing/absent": {}, "there/absent": {"removed the group"}, "locked/admins": {}, "shadow/admins": {"updated the group"}, "missing/nobody": {"created the group"}, "there/nobody": {},
		},
		after: map[string]map[string]*string{
			"full/exact":      {"/etc/group": new(baseGroup + "ops:x:1801:alice\n")},
			"missing/shared":  {"/etc/group": new(baseGroup + "ops:x:33:\n")},
			"there/shared":    {"/etc/group": new(baseGroup + "ops:x:33:alice\n")},
			"full/empty":      {"/etc/group": new(baseGroup + "ops:x:1801:\n")},
			"stale/exact":     {"/etc/group": new(baseGroup + "ops:x:1800:alice\n")},
			"bare/admins":     {"/etc/gshadow": new("wheel:*::alice,root\nops:$6$x:alice,root:\n")},
			"shadow/admins":   {"/etc/gshadow": new("ops:$6$x:alice,root:\n")},
			"shadow/nobody":   {"/etc/gshadow": new("ops:!::\n")},
			"missing/members": {"/etc/group": new(baseGroup + "ops:x:1500:root,alice\n")},
		},
	}.run(t)
}

const (
	sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv"
	// A key of another owner, which differs in its last letters.
	otherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpAA"
)

func TestAuthorizedKey(t *testing.T) {
	const file = "/home/me/.ssh/authorized_keys"
	passwd := fmt.Sprintf("me:x:%d:%d::/home/me:/bin/sh\nlost:x:1:1::/home/lost:/bin/sh\n", os.Getuid(), os.Getgid())
	quoted := `command="echo \"a b\", ` + otherKey + `",no-pty `
	start := func(text string) map[string]string { return map[string]string{"/etc/passwd": passwd, file: text} }
	suite{
		name: "authorized_key",
		starts: map[string]map[string]string{
			"home":    {"/etc/passwd": passwd, "/home/me/": ""},
			"plain":   start("# mine\n#" + sshKey + "\n" + sshKey + " old\n" + otherKey + "\n"),
			"options": start(quoted + sshKey + " old\n" + sshKey), // the last line has no end
			"windows": start(otherKey + "\r\n"),
			"link":    {"/etc/passwd": passwd, "/home/me/.ssh/x": "", file: "->x"},
			"dirlink": {"/etc/passwd": passwd, "/home/me/x/": "", "/home/me/.ssh": "->x"},
			"nobody":  {"/etc/passwd": ""},
		},
		wants: map[string]string{
			"key":     `{ "me", key = "` + sshKey + ` a comment\n" }`,
			"options": `{ "x", user = "me", key = "` + sshKey + `", options = { "no-pty", [[command="echo \"a b\", ` + otherKey + `"]] }, comment = "new" }`,
			"none":    `{ "me", key = "` + sshKey + `", options = {} }`,
			"path":    `{ "me", key = "` + sshKey + `", path = "/etc/keys" }`,
			"lost":    `{ "lost", key = "` + sshKey + `" }`,
			"absent":  `{ "me", key = "` + sshKey + ` other", ensure = "absent" }`,
		},
		fails: func() map[string]string {
			fails := map[string]string{"dirlink/absent": "found a link", "link/absent": "found a link"}
			for _, want := range []string{"key", "options", "none"} {
				fails["link/"+want], fails["dirlink/"+want] = "expected a file at "+file+", found a link, which is not replaced", "expected a directory at /home/me/.ssh, found a link, which is not replaced"
			}
			for _, want := range []string{"key", "options", "none", "path"} {
				fails["nobody/"+want] = `no such user "me" in /etc/passwd`
			}
			for _, start := range []string{"home", "plain", "options", "windows", "link", "dirlink"} {
				fails[start+"/lost"] = "expected a directory at /home/lost"
			}
			fails["nobody/lost"] = `no such user "lost"`
			return fails
		}(),
		phrases: map[string][]string{
			"home/key": {"added the key"}, "plain/key": {"updated the key"}, "plain/options": {"updated the key"}, "options/absent": {"removed the key"},
			"home/absent": {}, "windows/absent": {}, "nobody/absent": {}, "plain/path": {"added the key"},
		},
		after: map[string]map[string]*string{
			"home/key":        {file: new(sshKey + " a comment\n")},
			"home/options":    {file: new("no-pty," + strings.TrimSuffix(quoted, ",no-pty ") + " " + sshKey + " new\n")},
			"plain/key":       {file: new("# mine\n#" + sshKey + "\n" + sshKey + " old\n" + otherKey + "\n")},
			"plain/absent":    {file: new("# mine\n#" + sshKey + "\n" + otherKey + "\n")},
			"options/key":     {file: new(quoted + sshKey + " old\n" + sshKey)},
			"options/none":    {file: new(sshKey + " old\n")},
			"options/options": {file: new("no-pty," + strings.TrimSuffix(quoted, ",no-pty ") + " " + sshKey + " new\n")},
			"options/absent":  {file: new("")},
			"windows/key":     {file: new(otherKey + "\r\n" + sshKey + " a comment\r\n")},
			"plain/path":      {"/etc/keys": new(sshKey + "\n")},
		},
		modes: map[string]map[string]os.FileMode{
			"home/key": {"/home/me/.ssh": 0o700, file: 0o600}, "plain/key": {"/home/me/.ssh": 0o700, file: 0o600},
			"plain/absent": {"/home/me/.ssh": 0o755, file: 0o644}, "plain/path": {"/etc": 0o755, "/etc/keys": 0o600},
		},
	}.run(t)
	for args, want := range map[string]string{
		`key = "x"`:                                               `key: expected a public key such as ssh-ed25519 AAAA..., got "x" (read a .pub file with fs.read)`,
		`key = "-----BEGIN X PRIVATE KEY-----"`:                   `key: expected a public key, got a private key (ssh-keygen -y -f FILE prints the public key)`,
		`key = "` + sshKey[:60] + `"`:                             `key: invalid ssh-ed25519 key: it is truncated or damaged`,
		`key = "ssh-rsa` + sshKey[11:] + `"`:                      `key: invalid ssh-rsa key: it is truncated or damaged`,
		`key = [[` + quoted + sshKey + `]]`:                       `key: expected options separate from the key: options = { 'command="echo \\"a b\\", ` + otherKey + `"', "no-pty" }`,
		`key = "` + sshKey + `\n` + sshKey + `"`:                  `key: expected one line of a .pub file, got several lines`,
		`key = "` + sshKey + `", options = { [[command="a" b]] }`: `options: expected options such as no-pty and command="/bin/true", got 'command="a" b'`,
		`key = "` + sshKey + `", options = { "a\nssh-rsa AAAA" }`: `options: expected one line, got "a\nssh-rsa AAAA"`,
		`key = "` + sshKey + `", comment = "a\nssh-rsa AAAA"`:     `comment: expected one line`,
	} {
		require.Contains(t, mistake(t, `require "std.authorized_key" { "me", `+args+` }`), "authorized_key#me: "+want)
	}
}

func TestKnownHost(t *testing.T) {
	const file = "/etc/ssh/ssh_known_hosts"
	// git.example.org and [git.example.org]:2222, as ssh-keygen -H writes them.
	hashed := "|1|W2Q+vImtlJ3k/NSz9jaoj2FOS0c=|J78AuxFYbUTWy8yh1El0KJsq8Z4= "
	port := "|1|pvIWbq1oDgXDk0iyeTNFzZLatiY=|BdLwuTv4RAUZNrFBmSGHfnZIN+0= "
	other := strings.Replace(sshKey, "Hax81lP5G4IQXwU2xZsK", "HHHHHHHHHHHHHHHHHHHH", 1)
	rest := "# git.example.org " + other + "\n@revoked git.example.org " + other + "\n*.example.org " + other + "\n"
	suite{
		name: "known_host",
		starts: map[string]map[string]string{
			"missing": {"/etc/ssh/": ""},
			"right":   {file: rest + hashed + sshKey + "\n"},
			"wrong":   {file: rest + hashed + other + "\n" + port + other + "\n"},
			"shared":  {file: "a,Git.Example.org,b " + other + " c\n"},
			"both":    {file: "git.example.org " + sshKey + "\n" + "git.example.org " + other + "\n"},
			"link":    {"/etc/ssh/x": "", file: "->x"},
			"nothing": {"/etc/": ""},
		},
		wants: map[string]string{
			"key":    `{ "git.example.org", key = "` + sshKey + ` a comment" }`,
			"port":   `{ "[git.example.org]:2222", key = "` + sshKey + `" }`,
			"absent": `{ "git.example.org", ensure = "absent" }`,
			"rsa":    `{ "git.example.org", key = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAwEAAQ==", ensure = "absent" }`,
		},
		fails: map[string]string{
			"nothing/key": "expected a directory at /etc/ssh", "nothing/port": "expected a directory at /etc/ssh",
			"link/key": "found a link", "link/port": "found a link", "link/absent": "found a link", "link/rsa": "found a link",
		},
		phrases: map[string][]string{
			"missing/key": {"added the host"}, "right/key": {}, "wrong/key": {"changed the key of the host"}, "both/key": {"changed the key of the host"},
			"right/absent": {"removed the host"}, "right/rsa": {}, "missing/absent": {},
		},
		after: map[string]map[string]*string{
			"wrong/key":     {file: new(rest + "git.example.org " + sshKey + "\n" + port + other + "\n")},
			"wrong/port":    {file: new(rest + hashed + other + "\n[git.example.org]:2222 " + sshKey + "\n")},
			"wrong/absent":  {file: new(rest + port + other + "\n")},
			"shared/key":    {file: new("git.example.org " + sshKey + "\na,b " + other + " c\n")},
			"shared/absent": {file: new("a,b " + other + " c\n")},
			"both/key":      {file: new("git.example.org " + sshKey + "\n")},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"h"`:                                 `known_host#h: key: is required unless ensure is absent`,
		`{ "h", key = "h ` + sshKey + `" }`:   `known_host#h: key: expected a public key such as ssh-ed25519 AAAA..., got "h ssh-ed25519`,
		`{ "*.org", key = "` + sshKey + `" }`: `known_host#*.org: name: expected a name such as git.example.org or [git.example.org]:2222, got "*.org"`,
	} {
		require.Contains(t, mistake(t, `require "std.known_host" `+args), want)
	}
}

// A home directory goes with its user, unless it has what no run has made, or does not belong to the user.
func TestUserHomeWithData(t *testing.T) {
	passwd := func(uid int) string { return basePasswd + fmt.Sprintf("bob:x:%d:33:Bob:/srv/bob:/bin/bash\n", uid) }
	mine, profile := passwd(os.Geteuid()), "x"
	suite{
		name: "user", machine: func(root string) host.Runner { return accounts{root} },
		starts: map[string]map[string]string{
			"bare":    {"/etc/passwd": mine, "/etc/group": baseGroup, "/etc/skel/.profile": profile, "/srv/bob/.profile": profile, "/var/mail/bob": ""},
			"data":    {"/etc/passwd": mine, "/etc/group": baseGroup, "/etc/skel/.profile": profile, "/srv/bob/.profile": profile, "/srv/bob/data": "data", "/var/mail/bob": "mail"},
			"changed": {"/etc/passwd": mine, "/etc/group": baseGroup, "/etc/skel/.profile": profile, "/srv/bob/.profile": "y"},
			"shared":  {"/etc/passwd": mine + "eve:x:1700:33::/srv/bob/eve:/bin/sh\n", "/etc/group": baseGroup, "/srv/bob/eve/": ""},
			"other":   {"/etc/passwd": passwd(12345), "/etc/group": baseGroup, "/srv/bob/": ""},
		},
		wants: map[string]string{"absent": `{ "bob", ensure = "absent", manage_home = true }`},
		phrases: map[string][]string{
			"bare/absent":    {"removed the user with /srv/bob and its content"},
			"data/absent":    {"removed the user without the home: no record of a run that created /srv/bob/data, 4 B (remove it too with --with-data or with_data = true)"},
			"changed/absent": {"removed the user without the home: no record of a run that created /srv/bob/.profile, 1 B (remove it too with --with-data or with_data = true)"},
			"shared/absent":  {"removed the user without the home: the home of eve is /srv/bob/eve"},
		},
		after: map[string]map[string]*string{
			"bare/absent":    {"/etc/passwd": new(basePasswd), "/srv/bob/.profile": nil, "/var/mail/bob": nil},
			"data/absent":    {"/etc/passwd": new(basePasswd), "/srv/bob/data": new("data"), "/srv/bob/.profile": new("x"), "/var/mail/bob": new("mail")},
			"changed/absent": {"/etc/passwd": new(basePasswd), "/srv/bob/.profile": new("y")},
			"other/absent":   {"/etc/passwd": new(basePasswd)},
		},
	}.run(t)
}
