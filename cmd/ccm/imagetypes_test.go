package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/site"
)

// imageFiles are those of a small Debian that is going to boot with systemd.
var imageFiles = map[string]string{
	"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/shadow": "root:*:19000:0:99999:7:::\n", "etc/group": "root:x:0:\nadm:x:4:\n", "etc/gshadow": "root:*::\nadm:*::\n",
	"etc/debian_version": "12.5\n", "etc/os-release": "ID=debian\nVERSION_ID=\"12\"\n", "etc/default/keyboard": "", "etc/ssh/README": "", "etc/apt/sources.list.d/README": "", "etc/timezone": "Etc/UTC\n", "etc/hostname": "debian\n", "etc/hosts": "127.0.0.1 localhost\n", "etc/fstab": "",
	"etc/nftables.conf": "#!/usr/sbin/nft -f\nflush ruleset\n", "etc/cron.d/e2scrub": "", "etc/sysctl.d/README": "", "etc/modules-load.d/README": "", "etc/modprobe.d/README": "",
	"usr/share/zoneinfo/Europe/Berlin": "TZif2", "usr/share/zoneinfo/Etc/UTC": "TZif2", "usr/share/i18n/SUPPORTED": "de_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n", "etc/locale.gen": "# de_DE.UTF-8 UTF-8\n",
	"usr/lib/systemd/systemd": "", "etc/systemd/system/README": "", "opt/README": "", "var/lib/dpkg/alternatives/README": "", "etc/alternatives/README": "", "var/log/alternatives.log": "", "etc/selinux/config": "SELINUX=enforcing\nSELINUXTYPE=default\n", "var/lib/dpkg/status": "", "srv/www/index.html": "hi\n",
	"usr/bin/npm": "#!/bin/sh\nfile=/opt/app/node_modules/left-pad/package.json\ncase $1 in\n" +
		"ls) if [ -e $file ]; then echo '{\"dependencies\": {\"left-pad\": {\"version\": \"1.3.0\"}}}'; else echo {}; fi ;;\n" +
		"install) mkdir -p ${file%/*} && echo {} > $file ;;\nesac\n",
	"usr/lib/systemd/system/web.service": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
	"usr/bin/systemctl": "#!/bin/sh\nlink=/etc/systemd/system/multi-user.target.wants/web.service\n[ \"$SYSTEMD_OFFLINE\" ] || exit 1\n" +
		"case $* in\n*is-enabled*) if [ -h $link ]; then echo enabled; else echo disabled; exit 1; fi ;;\n*enable*) mkdir -p ${link%/*} && ln -s /usr/lib/systemd/system/web.service $link ;;\n*) exit 1 ;;\nesac\n",
	// As of git, of a repository with one commit.
	"usr/bin/git": "#!/bin/sh\ncommit=0123456789abcdef0123456789abcdef01234567\ncase $1 in\ninit) mkdir .git && echo > .git/config ;;\nremote) echo \"$4\" > .git/config ;;\n" +
		"config) read -r url < .git/config; echo \"$url\" ;;\nls-remote) printf '%s\\trefs/heads/main\\n' $commit ;;\ncheckout) echo $commit > .git/HEAD ;;\nrev-parse) read -r head < .git/HEAD; echo $head ;;\nesac\n",
	// As of dpkg and apt, of a repository with one package.
	"usr/bin/dpkg-query": "#!/bin/sh\nif [ -e /var/lib/dpkg/info/ccm-demo.list ]; then printf 'ccm-demo 1.0 all installed install ccm-demo\\t\\tdemo\\n'; else echo 'dpkg-query: no packages found matching ccm-demo' >&2; exit 1; fi\n",
	"usr/bin/apt-cache":  "#!/bin/sh\nprintf 'ccm-demo:\\n  Installed: (none)\\n  Candidate: 1.0\\n  Version table:\\n     1.0 500\\n        500 https://apt.example.org stable/main amd64 Packages\\n'\n",
	"usr/bin/apt-get":    "#!/bin/sh\ncase $* in\n*--simulate*) echo 'Inst ccm-demo (1.0 Demo:1/stable [all])' ;;\n*install*) mkdir -p /var/lib/dpkg/info && echo / > /var/lib/dpkg/info/ccm-demo.list ;;\nesac\n",
	// As in policycoreutils, but with nothing in it.
	"usr/sbin/setsebool": "#!/bin/sh\n[ \"$1 $2\" = '-P -N' ] || exit 1\nmkdir -p /var/lib/selinux/default/active && echo \"$3=1\" > /var/lib/selinux/default/active/booleans.local\n",
	"usr/sbin/semanage":  "#!/bin/sh\n[ \"$5\" = -N ] || exit 1\nmkdir -p /etc/selinux/default/contexts/files && echo \"$8    system_u:object_r:$7:s0\" > /etc/selinux/default/contexts/files/file_contexts.local\n",
}

