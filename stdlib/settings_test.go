package stdlib_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An edited is a text before and after one resource, and a program that knows the format.
type edited struct {
	what, typ, path string // the path is in a directory of its own
	props           string
	before, after   string
	// judge returns the value in a file, given its path; nil if no program can. had and has are what it returns for
	// the texts.
	judge    func(t *testing.T, path string) string
	had, has string
}

func (e edited) run(t *testing.T) {
	t.Helper()
	t.Run(e.what, func(t *testing.T) {
		suite{
			name: e.typ, starts: map[string]map[string]string{"text": {e.path: e.before}},
			wants: map[string]string{"it": e.props},
			after: map[string]map[string]*string{"text/it": {e.path: new(e.after)}},
		}.run(t)
		if e.judge == nil {
			return
		}
		for text, want := range map[string]string{e.before: e.had, e.after: e.has} {
			file := filepath.Join(t.TempDir(), filepath.Base(e.path))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			require.Equal(t, want, e.judge(t, file), text)
		}
	})
}

// ask runs a program, and skips the test where there is none.
func ask(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput() //nolint:gosec // the test's own words
	if strings.Contains(string(out), "ModuleNotFoundError") || strings.Contains(string(out), "privilege separation") {
		t.Skip(string(out))
	}
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// python evaluates an expression in which f is the open file.
func python(module, expression string) func(t *testing.T, path string) string {
	return func(t *testing.T, path string) string {
		return ask(t, "python3", "-c", "import sys, json, "+module+"\nf = open(sys.argv[1], 'rb')\nprint(json.dumps("+expression+"))", path)
	}
}

// configParser returns the option a of the section s.
var configParser = python("configparser, io",
	"(lambda c: [c.read_file(io.TextIOWrapper(f, 'utf-8-sig')), c.get('s', 'a')])(configparser.RawConfigParser(allow_no_value=True))[1]")

// sshd returns what the server makes of a keyword.
func sshd(keyword string) func(t *testing.T, path string) string {
	return func(t *testing.T, path string) string {
		program, err := exec.LookPath("sshd")
		if err != nil {
			t.Skip(err)
		}
		key := filepath.Join(t.TempDir(), "key")
		ask(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
		for line := range strings.Lines(ask(t, program, "-T", "-h", key, "-f", path)) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == keyword {
				return value
			}
		}
		return ""
	}
}

// postconf returns the value of a parameter.
func postconf(parameter string) func(t *testing.T, path string) string {
	return func(t *testing.T, path string) string {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "master.cf"), nil, 0o644)) // it warns without
		value := ask(t, "postconf", "-c", filepath.Dir(path), "-h", parameter)
		return strings.Join(strings.Fields(value), " ")
	}
}

