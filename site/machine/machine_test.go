package machine_test

import (
	"context"
	"crypto/md5" //nolint:gosec // the database of dpkg has it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/machine"
)

// A tree has the files of a made-up machine: "-> X" is a link to X, and a name that ends with / a directory.
type tree map[string]string

func (tr tree) with(more tree) tree {
	all := tree{}
	for _, from := range []tree{tr, more} {
		maps.Copy(all, from)
	}
	return all
}

// write makes the tree, and returns its directory.
func (tr tree) write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range tr {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		switch target, link := strings.CutPrefix(text, "-> "); {
		case link:
			require.NoError(t, os.Symlink(target, at))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(at, 0o755))
		default:
			require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
	return root
}

func view(root string) *host.View { return &host.New(host.Options{Root: root}).View }

func scan(t *testing.T, tr tree, o machine.Options) *machine.Scan {
	t.Helper()
	s, err := machine.Read(t.Context(), view(tr.write(t)), o)
	require.NoError(t, err)
	return s
}

// ids returns the items as references, with a minus for removed ones.
func ids(s *machine.Scan) (list []string) {
	for _, i := range s.Items {
		id := i.ID()
		if i.Removed {
			id = "-" + id
		}
		list = append(list, id)
	}
	return list
}

// left returns the reason why something was left out.
func left(s *machine.Scan, what string) string {
	for _, l := range s.LeftOut {
		if l.Name == what {
			return l.Reason
		}
	}
	return ""
}

func digest(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // the database of dpkg has it
	return hex.EncodeToString(sum[:])
}

// debian is a Debian machine on which nothing was changed.
var debian = tree{
	"etc/os-release":                      "-> ../usr/lib/os-release",
	"usr/lib/os-release":                  "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n",
	"etc/hostname":                        "web1\n",
	"etc/passwd":                          "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33::/var/www:/bin/sh\n_shop:x:101:101::/nonexistent:/bin/sh\n",
	"etc/group":                           "root:x:0:\nsudo:x:27:\n_shop:x:101:\n",
	"etc/ld.so.cache":                     "x",
	"etc/machine-id":                      "0123\n",
	"etc/ssh/ssh_host_ed25519_key":        "key",
	"etc/shop/shop.conf":                  "workers = 1\n",
	"etc/shop/ucf.conf":                   "a\n",
	"usr/lib/systemd/system/x.mount":      "[Mount]\n",
	"usr/lib/systemd/system/shop.service": "[Service]\nExecStart=/usr/bin/shop\n[Install]\nWantedBy=multi-user.target\n",
	"etc/systemd/system/multi-user.target.wants/shop.service":                         "-> /lib/systemd/system/shop.service",
	"var/lib/systemd/deb-systemd-helper-enabled/shop.service.dsh-also":                "/etc/systemd/system/multi-user.target.wants/shop.service\n",
	"var/lib/systemd/deb-systemd-helper-enabled/multi-user.target.wants/shop.service": "",
	"var/lib/apt/extended_states":                                                     "Package: libshop\nArchitecture: amd64\nAuto-Installed: 1\n",
	"var/lib/dpkg/info/dpkg.list":                                                     "/.\n/etc\n/etc/systemd\n/etc/systemd/system\n",
	"var/lib/dpkg/info/shop.list":                                                     "/.\n/etc\n/etc/shop\n/etc/shop/shop.conf\n/lib/systemd/system/shop.service\n/usr/lib/systemd/system/shop.service\n",
	"var/lib/dpkg/info/shop.postinst":                                                 "#!/bin/sh\nadduser --system --group _shop\n",
	"var/lib/dpkg/info/libshop.list":                                                  "/.\n/etc\n",
	"var/lib/dpkg/status": "Package: dpkg\nStatus: install ok installed\nPriority: required\nArchitecture: amd64\n\n" +
		"Package: shop\nStatus: install ok installed\nPriority: optional\nArchitecture: amd64\nConffiles:\n /etc/shop/shop.conf " + digest("workers = 1\n") + "\n\n" +
		"Package: libshop\nStatus: install ok installed\nPriority: optional\nArchitecture: amd64\n\n" +
		"Package: gone\nStatus: deinstall ok config-files\nPriority: optional\nArchitecture: amd64\n",
	"var/lib/ucf/hashfile": digest("a\n") + "  /etc/shop/ucf.conf\n",
	"var/lib/ucf/registry": "shop /etc/shop/ucf.conf\n",
}