// typesInAnImage have for each type a resource, what it leaves in an image, and programs of this machine that it needs.
// Backups of the account files, which useradd makes, are left out.
var typesInAnImage = map[string]struct {
	script string
	leaves map[string]string // text or target of a link by path; a part of it
	needs  []string
}{
	"user": {
		`std.user { "app", uid = 1234, groups = { "adm" }, shell = "/bin/sh" }`,
		map[string]string{"etc/passwd": "app:x:1234:", "etc/shadow": "app:!:", "etc/group": "adm:x:4:app", "etc/gshadow": "adm:*::app"}, []string{"useradd"},
	},
	"group":    {`std.group { "crew", gid = 1234 }`, map[string]string{"etc/group": "crew:x:1234:", "etc/gshadow": "crew:!::"}, []string{"groupadd"}},
	"hostname": {`std.hostname { "web1" }`, map[string]string{"etc/hostname": "web1\n"}, nil},
	"timezone": {`std.timezone { "Europe/Berlin" }`, map[string]string{"etc/localtime": "zoneinfo/Europe/Berlin", "etc/timezone": "Europe/Berlin\n"}, nil},
	"locale":   {`std.locale { "de_DE.UTF-8", default = true }`, map[string]string{"etc/locale.gen": "de_DE.UTF-8 UTF-8\n", "etc/default/locale": "LANG=de_DE.UTF-8\n"}, nil},
	"mount":    {`std.mount { "/srv/www", device = "LABEL=www", type = "ext4" }`, map[string]string{"etc/fstab": "LABEL=www /srv/www ext4 defaults 0 0\n"}, nil},
	"swap":     {`std.swap { "/swapfile", size = "1G" }`, map[string]string{"etc/fstab": "/swapfile none swap defaults 0 0\n"}, nil},
	"sysctl":   {`std.sysctl { "vm.swappiness", value = 11 }`, map[string]string{"etc/sysctl.d/60-ccm.conf": "vm.swappiness = 11\n"}, nil},
	"kernel_module": {
		`std.kernel_module { "nf_conntrack", options = "hashsize=65536" }`,
		map[string]string{"etc/modules-load.d/nf_conntrack.conf": "nf_conntrack\n", "etc/modprobe.d/nf_conntrack.conf": "options nf_conntrack hashsize=65536\n"}, nil,
	},
	"firewall": {
		`std.firewall { "web", rules = "chain input { type filter hook input priority 0; }" }`,
		map[string]string{"etc/nftables.conf": `include "/etc/nftables.d/ccm-*.nft"`, "etc/nftables.d/ccm-web.nft": "chain input {"}, nil,
	},
	"selinux_boolean": {`std.selinux_boolean { "httpd_can" }`, map[string]string{"var/lib/selinux/default/active/booleans.local": "httpd_can=1\n"}, nil},
	"selinux_context": {
		`std.selinux_context { "/srv/www(/.*)?", type = "httpd_sys_content_t" }`,
		map[string]string{"etc/selinux/default/contexts/files/file_contexts.local": "httpd_sys_content_t"}, nil,
	},
	"unit": {
		`std.unit { "a.service", content = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n" }`,
		map[string]string{"etc/systemd/system/a.service": "ExecStart=/bin/true\n"}, nil,
	},
	"timer": {
		`std.timer { "tidy", command = "/bin/true", schedule = "daily" }`,
		map[string]string{
			"etc/systemd/system/tidy.service": "ExecStart=", "etc/systemd/system/tidy.timer": "OnCalendar=daily\n",
			"etc/systemd/system/timers.target.wants/tidy.timer": "/etc/systemd/system/tidy.timer",
		}, []string{"systemctl"},
	},
	"service":        {`service { "web" }`, map[string]string{"etc/systemd/system/multi-user.target.wants/web.service": "/usr/lib/systemd/system/web.service"}, []string{"systemctl"}},
	"git":            {`std.git { "/srv/app", url = "https://git.example.org/app.git", ref = "main" }`, map[string]string{"srv/app/.git/config": "https://git.example.org/app.git\n", "srv/app/.git/HEAD": "0123456789abcdef"}, nil},
	"package":        {`package { "ccm-demo" }`, map[string]string{"var/lib/dpkg/info/ccm-demo.list": "/\n"}, nil},
	"host":           {`std.host { "db", ip = "192.0.2.1" }`, map[string]string{"etc/hosts": "192.0.2.1\tdb\n"}, nil},
	"cron":           {`std.cron { "job", command = "/bin/true", schedule = "5 3 * * *", user = "root" }`, map[string]string{"etc/cron.d/job": "5 3 * * * root /bin/true\n"}, nil},
	"block":          {`std.block { "web", path = "/etc/hosts", content = "192.0.2.1 web1\n" }`, map[string]string{"etc/hosts": "192.0.2.1 web1\n"}, nil},
	"line":           {`std.line { "/etc/hosts", line = "192.0.2.1 web1" }`, map[string]string{"etc/hosts": "192.0.2.1 web1\n"}, nil},
	"replace":        {`std.replace { "db", path = "/etc/hosts", match = "localhost", replacement = "web1" }`, map[string]string{"etc/hosts": "127.0.0.1 web1\n"}, nil},
	"kv":             {`std.kv { "SELINUX", path = "/etc/selinux/config", value = "permissive", separator = "=" }`, map[string]string{"etc/selinux/config": "SELINUX=permissive\n"}, nil},
	"ini":            {`std.ini { "listen", path = "/etc/default/keyboard", section = "server", value = "80" }`, map[string]string{"etc/default/keyboard": "[server]\n"}, nil},
	"json_setting":   {`std.json_setting { "a.b", path = "/etc/a.json", value = 1, create = true }`, map[string]string{"etc/a.json": `"b": 1`}, nil},
	"toml_setting":   {`std.toml_setting { "a.b", path = "/etc/default/keyboard", value = 1 }`, map[string]string{"etc/default/keyboard": "b = 1\n"}, nil},
	"yaml_setting":   {`std.yaml_setting { "a.b", path = "/etc/default/keyboard", value = 1 }`, map[string]string{"etc/default/keyboard": "b: 1\n"}, nil},
	"link":           {`std.link { "/etc/motd", target = "/run/motd" }`, map[string]string{"etc/motd": "/run/motd"}, nil},
	"directory":      {`std.directory { "/srv/www", owner = "root", group = "adm", mode = "u=rwX,g=rX,o=", recurse = true }`, map[string]string{"srv/www/index.html": "hi\n"}, nil},
	"known_host":     {`std.known_host { "git.example.org", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKWvfQlXSV3BXkwcg3c1MiEwNDRYTZpLXpW2k5g1VvLx" }`, map[string]string{"etc/ssh/ssh_known_hosts": "git.example.org ssh-ed25519 "}, nil},
	"yum_repo":       {`std.yum_repo { "example", baseurl = "https://rpm.example.org/el9", gpgkey = "file:///etc/pki/rpm-gpg/example.asc" }`, map[string]string{"etc/yum.repos.d/example.repo": "baseurl"}, nil},
	"zypper_repo":    {`std.zypper_repo { "example", baseurl = "https://rpm.example.org/leap", priority = 90 }`, map[string]string{"etc/zypp/repos.d/example.repo": "baseurl"}, nil},
	"authorized_key": {`std.authorized_key { "root", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKWvfQlXSV3BXkwcg3c1MiEwNDRYTZpLXpW2k5g1VvLx" }`, map[string]string{"root/.ssh/authorized_keys": "ssh-ed25519 "}, nil},
	"apt_repo": {
		`std.apt_repo { "example", uris = "https://apt.example.org", suites = "bookworm", components = "main" }`,
		map[string]string{"etc/apt/sources.list.d/example.sources": "URIs: https://apt.example.org\n"}, nil,
	},
	"alternative": {
		`std.alternative { "pager", path = "/bin/sh", link = "/usr/bin/pager", priority = 10 }`,
		map[string]string{"etc/alternatives/pager": "/bin/sh", "usr/bin/pager": "/etc/alternatives/pager", "var/lib/dpkg/alternatives/pager": "/bin/sh\n10\n"}, []string{"update-alternatives"},
	},
	"package_key": {
		`std.package_key { "example", key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n" }`,
		map[string]string{"etc/apt/keyrings/example.asc": "BEGIN PGP PUBLIC KEY"}, nil,
	},
	"language_package": {
		`std.language_package { "left-pad", manager = "npm", path = "/opt/app" }`,
		map[string]string{"opt/app/node_modules/left-pad/package.json": "{}\n"}, nil,
	},
	"apply":    {`apply { "part.lua" }`, map[string]string{"etc/part": "part\n"}, nil},
	"archive":  {`archive { "/opt/app.tar", url = "URL/app.tar", checksum = "SUM", owner = "root", group = "root", extract_parent = "/opt/app", creates = "/opt/app/bin/app", cleanup = true }`, map[string]string{"opt/app/bin/app": "#!/bin/sh\n"}, nil},
	"scaffold": {`scaffold { "/etc/app", source = "templates" }`, map[string]string{"etc/app/app.conf": "name = app\n"}, nil},
	"wait_for": {`std.wait_for { "/etc/hostname" }`, map[string]string{}, nil},
	"file":     {`file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }`, map[string]string{"etc/motd": "hi\n"}, nil},
	"exec":     {`exec { "made", command = { "sh", "-c", "echo hi > /etc/made" }, creates = "/etc/made" }`, map[string]string{"etc/made": "hi\n"}, nil},
}

