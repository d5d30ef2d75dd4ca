package stdlib_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestSwapMistakes: properties of swap that cannot be, and swap in mount.
func TestSwapMistakes(t *testing.T) {
	for args, want := range map[string]string{
		`"std.swap" { "area" }`:                                 `swap#area: name: expected a path, LABEL= or UUID=, got "area"`,
		`"std.swap" { "/area", size = "2 GB" }`:                 `swap#/area: size: expected a size such as 2G or 512M, got "2 GB"`,
		`"std.swap" { "LABEL=x", size = "2G" }`:                 `swap#LABEL=x: size: applies only to files, and LABEL=x is a device`,
		`"std.swap" { "/dev/sdb", size = "2G" }`:                `swap#/dev/sdb: size: applies only to files, and /dev/sdb is a device`,
		`"std.swap" { "/area", options = { "a,b" } }`:           `swap#/area: options: expected one option per item, such as pri=10, got "a,b"`,
		`"std.mount" { "/x", type = "swap", device = "/area" }`: `mount#/x: type: use std.swap for swap (swap { "/area" })`,
	} {
		require.Contains(t, mistake(t, `require `+args), want)
	}
}

// TestMount: on a machine that is only a directory nothing is mounted.
func TestMount(t *testing.T) {
	const fstab = "/etc/fstab"
	const others = "# mine\nUUID=a / ext4 errors=remount-ro 0 1\nLABEL=swap none swap sw 0 0\n"
	suite{
		name: "mount",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"missing": {fstab: others},
			"right":   {fstab: others + "LABEL=data\t/srv/my\\040data  ext4 noatime,nofail 0 2\n"},
			"short":   {fstab: "LABEL=data /srv/my\\040data ext4"},
			"link":    {fstab: "LABEL=data /srv/my\\040data ext4\n", "/srv/real/": "", "/srv/my data": "->real"},
			"twice":   {fstab: "LABEL=old /srv/my\\040data ext4\n" + others + "LABEL=data /srv/my\\040data ext4 noatime,nofail 0 2\n"},
		},
		wants: map[string]string{
			"data":      `{ "/srv/my data", device = "LABEL=data", type = "ext4", options = { "noatime", "nofail" }, pass = 2 }`,
			"plain":     `{ "/srv/my data", device = "LABEL=data" }`,
			"options":   `{ "/srv/my data", options = { "nodev" }, ensure = "present" }`,
			"unmounted": `{ "/srv/my data", device = "/dev/sd b", ensure = "unmounted" }`,
			"absent":    `{ "/srv/my data", ensure = "absent" }`,
			// White space that does not separate fields of fstab, a quote, and control characters.
			"odd": `{ "/srv/a\194\160b\rc\11d\194\133e f\ng", device = "tm\195\160pfs\12\27[2J", type = "tmpfs", options = { "nosuid", [[context="a\b"]] } }`,
		},
		fails: map[string]string{
			"nothing/options": "device is required, because /etc/fstab does not contain /srv/my data", "missing/options": "device is required",
			"link/data": "/srv/my data is a link to /srv/real (use the target as the mount point)", "link/plain": "is a link to /srv/real", "link/options": "is a link to /srv/real", "link/unmounted": "is a link to /srv/real",
		},
		phrases: map[string][]string{
			"missing/data": {"added it to /etc/fstab"}, "right/data": {}, "right/plain": {}, "twice/data": {"updated /etc/fstab"}, "right/options": {"updated /etc/fstab"},
			"right/absent": {"removed it from /etc/fstab"}, "missing/absent": {}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"nothing/data":    {fstab: new("LABEL=data /srv/my\\040data ext4 noatime,nofail 0 2\n")},
			"missing/plain":   {fstab: new(others + "LABEL=data /srv/my\\040data auto defaults 0 0\n")},
			"right/options":   {fstab: new(others + "LABEL=data /srv/my\\040data ext4 nodev 0 2\n")},
			"short/unmounted": {fstab: new("/dev/sd\\040b /srv/my\\040data ext4 defaults 0 0\n")},
			"twice/plain":     {fstab: new("LABEL=data /srv/my\\040data ext4 noatime,nofail 0 2\n" + others)},
			"twice/absent":    {fstab: new(others)},
			"right/absent":    {fstab: new(others)},
			"link/absent":     {fstab: new("")},
			"missing/odd":     {fstab: new(others + "tmàpfs\f\x1b[2J /srv/a\u00a0b\rc\vd\u0085e\\040f\\012g tmpfs nosuid,context=\"a\\134b\" 0 0\n")},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"srv"`:                                                `mount#srv: name: expected an absolute path`,
		`{ "/srv", options = { "a,b" } }`:                      `mount#/srv: options: expected one option per item, such as noatime, got "a,b"`,
		`{ "/srv", device = "#x" }`:                            `mount#/srv: device: expected such as LABEL=data, got "#x"`,
		`{ "/srv", options = { "a\0b" } }`:                     `mount#/srv: options: expected one line, got "a\x00b"`,
		`{ "/srv", options = { "a\nb" } }`:                     `mount#/srv: options: expected one line, got "a\nb"`,
		`{ "/srv", options = { "a b" } }`:                      `mount#/srv: options: expected one option per item`,
		`{ "/srv", options = { [[x="]], "nosuid" } }`:          `mount#/srv: options: expected quotes in pairs, because what follows would be a part of it, got 'x="'`,
		`{ "/srv", options = { "rbind" }, device = "home/m" }`: `mount#/srv: device: expected an absolute path with rbind, got "home/m"`,
		`{ "/srv", device = "a\0b" }`:                          `mount#/srv: device: expected one line, got "a\x00b"`,
		`{ "/srv", type = "ext4 defaults"}`:                    `mount#/srv: type: expected such as ext4, got "ext4 defaults"`,
	} {
		require.Contains(t, mistake(t, `require "std.mount" `+args), want)
	}
}