func TestValuesOfSeveralLines(t *testing.T) {
	const ini, unit = `{ "a", path = "/etc/f.ini", section = "s", value = "c" }`, `{ "ExecStart", path = "/etc/a.service", section = "Service", value = "/bin/c" }`
	for _, e := range []edited{
		{what: "indented", typ: "ini", path: "/etc/f.ini", props: ini, before: "[s]\na =\n  b\n\n  # no\n  d = 1\n\n# end\nz = 1\n", after: "[s]\na = c\n\n# end\nz = 1\n", judge: configParser, had: `"\nb\n\nd = 1"`, has: `"c"`},
		{what: "indented all", typ: "ini", path: "/etc/f.ini", props: ini, before: "[s]\n  x = 1\n  a = b\n    c\n  z = 1\n", after: "[s]\n  x = 1\n  a = c\n  z = 1\n", judge: configParser, had: `"b\nc"`, has: `"c"`},
		{what: "a value in brackets", typ: "ini", path: "/etc/f.ini", props: ini, before: "[s]\nx =\n  [t]\n  y\na = b\n[t]\na = 1\n", after: "[s]\nx =\n  [t]\n  y\na = c\n[t]\na = 1\n", judge: configParser, had: `"b"`, has: `"c"`},
		{what: "indented sections", typ: "ini", path: "/etc/f.ini", props: ini, before: "[t]\n  a = 1\n  [s]\n  a = b\n", after: "[t]\n  a = 1\n  [s]\n  a = c\n", judge: configParser, had: `"b"`, has: `"c"`},
		{what: "inside a value", typ: "ini", path: "/etc/f.ini", props: ini, before: "[s]\nx =\n  a = 1\n", after: "[s]\nx =\n  a = 1\na = c\n"},
		{what: "removed", typ: "ini", path: "/etc/f.ini", props: `{ "a", path = "/etc/f.ini", section = "s", ensure = "absent" }`, before: "[s]\na = 1\n\t2\nz = 1\n", after: "[s]\nz = 1\n"},
		{what: "another in the next line", typ: "ini", path: "/etc/my.cnf", props: `{ "port", path = "/etc/my.cnf", section = "s", value = "1" }`, before: "[s]\nport = 2\n  socket = x\n", after: "[s]\nport = 1\n  socket = x\n"},
		{what: "on demand", typ: "ini", path: "/etc/my.cnf", props: `{ "port", path = "/etc/my.cnf", section = "s", value = "1", continuation = "indent" }`, before: "[s]\nport = 2\n  socket = x\n", after: "[s]\nport = 1\n"},
		{what: "backslash", typ: "ini", path: "/etc/a.service", props: unit, before: "[Service]\nExecStart=/bin/a \\\n  -b \\\n# no\n  -c\nUser=x\n", after: "[Service]\nExecStart=/bin/c\nUser=x\n"},
		{what: "backslash, as wanted", typ: "ini", path: "/etc/a.service", props: strings.Replace(unit, "/bin/c", "/bin/c -d", 1), before: "[Service]\nExecStart=/bin/c \\\n  -d\n", after: "[Service]\nExecStart=/bin/c \\\n  -d\n"},
		{what: "backslash that is text", typ: "ini", path: "/etc/f.ini", props: ini, before: "[s]\na = C:\\x\\\nz = 1\n", after: "[s]\na = c\nz = 1\n", judge: configParser, had: `"C:\\x\\"`, has: `"c"`},
		{what: "bare in a value of several lines", typ: "ini", path: "/etc/f.ini", props: `{ "b", path = "/etc/f.ini", section = "s", ensure = "absent" }`, before: "[s]\na =\n  b\n", after: "[s]\na =\n  b\n"},
		{what: "postfix", typ: "kv", path: "/etc/main.cf", props: `{ "mynetworks", path = "/etc/main.cf", value = "127.0.0.0/8", separator = " = " }`, before: "mynetworks = 127.0.0.0/8\n# no\n\n  10.0.0.0/8\nmyhostname = a.b\n", after: "mynetworks = 127.0.0.0/8\nmyhostname = a.b\n", judge: postconf("mynetworks"), had: "127.0.0.0/8 10.0.0.0/8", has: "127.0.0.0/8"},
		{what: "postfix, as wanted", typ: "kv", path: "/etc/main.cf", props: `{ "mynetworks", path = "/etc/main.cf", value = "a b", separator = " = " }`, before: "mynetworks =\n  a\n  b\n", after: "mynetworks =\n  a\n  b\n"},
		{what: "postfix, below a comment", typ: "kv", path: "/etc/main.cf", props: `{ "b", path = "/etc/main.cf", value = "1", separator = " = " }`, before: "#b = 0\n  3\na = 1\n", after: "#b = 0\n  3\nb = 1\na = 1\n"},
		{what: "postfix, inside a value", typ: "kv", path: "/etc/main.cf", props: `{ "b", path = "/etc/main.cf", value = "1", separator = " = " }`, before: "a = 1\n  b = 2\n#b = 0\n  3\n", after: "a = 1\n  b = 2\n#b = 0\n  3\nb = 1\n"},
		{what: "shell", typ: "kv", path: "/etc/default/x", props: `{ "A", path = "/etc/default/x", value = "1", separator = "=" }`, before: "A=1 \\\n  B=2 \\\n  3\nC=1\n", after: "A=1\nC=1\n"},
		{what: "indented keys", typ: "kv", path: "/etc/x", props: `{ "b", path = "/etc/x", value = "1" }`, before: "a 1\n  b 2\n", after: "a 1\nb 1\n"},
	} {
		e.run(t)
	}
}

func TestKeysOfSSH(t *testing.T) {
	const no = `{ "PermitRootLogin", path = "/etc/sshd_config", value = "no" }`
	for _, e := range []edited{
		{what: "case", typ: "kv", path: "/etc/sshd_config", props: no, before: "permitrootlogin yes\n", after: "PermitRootLogin no\n", judge: sshd("permitrootlogin"), had: "yes", has: "no"},
		{what: "equals", typ: "kv", path: "/etc/sshd_config", props: no, before: "PermitRootLogin = yes\n", after: "PermitRootLogin no\n", judge: sshd("permitrootlogin"), had: "yes", has: "no"},
		{what: "in quotes", typ: "kv", path: "/etc/sshd_config", props: no, before: "\"PermitRootLogin\" yes\n", after: "PermitRootLogin no\n", judge: sshd("permitrootlogin"), had: "yes", has: "no"},
		{what: "as wanted", typ: "kv", path: "/etc/sshd_config", props: no, before: "PERMITROOTLOGIN=no\n", after: "PERMITROOTLOGIN=no\n", judge: sshd("permitrootlogin"), had: "no", has: "no"},
		{what: "below Match", typ: "kv", path: "/etc/sshd_config", props: no, before: "Port 22\nmatch user bob\n  PermitRootLogin no\n", after: "Port 22\nPermitRootLogin no\nmatch user bob\n  PermitRootLogin no\n", judge: sshd("permitrootlogin"), had: "without-password", has: "no"},
		{what: "absent above Match", typ: "kv", path: "/etc/ssh/sshd_config.d/a.conf", props: `{ "UseDNS", path = "/etc/ssh/sshd_config.d/a.conf", ensure = "absent" }`, before: "usedns=no\nMatch all\nUseDNS no\n", after: "Match all\nUseDNS no\n"},
		{what: "client", typ: "kv", path: "/etc/ssh/ssh_config", props: `{ "ForwardAgent", path = "/etc/ssh/ssh_config", value = "no" }`, before: "Host *\n    forwardagent no\n", after: "ForwardAgent no\nHost *\n    forwardagent no\n"},
		{what: "of a user", typ: "kv", path: "/home/a/.ssh/config", props: `{ "ForwardAgent", path = "/home/a/.ssh/config", value = "no" }`, before: "forwardagent=yes\nMatch host b\n", after: "ForwardAgent no\nMatch host b\n"},
		{what: "another file", typ: "kv", path: "/etc/x", props: `{ "Port", path = "/etc/x", value = "1" }`, before: "port 2\n", after: "port 2\nPort 1\n"},
		{what: "ports", typ: "kv", path: "/etc/sshd_config", props: `{ "two", path = "/etc/sshd_config", key = "Port", values = { 22, "2222" } }`, before: "port 22\nUseDNS no\nPort 23\nPort 24\n", after: "port 22\nUseDNS no\nPort 2222\n", judge: sshd("port"), had: "22", has: "22"},
		{what: "among ports", typ: "kv", path: "/etc/sshd_config", props: `{ "Port", path = "/etc/sshd_config", value = 2222, among = true }`, before: "Port 22\nUseDNS no\n", after: "Port 22\nPort 2222\nUseDNS no\n"},
	} {
		e.run(t)
	}
}