func TestScan(t *testing.T) {
	fresh := scan(t, debian, machine.Options{})
	require.Equal(t, []string{"package#shop", "hostname#web1"}, ids(fresh))
	require.Empty(t, fresh.LeftOut)
	require.Equal(t, "Debian GNU/Linux 12", fresh.Distribution)
	for name, test := range map[string]struct {
		more tree
		want []string // besides those of the unchanged machine
		left string
	}{
		"a changed configuration file": {more: tree{"etc/shop/shop.conf": "workers = 2\n"}, want: []string{"file#/etc/shop/shop.conf"}},
		"a changed file of ucf":        {more: tree{"etc/shop/ucf.conf": "b\n"}, want: []string{"file#/etc/shop/ucf.conf"}},
		"a file without a package":     {more: tree{"etc/shop/more.conf": "x\n"}, want: []string{"file#/etc/shop/more.conf"}},
		"in a directory without one": {
			more: tree{"opt/shop/conf/a": "x\n", "opt/shop/log/": "", "opt/empty/": ""},
			want: []string{"directory#/opt/shop", "directory#/opt/shop/conf", "directory#/opt/shop/log", "file#/opt/shop/conf/a"},
		},
		"in /usr/local":     {more: tree{"usr/local/bin/x": "#!/bin/sh\n"}, want: []string{"file#/usr/local/bin/x"}},
		"a link":            {more: tree{"etc/shop/on": "-> off"}, want: []string{"link#/etc/shop/on"}},
		"a backup":          {more: tree{"etc/shop/shop.conf.dpkg-old": "x"}, left: "/etc/shop/shop.conf.dpkg-old"},
		"data":              {more: tree{"srv/www/index.html": "x"}, left: "/srv/www"},
		"a large file":      {more: tree{"etc/shop/large": strings.Repeat("x", 2<<20)}, left: "/etc/shop/large"},
		"a masked unit":     {more: tree{"etc/systemd/system/x.mount": "-> /dev/null"}, want: []string{"service#x.mount"}},
		"a unit":            {more: tree{"etc/systemd/system/w.service": "[Service]\n"}, want: []string{"unit#w.service"}},
		"a drop-in":         {more: tree{"etc/systemd/system/shop.service.d/n.conf": "[Service]\n"}, want: []string{"unit#shop.service.d/n"}},
		"an enabled unit":   {more: tree{"etc/systemd/system/timers.target.wants/b.timer": "-> /lib/b.timer"}, want: []string{"service#b.timer"}},
		"an instance":       {more: tree{"etc/systemd/system/multi-user.target.wants/v@a.service": "-> /lib/v@.service"}, want: []string{"service#v@a.service"}},
		"a person":          {more: tree{"etc/passwd": "ada:x:1000:1000::/home/ada:/bin/sh\n", "etc/group": "ada:x:1000:\nsudo:x:27:ada\n"}, want: []string{"group#ada", "user#ada"}},
		"a system account":  {more: tree{"etc/passwd": "app:x:150:150::/:/bin/sh\n_shop:x:101:101::/:/bin/sh\n", "etc/group": "app:x:150:\n"}, want: []string{"group#app", "user#app"}},
		"a host":            {more: tree{"etc/hosts": "127.0.0.1 localhost\n192.0.2.1 db # x\n"}, want: []string{"host#db"}},
		"a mount":           {more: tree{"etc/fstab": "/dev/sda1 / ext4 defaults 0 1\nLABEL=d /srv/my\\040data ext4 noatime 0 2\n"}, want: []string{"mount#/srv/my data"}},
		"an alternative":    {more: tree{"var/lib/dpkg/alternatives/editor": "manual\n/usr/bin/editor\n", "var/lib/dpkg/alternatives/pager": "auto\n"}, want: []string{"alternative#editor"}},
		"a crontab":         {more: tree{"var/spool/cron/crontabs/ada": "@daily x\n"}, want: []string{"directory#/var/spool/cron", "directory#/var/spool/cron/crontabs", "file#/var/spool/cron/crontabs/ada"}},
		"a pip package":     {more: tree{"usr/local/lib/python3.11/dist-packages/flask-3.0.dist-info/METADATA": ""}, want: []string{"language_package#flask"}},
		"a key":             {more: tree{"root/.ssh/authorized_keys": "# x\n" + key + " a@b\nnothing\n"}, want: []string{"authorized_key#root"}, left: "/root/.ssh/authorized_keys"},
		"a damaged account": {more: tree{"etc/passwd": "root:x:0:0::/root:/bin/sh\nada:x\n"}, left: "/etc/passwd"},
		"a lost list":       {more: tree{"var/lib/dpkg/info/libshop.list": ""}, left: "package libshop"},
		"a local diversion": {more: tree{"var/lib/dpkg/diversions": "/usr/bin/a\n/usr/bin/b\n:\n"}, left: "/usr/bin/a"},
		"an answer": {
			more: tree{
				"var/cache/debconf/config.dat":    "Name: shop/name\nTemplate: shop/name\nValue: hunter2\nOwners: shop\nFlags: seen\n\nName: shop/same\nTemplate: shop/same\nValue: a\nOwners: shop\nFlags: seen\n\nName: shop/unseen\nTemplate: shop/name\nValue: b\n",
				"var/cache/debconf/templates.dat": "Name: shop/name\nType: string\nDefault: shop\n\nName: shop/same\nType: string\nDefault: a\n",
			},
			left: "debconf shop/name",
		},
		"a container": {
			more: tree{"var/lib/docker/containers/1/config.v2.json": `{"Name":"/db","Config":{"Image":"postgres:16","Env":["POSTGRES_PASSWORD=x"]},"State":{"Running":true}}`},
			left: "container db",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := scan(t, debian.with(test.more), machine.Options{})
			var more []string
			for _, id := range ids(s) {
				if id != "package#shop" && id != "hostname#web1" {
					more = append(more, id)
				}
			}
			require.ElementsMatch(t, test.want, more)
			if test.left == "" {
				require.Empty(t, s.LeftOut)
			} else {
				require.NotEmpty(t, left(s, test.left), s.LeftOut)
			}
			text, err := json.Marshal(s)
			require.NoError(t, err)
			require.NotContains(t, string(text), "POSTGRES_PASSWORD")
			require.NotContains(t, string(text), "hunter2")
			require.LessOrEqual(t, len(s.LeftOut), 1)
		})
	}
}

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv"