// alternatives simulates the parts of update-alternatives that the type uses.
type alternatives struct{ root string }

// Run implements host.Runner.
func (m alternatives) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	if len(c.Argv) < 7 || c.Argv[0] != "update-alternatives" || c.Argv[1] != "--root" || c.Argv[2] != m.root || c.Argv[3] != "--log" {
		return host.Result{}, fmt.Errorf("no such command here: %s", c)
	}
	verb, args := c.Argv[5], c.Argv[6:]
	name, path := args[0], args[len(args)-1]
	if verb == "--install" {
		name, path = args[1], args[2]
	}
	file := "var/lib/dpkg/alternatives/" + name
	if _, err := os.Stat(filepath.Join(m.root, "var/lib/alternatives", name)); err == nil {
		file = "var/lib/alternatives/" + name
	}
	text, _ := os.ReadFile(filepath.Join(m.root, file))
	lines := strings.Split(string(text), "\n")
	if len(text) == 0 {
		lines = []string{"auto", args[0], "", ""}
	}
	switch verb {
	case "--install":
		lines[1] = args[0]
		if at := slices.Index(lines, path); at >= 0 {
			lines[at+1] = args[3]
		} else {
			lines = slices.Insert(lines, 3, path, args[3])
		}
	case "--set":
		lines[0] = "manual"
	case "--auto":
		lines[0], path = "auto", lines[3]
	case "--remove":
		at := slices.Index(lines, path)
		lines = slices.Delete(lines, at, at+2)
		path = lines[3]
	}
	_ = os.Remove(filepath.Join(m.root, "etc/alternatives", name))
	_ = os.Remove(filepath.Join(m.root, lines[1]))
	return host.Result{}, plant(m.root, map[string]string{
		file: strings.Join(lines, "\n"), lines[1]: "->/etc/alternatives/" + name, "etc/alternatives/" + name: "->" + path, "var/log/alternatives.log": "",
	})
}