// TestNamesOfOneSetting: a reader takes both keys for one setting.
func TestNamesOfOneSetting(t *testing.T) {
	const kbd = `{ "KbdInteractiveAuthentication", path = "/etc/sshd_config", value = "no" }`
	for _, e := range []edited{
		{what: "old name", typ: "kv", path: "/etc/sshd_config", props: kbd, before: "UseDNS no\nchallengeresponseauthentication yes\n", after: "UseDNS no\nKbdInteractiveAuthentication no\n", judge: sshd("kbdinteractiveauthentication"), had: "yes", has: "no"},
		{what: "both names", typ: "kv", path: "/etc/sshd_config", props: kbd, before: "KbdInteractiveAuthentication no\nChallengeResponseAuthentication yes # not KbdInteractiveAuthentication\n", after: "KbdInteractiveAuthentication no\n", judge: sshd("kbdinteractiveauthentication"), had: "no", has: "no"},
		{what: "up to date", typ: "kv", path: "/etc/sshd_config", props: kbd, before: "ChallengeResponseAuthentication no\n", after: "ChallengeResponseAuthentication no\n", judge: sshd("kbdinteractiveauthentication"), had: "no", has: "no"},
		{what: "absent", typ: "kv", path: "/etc/ssh/ssh_config", props: `{ "PubkeyAcceptedAlgorithms", path = "/etc/ssh/ssh_config", ensure = "absent" }`, before: "PubkeyAcceptedKeyTypes ssh-rsa\n", after: ""},
		{what: "Match in quotes", typ: "kv", path: "/etc/sshd_config", props: kbd, before: "\"Match\" user bob\n  KbdInteractiveAuthentication no\n", after: "KbdInteractiveAuthentication no\n\"Match\" user bob\n  KbdInteractiveAuthentication no\n", judge: sshd("kbdinteractiveauthentication"), had: "yes", has: "no"},
		{what: "export", typ: "kv", path: "/etc/default/x", props: `{ "A", path = "/etc/default/x", value = "2", separator = "=" }`, before: "export A=1\nB=1\n", after: "export A=2\nB=1\n"},
		{what: "chrony, any case", typ: "kv", path: "/etc/chrony.conf", props: `{ "makestep", path = "/etc/chrony.conf", ensure = "absent" }`, before: "MakeStep 1 3\nrtcsync\n", after: "rtcsync\n"},
		{what: "export, in profile.d", typ: "kv", path: "/etc/profile.d/x.sh", props: `{ "A", path = "/etc/profile.d/x.sh", value = 2, separator = "=" }`, before: "export A=1\n", after: "export A=2\n"},
		{what: "export, in .env", typ: "kv", path: "/srv/.env", props: `{ "A", path = "/srv/.env", value = 2, separator = "=" }`, before: "export A=1\n", after: "export A=2\n"},
		{what: "no blanks behind a key without a value", typ: "kv", path: "/x", props: `{ "rtcsync", path = "/x", value = "" }`, before: "a 1\n", after: "a 1\nrtcsync\n"},
		{what: "export, absent", typ: "kv", path: "/etc/default/x", props: `{ "A", path = "/etc/default/x", separator = "=", ensure = "absent" }`, before: "export A=1\nB=1\n", after: "B=1\n"},
	} {
		e.run(t)
	}
}

// gitURLs returns the remotes of git with their addresses.
func gitURLs(t *testing.T, path string) string {
	return ask(t, "git", "config", "-f", path, "--list")
}