// TestTypesInAnImage: each type leaves its files in an image and nothing else, and afterwards has nothing to do. Two
// images of one site are the same to the nanosecond where ccm writes the files. That nothing happens outside of an image
// is for TestRootIsTheWholeMachine.
func TestTypesInAnImage(t *testing.T) {
	if os.Geteuid() != 0 || !canChroot(t) {
		t.Skip("needs root, and namespaces")
	}
	isolate(t)
	t.Setenv("CCM_STATE_DIR", "")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	old := newHost
	newHost = nil
	t.Cleanup(func() { newHost = old })
	base := hosttest.Image(t, "sh", "mkdir", "ln")
	for name, text := range imageFiles {
		file := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), map[bool]os.FileMode{true: 0o755, false: 0o644}[strings.HasPrefix(text, "#!") || strings.HasSuffix(name, "/systemd")]))
	}
	var tarball bytes.Buffer
	w, app := tar.NewWriter(&tarball), "#!/bin/sh\n"
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "bin/app", Mode: 0o755, Size: int64(len(app)), ModTime: time.Unix(1600000000, 0)}))
	_, err := w.Write([]byte(app))
	require.NoError(t, errors.Join(err, w.Close()))
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	site.AddShipped(reg)
	for _, typ := range reg.Types() {
		require.Contains(t, typesInAnImage, typ.Name)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(tarball.Bytes()) }))
	t.Cleanup(server.Close)
	for typ, x := range typesInAnImage {
		t.Run(typ, func(t *testing.T) {
			for _, program := range x.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			script := filepath.Join(t.TempDir(), "site.lua")
			for name, text := range map[string]string{
				"site.lua": strings.NewReplacer("URL", server.URL, "SUM", sha256sum.Text(tarball.String())).Replace(x.script), "templates/app.conf": "name = app\n",
				"part.lua": `file { "/etc/part", content = "part\n", owner = "root", group = "root", mode = "0644" }`,
			} {
				name = filepath.Join(filepath.Dir(script), name)
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
			}
			before := hosttest.Snapshot(t, base)
			var built []map[string]string
			var times []map[string]time.Time
			for range 2 {
				image := filepath.Join(t.TempDir(), "image")
				require.NoError(t, os.CopyFS(image, os.DirFS(base)))
				started := time.Now().Add(-time.Hour)
				require.NoError(t, filepath.WalkDir(image, func(path string, _ fs.DirEntry, err error) error {
					return os.Chtimes(path, started, time.Unix(1600000000, 0))
				}))
				out, errs, status := ccm(t, nil, "run", "--root", image, script)
				require.Zero(t, status, out+errs)
				again, errs, _ := ccm(t, nil, "plan", "--root", image, script)
				require.Contains(t, again, "Nothing to do", again+errs)
				built = append(built, hosttest.Snapshot(t, image))
				times = append(times, modified(t, image))
			}
			require.Equal(t, built[0], built[1])
			require.Equal(t, times[0], times[1])
			var left []string
			for name, is := range built[0] {
				if before[name] != is && !accountBackup.MatchString(name) && !strings.HasPrefix(is, "d") {
					left = append(left, name)
				}
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(x.leaves)), left)
			for name, text := range x.leaves {
				assert.Contains(t, built[0][name], text, name)
			}
		})
	}
}

var accountBackup = regexp.MustCompile(`^etc/(passwd|shadow|group|gshadow|subuid|subgid)-$|^etc/sub[ug]id$`)

// modified returns the times of modification by path, without those that commands have set.
func modified(t *testing.T, root string) map[string]time.Time {
	t.Helper()
	times := make(map[string]time.Time)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		times[strings.TrimPrefix(path, root)] = info.ModTime()
		return err
	}))
	return times
}