// What was removed or disabled is found, too.
func TestScanOfRemovals(t *testing.T) {
	tr := debian.with(nil)
	delete(tr, "etc/shop/shop.conf")
	delete(tr, "etc/systemd/system/multi-user.target.wants/shop.service")
	tr["var/lib/dpkg/status"] = strings.Replace(tr["var/lib/dpkg/status"], "Package: shop\nStatus: install", "Package: shop\nStatus: hold", 1)
	s := scan(t, tr, machine.Options{})
	require.ElementsMatch(t, []string{"package#shop", "hostname#web1", "service#shop.service", "-file#/etc/shop/shop.conf"}, ids(s))
	require.True(t, s.Items[0].Held)
}

// Many files in a directory are one line; so is a directory without a package with many bytes.
func TestScanOfManyFiles(t *testing.T) {
	more := tree{}
	for i := range 400 {
		more[fmt.Sprintf("etc/shop/cache/%d", i)] = ""
		more[fmt.Sprintf("etc/%d.conf", i)] = ""
	}
	more["opt/big/file"] = "x"
	s := scan(t, debian.with(more), machine.Options{})
	require.Contains(t, left(s, "/etc/shop/cache"), "too large for a site")
	require.Contains(t, left(s, "/etc/*"), "too large for a site")
	require.ElementsMatch(t, []string{"package#shop", "hostname#web1", "directory#/opt/big", "file#/opt/big/file"}, ids(s))
}