func TestKeysOfSections(t *testing.T) {
	const unit = `path = "/etc/a.service.d/b.conf", section = "Service"`
	for _, e := range []edited{
		{what: "values", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, values = { "A=1", "B=2" } }`, before: "[Service]\nEnvironment=A=1\nUser=x\nEnvironment=C=3\nEnvironment=D=4\n", after: "[Service]\nEnvironment=A=1\nUser=x\nEnvironment=B=2\n"},
		{what: "more values", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, values = { "A=1", "B=2", "C=3" }, separator = "=" }`, before: "[Service]\nEnvironment=A=1\nUser=x\n", after: "[Service]\nEnvironment=A=1\nEnvironment=B=2\nEnvironment=C=3\nUser=x\n"},
		{what: "values of a new section", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, values = { "A=1", 2, true }, separator = "=" }`, before: "", after: "[Service]\nEnvironment=A=1\nEnvironment=2\nEnvironment=true\n"},
		{what: "order", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "E", ` + unit + `, values = { "a", "b" } }`, before: "[Service]\nE = b\nE = a\n", after: "[Service]\nE = a\nE = b\n"},
		{what: "among", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "baz", ` + unit + `, key = "Environment", value = "BAZ=x", among = true, separator = "=" }`, before: "[Service]\nEnvironment=FOO=bar\nUser=x\n", after: "[Service]\nEnvironment=FOO=bar\nEnvironment=BAZ=x\nUser=x\n"},
		{what: "among, there", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, value = "A=1", among = true }`, before: "[Service]\nEnvironment=A=1\nEnvironment=B=1\n", after: "[Service]\nEnvironment=A=1\nEnvironment=B=1\n"},
		{what: "not among", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, value = "A=1", among = true, ensure = "absent" }`, before: "[Service]\nEnvironment=A=1\nEnvironment=B=1\nEnvironment=A=1\n", after: "[Service]\nEnvironment=B=1\n"},
		{what: "bare", typ: "ini", path: "/etc/my.cnf", props: `{ "skip-networking", path = "/etc/my.cnf", section = "mysqld", no_value = true }`, before: "[mysqld]\nport = 1\n", after: "[mysqld]\nport = 1\nskip-networking\n"},
		{what: "bare, there", typ: "ini", path: "/etc/my.cnf", props: `{ "skip-networking", path = "/etc/my.cnf", section = "mysqld", no_value = true }`, before: "[mysqld]\nskip_networking # c\n", after: "[mysqld]\nskip_networking # c\n"},
		{what: "bare, not with a value", typ: "ini", path: "/etc/my.cnf", props: `{ "skip-networking", path = "/etc/my.cnf", section = "mysqld", no_value = true }`, before: "[mysqld]\nskip-networking = 0\n", after: "[mysqld]\nskip-networking\n"},
		{what: "among, taken back", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "Environment", ` + unit + `, value = "A=1", among = true, separator = "=" }`, before: "[Service]\nEnvironment=A=1\nEnvironment=\nEnvironment=B=1\n", after: "[Service]\nEnvironment=A=1\nEnvironment=\nEnvironment=B=1\nEnvironment=A=1\n"},
		{what: "bare, with more lines", typ: "ini", path: "/etc/f.ini", props: `{ "a", path = "/etc/f.ini", section = "s", value = "1" }`, before: "[s]\na\n  1\n  2\nb = 1\n", after: "[s]\na = 1\nb = 1\n"},
		{what: "bare, gone", typ: "ini", path: "/etc/my.cnf", props: `{ "skip-networking", path = "/etc/my.cnf", section = "mysqld", ensure = "absent" }`, before: "[mysqld]\nskip-networking\nport = 1\n", after: "[mysqld]\nport = 1\n"},
		{what: "a value for a bare one", typ: "ini", path: "/etc/f.ini", props: `{ "a", path = "/etc/f.ini", section = "s", value = "1" }`, before: "[s]\na\nb\n", after: "[s]\na = 1\nb\n", judge: configParser, had: "null", has: `"1"`},
		{what: "samba", typ: "ini", path: "/etc/smb.conf", props: `{ "workgroup", path = "/etc/smb.conf", section = "global", value = "A" }`, before: "[Global]\n  Workgroup = B\n", after: "[Global]\n  Workgroup = A\n"},
		{what: "samba, blanks in a key", typ: "ini", path: "/etc/smb.conf", props: `{ "log level", path = "/etc/smb.conf", section = "global", ensure = "absent" }`, before: "[global]\n  Log  Level = 1\nloglevel=2\nlog file = x\n", after: "[global]\nlog file = x\n"},
		{what: "samba, synonym", typ: "ini", path: "/etc/smb.conf", props: `{ "hosts allow", path = "/etc/smb.conf", section = "global", value = "10." }`, before: "[global]\n  allow hosts = 11.\n", after: "[global]\n  allow hosts = 10.\n"},
		{what: "a value that was taken back", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "ExecStart", ` + unit + `, value = "/bin/b", separator = "=" }`, before: "[Service]\nExecStart=/bin/b\nExecStart=\n", after: "[Service]\nExecStart=/bin/b\nExecStart=\nExecStart=/bin/b\n"},
		{what: "a colon where only an equals sign counts", typ: "ini", path: "/etc/a.service.d/b.conf", props: `{ "User", ` + unit + `, value = "a", separator = "=" }`, before: "[Service]\nUser: a\n", after: "[Service]\nUser: a\nUser=a\n"},
		{what: "remotes of git that differ in case", typ: "ini", path: "/.gitconfig", props: `{ "url", path = "/.gitconfig", section = 'Remote "a"', value = "z" }`, before: "[remote \"a\"]\nurl = b\n[remote \"A\"]\nurl = c\n", after: "[remote \"a\"]\nurl = z\n[remote \"A\"]\nurl = c\n", judge: gitURLs, had: "remote.a.url=b\nremote.A.url=c", has: "remote.a.url=z\nremote.A.url=c"},
		{what: "groups of MySQL in any case", typ: "ini", path: "/etc/my.cnf", props: `{ "port", path = "/etc/my.cnf", section = "mysqld", ensure = "absent" }`, before: "[MySQLd]\nport = 1\n", after: "[MySQLd]\n"},
		{what: "keys of pip", typ: "ini", path: "/etc/pip.conf", props: `{ "index-url", path = "/etc/pip.conf", section = "global", value = "b" }`, before: "[global]\nIndex_URL: a\n", after: "[global]\nIndex_URL: b\n"},
		{what: "comment behind a header", typ: "ini", path: "/etc/f.ini", props: `{ "a", path = "/etc/f.ini", section = "s", value = 1 }`, before: "[s] # c\na = 2\n", after: "[s] # c\na = 1\n", judge: configParser, had: `"2"`, has: `"1"`},
	} {
		e.run(t)
	}
	for props, want := range map[string]string{
		`value = "1", no_value = true`:      "no_value: cannot be used with value and values",
		`value = "1", values = { "2" }`:     "values: cannot be used with value",
		`values = {}`:                       "values: expected at least one value",
		`values = { "a\nb" }`:               `values: expected one line, got "a\nb"`,
		`value = " 1"`:                      `value: expected no blanks around the value, because readers ignore them, got " 1"`,
		`values = { "1", "2\t" }`:           "values: expected no blanks around the value",
		`values = { 1 }, ensure = "absent"`: "values: cannot be used with ensure absent",
		`among = true`:                      "among: requires value",
		`section = "s"`:                     "value is required unless ensure is absent",
	} {
		require.Contains(t, mistake(t, `require "std.ini" { "a", path = "/x", `+props+` }`), want)
	}
	for resource, want := range map[string]string{
		`ini { "a_b", path = "/.gitconfig", section = "user", value = "1" }`:     `name: expected a key that the readers of the file accept, got "a_b"`,
		`ini { "a", path = "/etc/a.service", section = "Unit", value = [[b\]] }`: `value: expected no backslash at the end, which continues the value on the next line, got "b\\"`,
		`kv { "relayhost", path = "/etc/postfix/main.cf", value = "b" }`:         "separator: expected = between key and value, as readers of /etc/postfix/main.cf do",
		`kv { "a", path = "/etc/default/a", value = "b", separator = ":" }`:      "separator: expected = between key and value, as readers of /etc/default/a do",
	} {
		require.Contains(t, mistake(t, `require "std.`+strings.Replace(resource, " ", `" `, 1)), want)
	}
	suite{
		name: "kv", starts: map[string]map[string]string{"equals": {"/x": "b 1\na = 2\n"}}, wants: map[string]string{"blank": `{ "a", path = "/x", value = "1" }`},
		fails: map[string]string{"equals/blank": "/x: line 2 has an equals sign between key and value"},
	}.run(t)
}

// TestTextsOfWindows: a byte order mark and line ends are not changed, and hide nothing.
func TestTextsOfWindows(t *testing.T) {
	for _, e := range []edited{
		{what: "ini", typ: "ini", path: "/etc/x", props: `{ "a", path = "/etc/x", section = "s", value = "2" }`, before: "[s]\na=1\n", after: "[s]\na=2\n", judge: configParser, had: `"1"`, has: `"2"`},
		{what: "top of ini", typ: "ini", path: "/etc/x", props: `{ "a", path = "/etc/x", value = "2" }`, before: "b=1\n", after: "b=1\na = 2\n"},
		{what: "kv", typ: "kv", path: "/etc/x", props: `{ "a", path = "/etc/x", value = "2", separator = "=" }`, before: "a=1\n#a=3\n", after: "a=2\n#a=3\n"},
		{what: "line", typ: "line", path: "/etc/x", props: `{ "/etc/x", line = "a=2", match = "^a=.*$" }`, before: "a=1\nb\n", after: "a=2\nb\n"},
		{what: "no line", typ: "line", path: "/etc/x", props: `{ "/etc/x", line = "a=1", ensure = "absent" }`, before: "a=1\nb\n", after: "b\n"},
		{what: "block", typ: "block", path: "/etc/x", props: `{ "b", path = "/etc/x", content = "c\nd", insert_after = "^a$" }`, before: "a\nz\n", after: "a\n# BEGIN ccm b\nc\nd\n# END ccm b\nz\n"},
		{what: "replace", typ: "replace", path: "/etc/x", props: `{ "/etc/x", match = "^a.*$", replacement = "b" }`, before: "a=1\nz\n", after: "b\nz\n"},
		{what: "replace lines", typ: "replace", path: "/etc/x", props: `{ "/etc/x", match = "a\n+b", replacement = "c\nd" }`, before: "a\n\nb\n", after: "c\nd\n"},
		{what: "json", typ: "json_setting", path: "/etc/x", props: `{ "a", path = "/etc/x", value = 2 }`, before: "{\n  \"a\": 1\n}\n", after: "{\n  \"a\": 2\n}\n"},
		{what: "toml", typ: "toml_setting", path: "/etc/x", props: `{ "a", path = "/etc/x", value = 2 }`, before: "a = 1\n[b]\n", after: "a = 2\n[b]\n"},
		{what: "yaml", typ: "yaml_setting", path: "/etc/x", props: `{ "a", path = "/etc/x", value = 2 }`, before: "a: 1\nb: 1\n", after: "a: 2\nb: 1\n"},
		{what: "yaml document", typ: "yaml_setting", path: "/etc/x", props: `{ "a", path = "/etc/x", value = 2, document = 1 }`, before: "a: 1\n---\nb: 1\n", after: "a: 2\n---\nb: 1\n"},
	} {
		for what, change := range map[string]func(string) string{
			"mark":     func(s string) string { return "\ufeff" + s },
			"both":     func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") },
			"CR LF":    func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			"unended":  func(s string) string { return strings.TrimSuffix(s, "\n") },
			"one line": func(s string) string { return s },
		} {
			e := e
			e.what, e.before, e.after = e.what+" "+what, change(e.before), change(e.after)
			if strings.Contains(what, "unended") && e.typ == "toml_setting" {
				continue
			}
			e.run(t)
		}
	}
	edited{what: "a pattern with CR", typ: "replace", path: "/etc/x", props: `{ "/etc/x", match = [[a\r\n]], replacement = "" }`, before: "a\r\nb\r\n", after: "b\r\n"}.run(t)
}

func TestBlockInOtherComments(t *testing.T) {
	for _, e := range []edited{
		{what: "known end", typ: "block", path: "/etc/f", props: `{ "b", path = "/etc/f", content = "<y/>", comment = "<!--", insert_after = "^<x>" }`, before: "<x>\n</x>\n", after: "<x>\n<!-- BEGIN ccm b -->\n<y/>\n<!-- END ccm b -->\n</x>\n"},
		{what: "by name", typ: "block", path: "/etc/f.xml", props: `{ "b", path = "/etc/f.xml", content = "<y/>", insert_after = "^<x>" }`, before: "<x>\n</x>\n", after: "<x>\n<!-- BEGIN ccm b -->\n<y/>\n<!-- END ccm b -->\n</x>\n", judge: python("xml.dom.minidom", "[n.tagName for n in xml.dom.minidom.parse(f).documentElement.childNodes if n.nodeType == 1]"), had: "[]", has: `["y"]`},
		{what: "css", typ: "block", path: "/etc/f.css", props: `{ "b", path = "/etc/f.css", content = "b {}", comment = "/*" }`, before: "a {}\n", after: "a {}\n/* BEGIN ccm b */\nb {}\n/* END ccm b */\n"},
		{what: "given end", typ: "block", path: "/etc/f", props: `{ "b", path = "/etc/f", content = "x", comment = "<", comment_end = ">" }`, before: "", after: "< BEGIN ccm b >\nx\n< END ccm b >\n"},
		{what: "gone", typ: "block", path: "/etc/f.html", props: `{ "b", path = "/etc/f.html", ensure = "absent" }`, before: "<!-- BEGIN ccm b -->\n<y/>\n<!-- END ccm b -->\n<x/>\n", after: "<x/>\n"},
	} {
		e.run(t)
	}
	require.Contains(t, mistake(t, `require "std.block" { "a--b", path = "/x.xml", content = "" }`), "name: expected a name that can be in a comment <!-- -->")
	require.Contains(t, mistake(t, `require "std.block" { "a*/b", path = "/x", content = "", comment = "/*" }`), "name: expected a name that can be in a comment /* */")
}

// TestNumbersForTexts: an integer and a boolean have only one text. 0644 and 1e15 have none that is certain.
func TestNumbersForTexts(t *testing.T) {
	for _, e := range []edited{
		{what: "integer", typ: "kv", path: "/x", props: `{ "a", path = "/x", value = -17 }`, before: "", after: "a -17\n"},
		{what: "boolean", typ: "ini", path: "/x", props: `{ "a", path = "/x", value = true }`, before: "", after: "a = true\n"},
		{what: "computed", typ: "kv", path: "/x", props: `{ "a", path = "/x", value = 2 * 2^10 }`, before: "", after: "a 2048\n"},
	} {
		e.run(t)
	}
	for _, make := range []string{`require "std.kv" { "a", path = "/x", value = %s }`, `local kv = require "std.kv" kv { "a", path = "/x", value = %s }`, `require "std.kv" "a" { path = "/x", values = { 1, %s } }`, `require "std.sysctl" { "a", value = %s }`, `require "std.ini" { "a", path = "/x", values = { %s } }`} {
		for _, number := range []string{"0644", "1e15", "1.50", "-007", "0x10"} {
			require.Contains(t, mistake(t, strings.ReplaceAll(make, "%s", number)), `expected a string, got the number `+number+` (quote it: "`+number+`")`)
		}
	}
	for _, typ := range []string{"json_setting", "yaml_setting", "toml_setting"} {
		for _, number := range []string{"0644", "1e15", "-007"} {
			require.Contains(t, mistake(t, `require "std.`+typ+`" { "a", path = "/x", value = `+number+` }`), `value: expected a string, got the number `+number+` (quote it: "`+number+`")`)
		}
		require.Empty(t, mistake(t, `require "std.`+typ+`" { "a", path = "/x", value = 1.50 } require "std.`+typ+`" { "b", path = "/x", value = 0x1e } require "std.`+typ+`" { "c", path = "/x", value = 0 }`))
	}
	require.Contains(t, mistake(t, `require "std.kv" { "a", path = "/x", value = 10 / 4 }`), "value: expected a string, got the number 2.5")
	require.Contains(t, mistake(t, `require "std.kv" { "a", path = "/x", value = 10 ^ 15 }`), "value: expected a string, got the number 1000000000000000")
	require.Contains(t, mistake(t, `require "std.kv" { "a", path = "/x", key = 5, value = 5 }`), "key: expected a string, got the number 5")
	require.Empty(t, mistake(t, `require "std.sysctl" { "vm.swappiness", value = 10 }`))
}

func TestItemsOfLists(t *testing.T) {
	whole := func(module, load string) func(t *testing.T, path string) string { return python(module, load+"['h']") }
	pyYAML, pyTOML, pyJSON := whole("yaml", "yaml.safe_load(f)"), whole("tomllib", "tomllib.load(f)"), whole("json", "json.load(f)")
	const present, absent = `{ "h", path = "/x", value = "b", among = true }`, `{ "h", path = "/x", value = "b", among = true, ensure = "absent" }`
	for _, e := range []edited{
		{what: "yaml", typ: "yaml_setting", path: "/x", props: absent, before: "h:\n- a # c\n- b\n- c # d\n- b\n", after: "h:\n- a # c\n- c # d\n", judge: pyYAML, had: `["a", "b", "c", "b"]`, has: `["a", "c"]`},
		{what: "yaml, last", typ: "yaml_setting", path: "/x", props: absent, before: "h: [b]\n", after: "h: []\n", judge: pyYAML, had: `["b"]`, has: `[]`},
		{what: "yaml, new", typ: "yaml_setting", path: "/x", props: present, before: "h:\n- a\n", after: "h:\n- a\n- b\n", judge: pyYAML, had: `["a"]`, has: `["a", "b"]`},
		{what: "yaml, first", typ: "yaml_setting", path: "/x", props: present, before: "", after: "h: [b]\n"},
		{what: "yaml, there", typ: "yaml_setting", path: "/x", props: present, before: "h: [b, a]\n", after: "h: [b, a]\n"},
		{what: "yaml, table", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = { n = 1 }, among = true, ensure = "absent" }`, before: "h:\n- n: 1\n- n: 2\n", after: "h:\n- n: 2\n"},
		{what: "yaml, null", typ: "yaml_setting", path: "/x", props: absent, before: "h: [null, b, 1]\n", after: "h: [null, 1]\n", judge: pyYAML, had: `[null, "b", 1]`, has: `[null, 1]`},
		{what: "json", typ: "json_setting", path: "/x", props: absent, before: `{"h": ["a", "b", "c"]}`, after: `{"h": ["a", "c"]}`, judge: pyJSON, had: `["a", "b", "c"]`, has: `["a", "c"]`},
		{what: "json, last", typ: "json_setting", path: "/x", props: absent, before: `{"h": ["b"]}`, after: `{"h": []}`, judge: pyJSON, had: `["b"]`, has: `[]`},
		{what: "toml", typ: "toml_setting", path: "/x", props: absent, before: "h = [\"a\", \"b\"] # c\n", after: "h = [\"a\"] # c\n", judge: pyTOML, had: `["a", "b"]`, has: `["a"]`},
		{what: "toml, last", typ: "toml_setting", path: "/x", props: absent, before: "h = [\"b\"]\n", after: "h = []\n", judge: pyTOML, had: `["b"]`, has: `[]`},
		{what: "toml, new", typ: "toml_setting", path: "/x", props: present, before: "h = [\"a\"]\n", after: "h = [\"a\", \"b\"]\n", judge: pyTOML, had: `["a"]`, has: `["a", "b"]`},
		{what: "toml, several lines", typ: "toml_setting", path: "/x", props: present, before: "h = [\n  'a', # one\n  # two\n  'c' # three\n]\n", after: "h = [\n  'a', # one\n  # two\n  'c', # three\n  \"b\"\n]\n", judge: pyTOML, had: `["a", "c"]`, has: `["a", "c", "b"]`},
		{what: "toml, gone of several lines", typ: "toml_setting", path: "/x", props: absent, before: "h = [\n  'b',\n  'a', # one\n  'b', # two\n]\n", after: "h = [\n  'a', # one\n]\n", judge: pyTOML, had: `["b", "a", "b"]`, has: `["a"]`},
		{what: "toml, only comments", typ: "toml_setting", path: "/x", props: present, before: "h = [\n  # none\n]\n", after: "h = [\n  # none\n  \"b\",\n]\n", judge: pyTOML, had: `[]`, has: `["b"]`},
		{what: "json, comments", typ: "json_setting", path: "/x", props: present, before: "{\"h\": [\n  \"a\", // one\n  \"c\" // three\n]}", after: "{\"h\": [\n  \"a\", // one\n  \"c\", // three\n  \"b\"\n]}"},
		{what: "json, only comments", typ: "json_setting", path: "/x", props: present, before: "{\"h\": [\n  // none\n]}", after: "{\"h\": [\n  // none\n  \"b\"\n]}"},
		{what: "yaml, comments", typ: "yaml_setting", path: "/x", props: present, before: "h:\n  - a # one\n  # two\n  - c # three\ni: 1\n", after: "h:\n  - a # one\n  # two\n  - c # three\n  - b\ni: 1\n", judge: pyYAML, had: `["a", "c"]`, has: `["a", "c", "b"]`},
		{what: "yaml, several lines in brackets", typ: "yaml_setting", path: "/x", props: present, before: "h: [\n  a, # one\n  c # three\n]\n", after: "h: [\n  a, # one\n  c, b # three\n]\n", judge: pyYAML, had: `["a", "c"]`, has: `["a", "c", "b"]`},
		{what: "yaml, empty", typ: "yaml_setting", path: "/x", props: present, before: "h: [ ]   # none\ni: 1\n", after: "h: [b]   # none\ni: 1\n", judge: pyYAML, had: `[]`, has: `["b"]`},
		{what: "yaml, a time to others", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = "22:22", among = true }`, before: "h:\n- 22:22 # c\n- no\n", after: "h:\n- \"22:22\" # c\n- no\n", judge: pyYAML, had: `[1342, false]`, has: `["22:22", false]`},
		{what: "yaml, false to others", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = "no" }`, before: "h: no # c\ni: no\n", after: "h: \"no\" # c\ni: no\n", judge: pyYAML, had: `false`, has: `"no"`},
		{what: "yaml, in a list", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = { "a", "off" } }`, before: "h: [a, off]\n", after: "h: [a, \"off\"]\n", judge: pyYAML, had: `["a", false]`, has: `["a", "off"]`},
		{what: "yaml, in quotes", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = { "on", "22:22" } }`, before: "h: ['on', '22:22']\n", after: "h: ['on', '22:22']\n", judge: pyYAML, had: `["on", "22:22"]`, has: `["on", "22:22"]`},
		{what: "yaml, empty tables", typ: "yaml_setting", path: "/x", props: `{ "h", path = "/x", value = { a = {}, b = {} } }`, before: "h: {a: [], b: {}}\n", after: "h: {a: [], b: {}}\n"},
		{what: "a name of digits", typ: "yaml_setting", path: "/x", props: `{ "p", path = "/x", key = { "h", "80" }, ensure = "absent" }`, before: "h: {80: a, 81: b}\n", after: "h: {81: b}\n"},
	} {
		e.run(t)
	}
	for _, typ := range []string{"json_setting", "yaml_setting", "toml_setting"} {
		for _, key := range []string{`"hosts.0"`, `"0"`, `"x", key = "a.b.12"`} {
			require.Contains(t, mistake(t, `require "std.`+typ+`" { `+key+`, path = "/x", ensure = "absent" }`), "a list position cannot be absent")
		}
		suite{
			name: typ, starts: map[string]map[string]string{"x": {"/x": map[string]string{"json_setting": `{"h": ["a"], "s": 1}`, "yaml_setting": "h: [a]\ns: 1\n", "toml_setting": "h = ['a']\ns = 1\n"}[typ]}},
			wants: map[string]string{
				"position": `{ "p", path = "/x", key = { "h", "0" }, ensure = "absent" }`,
				"no list":  `{ "s", path = "/x", value = 1, among = true }`,
			},
			fails: map[string]string{"x/position": "the next item would move into its position", "x/no list": `"s" is not a list`},
		}.run(t)
	}
}