func TestAlternative(t *testing.T) {
	const file, link = "/var/lib/dpkg/alternatives/pager", "/etc/alternatives/pager"
	const more = "/usr/bin/pager\npager.1\n/man/pager.1\n\n/bin/less\n77\n/man/less.1\n/bin/more\n50\n/man/more.1\n\n"
	suite{
		name: "alternative", machine: func(root string) host.Runner { return alternatives{root} },
		starts: map[string]map[string]string{
			"nothing": {"/bin/more": "1", "/usr/bin/": ""},
			"bare":    {"/bin/more": "1"},
			"auto":    {"/bin/less": "1", "/bin/more": "1", file: "auto\n" + more, link: "->/bin/less"},
			"manual":  {"/bin/less": "1", "/bin/more": "1", file: "manual\n" + more, link: "->/bin/more"},
			"lost":    {"/bin/less": "1", file: "auto\n" + more, link: "->/bin/less"},
			"redhat":  {"/bin/less": "1", "/bin/more": "1", "/var/lib/alternatives/pager": strings.Replace("manual\n"+more, "\n50\n", "\n@family@50\n", 1), link: "->/bin/more"},
		},
		wants: map[string]string{
			"more": `{ "pager", path = "/bin/more" }`,
			"less": `{ "pager", path = "/bin/less" }`,
			"none": `{ "pager", path = "/bin/cat" }`,
			"auto": `{ "pager", ensure = "auto" }`,
			"same": `{ "pager", path = "/bin/more", link = "/usr/bin/pager", priority = 50 }`,
		},
		fails: map[string]string{
			"nothing/more": "no such alternatives: pager", "nothing/less": "no such alternatives: pager", "nothing/none": "no such alternatives: pager",
			"nothing/auto": "no such alternatives: pager",
			"bare/more":    "no such alternatives: pager", "bare/less": "no such alternatives: pager", "bare/none": "no such alternatives: pager",
			"bare/auto": "no such alternatives: pager", "bare/same": "no such directory: /usr/bin",
			"auto/none": "/bin/cat is not one of the alternatives", "manual/none": "/bin/cat is not one of", "lost/none": "/bin/cat is not one of",
			"lost/more": "no such program: /bin/more", "lost/same": "no such program: /bin/more", "redhat/none": "/bin/cat is not one of",
		},
		phrases: map[string][]string{
			"auto/less": {"set the alternative"}, "auto/more": {"set the alternative"}, "manual/more": {}, "manual/same": {}, "redhat/same": {}, "auto/auto": {},
			"manual/auto": {"set the alternative"}, "nothing/same": {"added the alternative"},
		},
	}.run(t)
	suite{
		name: "alternative", machine: func(root string) host.Runner { return alternatives{root} },
		starts: map[string]map[string]string{
			"nothing": {"/bin/cat": "1", "/bin/more": "1", "/usr/bin/": ""},
			"gone":    {"/etc/": ""},
			"lost":    {"/bin/cat": "1", file: "auto\n/usr/bin/pager\n\n/bin/less\n77\n/bin/more\n50\n\n", link: "->/bin/less"},
			"there":   {"/bin/cat": "1", "/bin/more": "1", file: "auto\n/usr/bin/pager\n\n/bin/less\n77\n/bin/more\n50\n\n", link: "->/bin/less"},
		},
		wants: map[string]string{
			"cat":    `{ "pager", path = "/bin/cat", link = "/usr/bin/pager", priority = 10 }`,
			"weight": `{ "pager", path = "/bin/more", link = "/usr/bin/pager", priority = 60 }`,
			"absent": `{ "pager", path = "/bin/more", ensure = "absent" }`,
		},
		fails: map[string]string{"gone/cat": "no such program: /bin/cat", "gone/weight": "no such program: /bin/more", "lost/weight": "no such program: /bin/more"},
		phrases: map[string][]string{
			"there/cat": {"set the alternative"}, "there/absent": {"removed the alternative"}, "nothing/absent": {},
		},
		after: map[string]map[string]*string{
			"there/cat":    {file: new("manual\n/usr/bin/pager\n\n/bin/cat\n10\n/bin/less\n77\n/bin/more\n50\n\n")},
			"there/weight": {file: new("manual\n/usr/bin/pager\n\n/bin/less\n77\n/bin/more\n60\n\n")},
			"there/absent": {file: new("auto\n/usr/bin/pager\n\n/bin/less\n77\n\n")},
		},
	}.run(t)
	for args, want := range map[string]string{
		`"pager"`:                                 `path: is required unless ensure is auto`,
		`{ "a b", ensure = "auto" }`:              `name: expected a name such as editor, got "a b"`,
		`{ "a", path = "/x", link = "/y" }`:       `priority: link and priority must be used together`,
		`{ "a", ensure = "auto", priority = 12 }`: `priority: link and priority must be used together`,
	} {
		require.Contains(t, mistake(t, `require "std.alternative" `+args), want)
	}
}