func TestScanOptions(t *testing.T) {
	tr := debian.with(tree{"etc/shop/new": "x\n", "etc/shop/d/old": "x\n"})
	root := tr.write(t)
	require.NoError(t, os.Chtimes(filepath.Join(root, "etc/shop/d/old"), time.Unix(1, 0), time.Unix(1, 0)))
	for name, test := range map[string]struct {
		o    machine.Options
		want []string
	}{
		"only":            {machine.Options{Only: []string{"packages"}}, []string{"package#shop"}},
		"ignore a path":   {machine.Options{Only: []string{"files"}, Ignore: []string{"/etc/shop/d"}}, []string{"file#/etc/shop/new"}},
		"ignore a name":   {machine.Options{Only: []string{"files"}, Ignore: []string{"o?d"}}, []string{"file#/etc/shop/new"}},
		"since":           {machine.Options{Only: []string{"files"}, Since: time.Unix(100, 0)}, []string{"file#/etc/shop/new"}},
		"ignore packages": {machine.Options{Only: []string{"packages"}, Ignore: []string{"sh*"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := machine.Read(t.Context(), view(root), test.o)
			require.NoError(t, err)
			require.Equal(t, test.want, ids(s))
		})
	}
	_, err := machine.Read(t.Context(), view(root), machine.Options{Only: []string{"nothing"}})
	require.EqualError(t, err, `expected files, packages, services, system, users, got "nothing"`)
	_, err = machine.Read(t.Context(), view(root), machine.Options{Ignore: []string{"["}})
	require.EqualError(t, err, `expected a pattern such as /etc/*.bak, got "["`)
}

// Without a package database nothing can be compared: files are not all reported as new.
func TestScanWithoutDatabase(t *testing.T) {
	for name, status := range map[string]string{"missing": "", "damaged": "\x00\x01garbage\n"} {
		tr := debian.with(tree{"var/lib/dpkg/status": status})
		s := scan(t, tr, machine.Options{Only: []string{"packages", "files"}})
		require.Empty(t, ids(s), name)
		require.NotEmpty(t, left(s, "packages"), name)
		require.NotEmpty(t, left(s, "files"), name)
	}
}

// A scan has a limit; a comparison with a site has none.
func TestScanOfManyItems(t *testing.T) {
	text := ""
	for n := range 20_003 {
		text += fmt.Sprintf("u%d:x:%d:\n", n, 10_000+n)
	}
	s := scan(t, tree{"etc/group": text}, machine.Options{Only: []string{"users"}})
	require.Len(t, s.Items, 20_000)
	require.Len(t, s.All(), 20_003)
	require.Contains(t, s.LeftOut, machine.LeftOut{Name: "3 more items", Reason: "a scan has at most 20000"})
	found, err := machine.Undescribed(t.Context(), view(t.TempDir()), s, nil, machine.Unmanaged{"group#u[0-9]", "group#u20002"})
	require.NoError(t, err)
	require.Len(t, found, 20_003-11)
	require.NotContains(t, s.LeftOut, machine.LeftOut{Name: "3 more items", Reason: "a scan has at most 20000"})
}

// The databases of pacman and apk are read, too.
func TestScanOfOtherDatabases(t *testing.T) {
	arch := scan(t, tree{
		"var/lib/pacman/local/ALPM_DB_VERSION":    "9\n",
		"var/lib/pacman/local/shop-1.0-1/desc":    "%NAME%\nshop\n\n%INSTALLDATE%\n1700000000\n",
		"var/lib/pacman/local/shop-1.0-1/files":   "%FILES%\netc/\netc/shop.conf\netc/same.conf\n\n%BACKUP%\netc/shop.conf\t" + digest("a") + "\netc/same.conf\t" + digest("b") + "\n",
		"var/lib/pacman/local/libshop-1.0-1/desc": "%NAME%\nlibshop\n\n%REASON%\n1\n",
		"etc/shop.conf": "changed", "etc/same.conf": "b", "etc/own": "x",
	}, machine.Options{})
	require.Equal(t, []string{"package#shop", "file#/etc/own", "file#/etc/shop.conf"}, ids(arch))
	require.Equal(t, "pacman", arch.Manager)
	alpine := scan(t, tree{
		"etc/apk/world":        "alpine-base\nshop>1\nmta\nlocal><Q1CsBCuUlbY7ExX/fqOUpqckbJ5NE=\n!other\n",
		"lib/apk/db/installed": "P:alpine-base\n\nP:shop\nV:1.0-r0\nF:etc\nR:shop.conf\nZ:Q1hvfkN/qlp/zhXR3cuerq6jd2Z7g=\nR:other.conf\nZ:Q1AAAAAAAAAAAAAAAAAAAAAAAAAAA=\nR:own\nZ:Q1Nj6gTBdkZpTFW/obJGdpfvK0StA=\n\nP:libshop\nF:etc/crontabs\nF:etc/apk\nR:world\n\nP:postfix\np:mta=1.0 cmd:postfix=3\n\nP:local\n\n",
		// As apk keeps it, a tar archive that is not compressed.
		"lib/apk/db/scripts.tar": "shop-1.0-r0.pre-install\x00\x00#!/bin/sh\nadduser -S -D -H shop\n",
		"etc/shop.conf":          "a", "etc/other.conf": "a", "etc/own": "-> certs/ca-certificates.crt", "etc/apk/arch": "x86_64\n", "etc/alpine-release": "3.20.3\n",
		"etc/passwd":              "root:x:0:0::/root:/bin/sh\nguest:x:405:100::/dev/null:/sbin/nologin\nshop:x:100:101::/dev/null:/sbin/nologin\nbob:x:1000:0::/dev/null:/bin/ash\n",
		"etc/crontabs/root":       "@daily x\n",
		"var/spool/cron/crontabs": "-> /etc/crontabs",
	}, machine.Options{})
	require.Equal(t, []string{"package#local", "package#postfix", "package#shop", "user#bob", "file#/etc/crontabs/root", "file#/etc/other.conf"}, ids(alpine))
	for _, i := range alpine.Items {
		require.Equal(t, i.ID() == "package#shop", i.Held, i.ID())
	}
	for _, l := range alpine.LeftOut {
		require.NotContains(t, l.Name, "/dev/null")
	}
}

// What was left out on purpose is recognized again; a line stands for nothing else.
func TestUnmanaged(t *testing.T) {
	u, err := machine.ParseUnmanaged("# why\n\nfile#/etc/a\nuser#*\nfile#/etc/st\\*r\nfile#/etc/???\n/opt/x\nauthorized_key#ada ssh-rsa AA/A\n")
	require.NoError(t, err)
	s := &machine.Scan{}
	for _, name := range []string{"/etc/a", "/etc/st*r", "/etc/key", "/etc/keys", "/etc/star", "/opt/x/y", "/opt/xy"} {
		s.Items = append(s.Items, machine.Item{Kind: machine.File, Name: name, Path: name})
	}
	s.Items = append(s.Items, machine.Item{Kind: machine.User, Name: "ada"}, machine.Item{Kind: machine.Group, Name: "ada"},
		machine.Item{Kind: machine.AuthorizedKey, Name: "ada", Value: "ssh-rsa AA/A"}, machine.Item{Kind: machine.AuthorizedKey, Name: "ada", Value: "ssh-rsa BBBB"})
	found, err := machine.Undescribed(t.Context(), view(t.TempDir()), s, nil, u)
	require.NoError(t, err)
	require.Equal(t, []string{"file#/etc/keys", "file#/etc/star", "file#/opt/xy", "group#ada", "authorized_key#ada"}, ids(&machine.Scan{Items: found}))
	require.Equal(t, "ssh-rsa BBBB", found[4].Value)
	_, err = machine.ParseUnmanaged("a\n[\n")
	require.ErrorContains(t, err, "unmanaged.txt:2: ")
}

// Parts of Apache and PHP that their packages enabled are no changes; what was disabled or removed since is one.
func TestScanOfMaintainedLinks(t *testing.T) {
	tr := debian.with(tree{
		"etc/apache2/mods-enabled/alias.load": "-> ../mods-available/alias.load", "etc/apache2/mods-enabled/alias.conf": "-> ../mods-available/alias.conf",
		"etc/apache2/mods-enabled/rewrite.load":              "-> ../mods-available/rewrite.load",
		"etc/php/8.2/fpm/conf.d/20-ctype.ini":                "-> /etc/php/8.2/mods-available/ctype.ini",
		"etc/mysql/my.cnf":                                   "-> /etc/alternatives/my.cnf",
		"var/lib/apache2/module/enabled_by_maint/alias":      "",
		"var/lib/apache2/module/enabled_by_admin/rewrite":    "",
		"var/lib/apache2/site/disabled_by_admin/000-default": "",
		"var/lib/php/modules/8.2/fpm/enabled_by_maint/ctype": "",
		"var/lib/dpkg/info/nginx-common.list":                "/.\n/etc\n",
		"etc/hosts.allow":                                    "# nobody\n",
		"var/www/shop/index.html":                            "x",
		"etc/apache2/mods-available/alias.load":              "x\n",
		"etc/apache2/sites-enabled/own.conf":                 "-> ../sites-available/own.conf",
	})
	tr["var/lib/dpkg/status"] += "\nPackage: nginx-common\nStatus: install ok installed\nPriority: optional\nArchitecture: amd64\n"
	s := scan(t, tr, machine.Options{Only: []string{"files"}})
	require.ElementsMatch(t, []string{
		"directory#/etc/apache2", "directory#/etc/apache2/mods-available", "directory#/etc/apache2/mods-enabled", "directory#/etc/apache2/sites-enabled",
		"file#/etc/apache2/mods-available/alias.load", "link#/etc/apache2/mods-enabled/rewrite.load", "link#/etc/apache2/sites-enabled/own.conf",
		"-file#/etc/apache2/sites-enabled/000-default.conf", "-file#/etc/nginx/sites-enabled/default",
	}, ids(s))
	require.Equal(t, "data: /var/www is not imported", left(s, "/var/www/shop"))
}

// Databases that are cut off, or have garbage anywhere, end in no panic, and the scan goes on.
func TestScanOfBrokenDatabases(t *testing.T) {
	for name, base := range map[string]tree{
		"var/lib/dpkg/status":                        debian,
		"var/lib/dpkg/info/shop.list":                debian,
		"var/lib/apt/extended_states":                debian,
		"var/lib/dpkg/diversions":                    debian.with(tree{"var/lib/dpkg/diversions": "/usr/bin/a\n/usr/bin/b\n:\n"}),
		"var/lib/dpkg/alternatives/editor":           debian.with(tree{"var/lib/dpkg/alternatives/editor": "manual\n/usr/bin/editor\n"}),
		"var/log/apt/history.log":                    debian.with(tree{"var/log/apt/history.log": "Install: a:amd64 (1, automatic), b:amd64 (2)\n"}),
		"var/log/installer/initial-status.gz":        debian.with(tree{"var/log/installer/initial-status.gz": "\x1f\x8b\x08\x00garbage"}),
		"etc/passwd":                                 debian,
		"etc/group":                                  debian,
		"etc/fstab":                                  debian.with(tree{"etc/fstab": "LABEL=d /srv/my\\040data ext4 noatime 0 2\n"}),
		"var/lib/pacman/local/shop-1.0-1/desc":       {"var/lib/pacman/local/shop-1.0-1/desc": "%NAME%\nshop\n\n%INSTALLDATE%\n1700000000\n"},
		"var/lib/pacman/local/shop-1.0-1/files":      {"var/lib/pacman/local/shop-1.0-1/desc": "%NAME%\nshop\n", "var/lib/pacman/local/shop-1.0-1/files": "%FILES%\netc/x\n%BACKUP%\netc/x\tabc\n"},
		"etc/apk/world":                              {"etc/apk/world": "a>1 > @x =\n", "lib/apk/db/installed": "P:a\n"},
		"lib/apk/db/installed":                       {"lib/apk/db/installed": "P:a\nF:etc\nR:shop.conf\nZ:Q1hvfkN/qlp/zhXR3cuerq6jd2Z7g=\nZ:\nR:\nF:\n"},
		"usr/local/lib/python3.11/dist-packages/x":   debian.with(tree{"usr/local/lib/python3.11/dist-packages/x.dist-info/METADATA": "", "usr/local/lib/python3.11/dist-packages/x": ""}),
		"var/lib/docker/containers/1/config.v2.json": debian.with(tree{"var/lib/docker/containers/1/config.v2.json": `{"Name":"/db"}`}),
	} {
		whole := base[name]
		root := base.with(tree{"etc/own": "x"}).write(t)
		for n := 0; n <= len(whole); n += max(1, len(whole)/15) {
			for _, text := range []string{whole[:n], whole[:n] + "\x00\xff\n:\t \n" + whole[n:]} {
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
				s, err := machine.Read(t.Context(), view(root), machine.Options{})
				require.NoError(t, err)
				require.NotEmpty(t, len(s.Items)+len(s.LeftOut), name)
			}
		}
	}
}

// recorded answers the commands that begin with its keys with outputs in the form of the programs.
type recorded map[string]string

func (r recorded) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	argv := strings.Join(c.Argv, " ")
	for begin, out := range r {
		if strings.Contains(argv, begin) {
			for line := range strings.Lines(out) {
				if c.OnLine != nil {
					c.OnLine(strings.TrimSuffix(line, "\n"))
				}
			}
			return host.Result{Stdout: []byte(out)}, nil
		}
	}
	return host.Result{Code: 1}, nil
}