func TestDocuments(t *testing.T) {
	const text = "# top\n%YAML 1.1\n---\nkind: A\nn: 1 # c\nt: |\n  ---\n---\nkind: B\nmetadata: {name: web}\nn: 2\n...\n# third\n---\nkind: B\nmetadata: {name: db}\nn: 3\n"
	numbers := python("yaml", "[d['n'] if isinstance(d, dict) else d for d in yaml.safe_load_all(f)]")
	for what, change := range map[string][3]string{
		"1":              {"n: 1", "n: 9", "[9, 2, 3]"},
		"2":              {"n: 2", "n: 9", "[1, 9, 3]"},
		"3":              {"n: 3", "n: 9", "[1, 2, 9]"},
		`{ kind = "A" }`: {"n: 1", "n: 9", "[9, 2, 3]"},
		`{ ["metadata.name"] = "web", kind = "B" }`: {"n: 2", "n: 9", "[1, 9, 3]"},
	} {
		edited{
			what: what, typ: "yaml_setting", path: "/x", props: `{ "n", path = "/x", value = 9, document = ` + what + ` }`,
			before: text, after: strings.Replace(text, change[0], change[1], 1), judge: numbers, had: "[1, 2, 3]", has: change[2],
		}.run(t)
	}
	for _, e := range []edited{
		{what: "empty first", typ: "yaml_setting", path: "/x", props: `{ "n", path = "/x", value = 9, document = 2 }`, before: "---\n---\nn: 1", after: "---\n---\nn: 9", judge: numbers, had: "[null, 1]", has: "[null, 9]"},
		{what: "without a marker", typ: "yaml_setting", path: "/x", props: `{ "n", path = "/x", value = 9, document = 1 }`, before: "n: 1\n--- # c\nn: 2\n", after: "n: 9\n--- # c\nn: 2\n", judge: numbers, had: "[1, 2]", has: "[9, 2]"},
		{what: "new in the first", typ: "yaml_setting", path: "/x", props: `{ "m", path = "/x", value = 9, document = 1 }`, before: "---\nn: 1\n---\nn: 2\n", after: "---\nn: 1\nm: 9\n---\nn: 2\n", judge: numbers, had: "[1, 2]", has: "[1, 2]"},
		{what: "absent", typ: "yaml_setting", path: "/x", props: `{ "n", path = "/x", ensure = "absent", document = { kind = "C" } }`, before: text, after: text},
	} {
		e.run(t)
	}
	suite{
		name: "yaml_setting", starts: map[string]map[string]string{"x": {"/x": text}},
		wants: map[string]string{
			"many": `{ "n", path = "/x", value = 9, document = { kind = "B" } }`, "none": `{ "n", path = "/x", value = 9, document = 4 }`, "any": `{ "n", path = "/x", value = 9 }`,
		},
		fails: map[string]string{"x/many": "documents 2 and 3 both match", "x/none": "/x: none of 3 documents matches 4", "x/any": "found a second one (select one with document = 1)"},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.yaml_setting" { "a", path = "/x", value = 1, document = 0 }`), "document: expected a number from 1")
	require.Contains(t, mistake(t, `require "std.json_setting" { "a", path = "/x", value = 1, document = 1 }`), `unknown property "document"`)
}