// TestLocale: on a machine that is only a directory no locale is generated.
func TestLocale(t *testing.T) {
	const file, supported, lang = "/etc/locale.gen", "/usr/share/i18n/SUPPORTED", "/etc/default/locale"
	const all = "de_DE.UTF-8 UTF-8\nde_DE@euro ISO-8859-15\nen_US.UTF-8 UTF-8\n"
	suite{
		name: "locale",
		starts: map[string]map[string]string{
			"nothing": {"/etc/": ""},
			"fresh":   {supported: all, "/etc/": ""},
			"comment": {supported: all, file: "# a\n# de_DE.UTF-8 UTF-8  \n# en_US.UTF-8 UTF-8\n", lang: "# mine\nLC_TIME=C\nLANG=C\n"},
			"there":   {supported: all, file: "de_DE.UTF-8  UTF-8\n", "/etc/locale.conf": `LANG="de_DE.UTF-8"` + "\n"},
		},
		wants: map[string]string{
			"plain":   `"de_DE.UTF-8"`,
			"default": `{ "de_DE.UTF-8", default = true }`,
			"not":     `{ "de_DE.UTF-8", default = false }`,
			"euro":    `"de_DE@euro"`,
			"absent":  `{ "de_DE.UTF-8", ensure = "absent" }`,
		},
		fails: func() map[string]string {
			fails := make(map[string]string)
			for _, want := range []string{"plain", "default", "not", "euro"} {
				fails["nothing/"+want] = "no such locale de_DE"
			}
			return fails
		}(),
		phrases: map[string][]string{
			"fresh/plain": {"generated the locale"}, "there/plain": {}, "there/default": {}, "there/not": {"updated the locale"}, "comment/absent": {}, "there/absent": {"removed the locale"},
		},
		after: map[string]map[string]*string{
			"fresh/euro":      {file: new("de_DE@euro ISO-8859-15\n")},
			"comment/default": {file: new("# a\nde_DE.UTF-8 UTF-8\n# en_US.UTF-8 UTF-8\n"), lang: new("# mine\nLC_TIME=C\nLANG=de_DE.UTF-8\n")},
			"fresh/default":   {"/etc/locale.conf": new("LANG=de_DE.UTF-8\n")},
			"there/not":       {"/etc/locale.conf": new("")},
			"there/absent":    {file: new("# de_DE.UTF-8  UTF-8\n")},
		},
	}.run(t)
	require.Contains(t, mistake(t, `require "std.locale" "de DE"`), `name: expected a locale such as de_DE.UTF-8, got "de DE"`)
}

// pauses runs sleep, in no time.
type pauses struct{}

func (pauses) Run(_ context.Context, cmd host.Cmd) (host.Result, error) {
	if cmd.Argv[0] != "sleep" {
		return host.Result{}, fmt.Errorf("expected sleep, got %s", cmd)
	}
	return host.Result{}, nil
}

func TestWaitFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "all is ready\n")
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	nobody := hosttest.RefusedPort(t)
	suite{
		name: "wait_for", machine: func(string) host.Runner { return pauses{} },
		starts: map[string]map[string]string{
			"missing": {"/run/": ""},
			"there":   {"/run/app": "ready\n"},
		},
		wants: map[string]string{
			"file":   `{ "/run/app", within = "1ms" }`,
			"match":  `{ "x", file = "/run/app", match = "^ready$", within = "1ms" }`,
			"other":  `{ "x", file = "/run/app", match = "nope", within = "1ms" }`,
			"gone":   `{ "/run/app", ensure = "absent", within = "1ms" }`,
			"port":   `{ "x", port = ` + port + `, within = "1ms" }`,
			"closed": `{ "x", port = ` + nobody + `, ensure = "absent" }`,
			"page":   `{ "x", url = "` + server.URL + `/health", match = "ready" }`,
			"no":     `{ "x", url = "` + server.URL + `/", within = "1ms" }`,
			"nobody": `{ "x", port = ` + nobody + `, within = "1ms" }`,
		},
		fails: map[string]string{
			"missing/file": "timed out after 1ms waiting for /run/app: /run/app does not exist", "missing/match": "timed out after 1ms waiting for \"^ready$\" in /run/app: /run/app does not exist",
			"missing/other": "/run/app does not exist", "there/match": `no match for "^ready$"`, "there/other": `timed out after 1ms waiting for "nope" in /run/app: no match for "nope"`, "there/gone": "timed out after 1ms waiting for /run/app: it exists",
			"missing/no": "expected status 200, got 404 Not Found", "there/no": "expected status 200, got 404 Not Found",
			"missing/nobody": "connection refused", "there/nobody": "connection refused",
		},
		phrases: map[string][]string{"there/file": {}, "missing/gone": {}, "missing/port": {}, "missing/closed": {}, "missing/page": {}},
	}.run(t)
	for args, want := range map[string]string{
		`{ "x", port = 80, host = "" }`:       `host: expected a host, got an empty string`,
		`"x"`:                                 `wait_for#x: expected one of port, file and url, or the path of a file as the name`,
		`{ "x", port = 1, url = "http://x" }`: `url: expected one of port, file and url, got also port`,
		`{ "x", port = 65536 }`:               `port: expected a port from 1 to 65535, got 65536`,
		`{ "/x", match = "(" }`:               "match: expected a regular expression (RE2): missing closing ): `(`",
		`{ "/x", within = "soon" }`:           `within: expected a duration such as 30s, got "soon"`,
		`{ "x", url = "ftp://x" }`:            `url: expected an http or https URL, got "ftp://x"`,
		`{ "x", port = 1, match = "a" }`:      `match: requires file or url`,
	} {
		require.Contains(t, mistake(t, `require "std.wait_for" `+args), want)
	}
}