// What rpm, dnf and zypper know is read from outputs in their form.
func TestScanOfRPM(t *testing.T) {
	const sum = "fb2e8b1b2a5c0d0d3b8f6f6b2f1b6bd1d1b7c0b6a5ad7ae3c7f2c9d1a0e5f4b3"
	const shared = "shop\t1700000000\t1.0-3.el9\nlibshop\t1700000000\t2:4.1-1.el9\ngpg-pubkey\t1690000000\t350d275d-6279464b\n"
	answers := recorded{
		`%{NAME}\t%{INSTALLTIME}\t`: shared,
		`%{=NAME}`: "shop\t1700000000\t17\t" + sum + "\t/etc/shop.conf\nshop\t1700000000\t17\tca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\t/etc/same.conf\n" +
			"shop\t1700000000\t64\t\t/etc/ghost.conf\nlibshop\t1700000000\t0\t\t/usr/lib64/libshop.so.4\n",
		"repoquery --userinstalled": "shop\n\n",
	}
	files := tree{"etc/os-release": "PRETTY_NAME=\"Rocky Linux 9.4\"\n", "etc/shop.conf": "changed", "etc/same.conf": "a", "etc/ghost.conf": "x", "etc/own": "x", "var/lib/rpm/rpmdb.sqlite": ""}
	read := func(tr tree) *machine.Scan {
		s, err := machine.Read(t.Context(), &host.New(host.Options{Root: tr.write(t), Runner: answers}).View, machine.Options{Only: []string{"packages", "files"}})
		require.NoError(t, err)
		return s
	}
	dnf := read(files)
	require.Equal(t, "dnf", dnf.Manager)
	require.Equal(t, []string{"package#shop", "file#/etc/own", "file#/etc/shop.conf"}, ids(dnf))
	require.Equal(t, "1.0-3.el9", dnf.Items[0].Version)
	zypper := read(files.with(tree{"var/lib/zypp/AutoInstalled": "# generated\nshop\n"}))
	require.Equal(t, "zypper", zypper.Manager)
	require.Equal(t, []string{"package#libshop", "file#/etc/own", "file#/etc/shop.conf"}, ids(zypper))
	require.Equal(t, "2:4.1-1.el9", zypper.Items[0].Version)
	delete(answers, "repoquery --userinstalled")
	require.Equal(t, "dnf did not list the packages installed by request", left(read(files), "packages"))
	delete(answers, `%{NAME}\t%{INSTALLTIME}\t`) // the database is damaged
	require.NotEmpty(t, left(read(files), "packages"))
}

// Lines between the markers of a block become one again, at the same place.
func TestBlockOfConfigurationFile(t *testing.T) {
	root := debian.with(tree{
		"etc/shop/shop.conf":             "workers = 1\n# BEGIN ccm web\na\n\nb\n# END ccm web\nmore = 1\nlast = 2\n",
		"etc/shop/shop.conf.orig":        "workers = 1\nmore = 1\nlast = 1\n",
		"var/lib/dpkg/info/shop.md5sums": "",
		"var/lib/dpkg/status":            strings.ReplaceAll(debian["var/lib/dpkg/status"], digest("workers = 1\n"), digest("workers = 1\nmore = 1\nlast = 1\n")),
	}).write(t)
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	s, err := machine.Read(t.Context(), view(root), machine.Options{})
	require.NoError(t, err)
	out, err := (&machine.Writer{View: view(root), Registry: reg, Facts: facts.New(t.Context(), view(root), nil, nil)}).Write(t.Context(), s)
	require.NoError(t, err)
	var lua strings.Builder
	for _, f := range out.Files {
		lua.Write(f.Content)
	}
	require.Contains(t, lua.String(), `std.block {`)
	require.Contains(t, lua.String(), `insert_after = "^workers = 1$"`)
	require.Contains(t, lua.String(), `key = "last"`)
}

// Another machine writes the same site from the contents as JSON, and nothing outside of it.
func TestContentsOfAnotherMachine(t *testing.T) {
	root := debian.with(tree{"etc/shop/shop.conf": "workers = 4\n", "etc/shop/large": strings.Repeat("a line\n", 99), "etc/shop/key": "password = hunter2hunter\n"}).write(t)
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	s, err := machine.Read(t.Context(), view(root), machine.Options{})
	require.NoError(t, err)
	w := &machine.Writer{View: view(root), Registry: reg, Facts: facts.New(t.Context(), view(root), nil, nil)}
	want, err := w.Write(t.Context(), s)
	require.NoError(t, err)
	contents, err := w.Contents(t.Context(), s)
	require.NoError(t, err)
	text, err := json.Marshal(contents)
	require.NoError(t, err)
	got, err := machine.ParseContents(text)
	require.NoError(t, err)
	have, err := (&machine.Writer{Registry: reg}).WriteContents(got)
	require.NoError(t, err)
	require.Greater(t, len(have.Files), 3)
	require.Equal(t, want, have)

	for mistake, change := range map[string]func(c *machine.Contents){
		"expected a resource of a site":         func(c *machine.Contents) { c.Resources[0].Block = "../x" },
		"expected the name of a file of a site": func(c *machine.Contents) { c.Resources[0].Files = []machine.SiteFile{{Name: "files/../../x"}} },
		"expected TYPE#NAME or a pattern":       func(c *machine.Contents) { c.Unmanaged = []machine.LeftOut{{Name: "["}} },
		"recipients:1":                          func(c *machine.Contents) { c.Recipients = "nobody nothing" },
	} {
		c, err := machine.ParseContents(text)
		require.NoError(t, err)
		change(c)
		_, err = (&machine.Writer{Registry: reg}).WriteContents(c)
		require.ErrorContains(t, err, mistake)
	}
}

// Files that vanish or change their kind between the scan and the site are left out with the reason, and are not
// remembered as unmanaged. Others are as they are now.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	root := debian.with(tree{"etc/shop/a": "a\n", "etc/shop/b": "b\n", "etc/shop/c": "c\n", "etc/shop/d": "d\n", "etc/shop/e": "e\n"}).write(t)
	s, err := machine.Read(t.Context(), view(root), machine.Options{Only: []string{"files"}})
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(root, "etc/shop/a")))
	require.NoError(t, os.Remove(filepath.Join(root, "etc/shop/b")))
	require.NoError(t, os.Mkdir(filepath.Join(root, "etc/shop/b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/shop/c"), []byte("new\n"), 0o644))
	fs := facts.New(t.Context(), view(root), nil, nil)
	reg, err := site.NewRegistry(&site.TemplateEnv{Facts: fs})
	require.NoError(t, err)
	whileReading := func(name string) bool {
		if name == "/etc/shop/e" {
			require.NoError(t, os.WriteFile(root+name, []byte("changed\n"), 0o644))
		}
		return false
	}
	out, err := (&machine.Writer{View: view(root), Registry: reg, Facts: fs, Sensitive: whileReading}).Write(t.Context(), s)
	require.NoError(t, err)
	reasons := map[string]string{}
	for _, l := range out.LeftOut {
		reasons[l.Name] = l.Reason
	}
	require.Equal(t, "changed while it was read", reasons["file#/etc/shop/a"])
	require.Equal(t, "changed while it was read", reasons["file#/etc/shop/b"])
	require.Equal(t, "changed while it was read", reasons["file#/etc/shop/e"])
	for _, f := range out.Files {
		if f.Name == "lib/files.lua" {
			require.Contains(t, string(f.Content), `"/etc/shop/d"`)
			require.Contains(t, string(f.Content), `"new\n"`)
		}
		if f.Name == machine.UnmanagedFile {
			require.NotContains(t, string(f.Content), "file#")
		}
	}
}
