package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snowflake makes a Debian machine below a directory, with these files besides.
func snowflake(t *testing.T, more map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	files := map[string]string{
		"etc/os-release":              "ID=debian\nVERSION_ID=12\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
		"etc/hostname":                "web1\n",
		"etc/passwd":                  "root:x:0:0:root:/root:/bin/sh\n",
		"etc/group":                   "root:x:0:\n",
		"etc/shop/shop.conf":          "a = 1\n",
		"var/lib/dpkg/info/shop.list": "/.\n/etc\n/etc/shop\n/etc/shop/shop.conf\n",
		"var/lib/dpkg/status":         "Package: shop\nStatus: install ok installed\nPriority: required\nArchitecture: all\nVersion: 1\n",
	}
	for _, from := range []map[string]string{files, more} {
		for name, text := range from {
			at := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
	return root
}

// readable returns all that can be read of a site: names, and contents that are not encrypted.
func readable(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		all.WriteString(name + "\n")
		if err == nil && !entry.IsDir() {
			var text []byte
			text, err = os.ReadFile(name)
			all.Write(text)
		}
		return err
	}))
	return all.String()
}

// plainSecrets are lines of files; <secret> stands for a secret.
var plainSecrets = []string{
	"password = <secret>", "password=<secret>", "password: <secret>", "password <secret>", "PASSWORD \"<secret>\"", "#password = <secret>",
	"; password = <secret>", "# rootpw <secret>", "DB_PASSWORD=<secret>", "export PGPASSWORD='<secret>'", "db.passwd=<secret>", "passwd = <secret>",
	"secret: <secret>", "clientSecret: <secret>", "\"client_secret\" : \"<secret>\"", "api_key = <secret>", "apikey=<secret>", "API-Key: <secret>",
	"accessKey=<secret>", "token <secret>", "auth_token: <secret>", "psk=<secret>", "wpa_passphrase=<secret>", "requirepass <secret>",
	"masterauth <secret>", "bindpw <secret>", "olcRootPW: <secret>", "$db_password = '<secret>';", "define('DB_PASSWORD', '<secret>');",
	"define( \"AUTH_KEY\", \"<secret>\" );", "'password' => '<secret>',", "<Password>", "<password><secret></password>", "<bind-pwd type=\"x\"><secret></bind-pwd>",
	"machine example.org login ada password <secret>", "machine example.org\tlogin ada\tpassword\t<secret>", "postgres://app:<secret>@db/shop",
	"DATABASE_URL=mysql://app:<secret>@localhost/shop", "amqp://:<secret>@mq", "https://hooks.slack.com/services/<secret>", "https://example.org/x?token=<secret>",
	"https://example.org/x?a=b&api_key=<secret>", "curl -u ada:<secret> https://example.org", "curl -s --user ada:<secret> https://example.org",
	"curl -H 'Authorization: Bearer <secret>' https://example.org", "curl -H \"X-Api-Key: <secret>\" https://example.org", "mysqldump -u root -p<secret> shop",
	"mysqldump --password=<secret> shop", "0 3 * * * root backup --passphrase <secret>", "sshpass -p <secret> ssh db", "ldapsearch -D cn=x -w <secret>",
	"echo <secret> | sudo -S ls", "proxy_set_header Authorization \"Basic <secret>\";", "user ada password 7 <secret>", "rocommunity <secret>", "community <secret>",
	"CREATE USER ada IDENTIFIED BY '<secret>'", "ALTER ROLE ada WITH PASSWORD '<secret>'", "[smtp.example.org]:587 ada:<secret>", "smtp.example.org ada:<secret>",
	"db:5432:shop:app:<secret>", "*:*:*:app:<secret>", "Environment=\"DB_PASS=<secret>\"", "Environment=TOKEN=<secret>", "ExecStart=/usr/bin/x --token <secret>",
	"ExecStart=/usr/bin/x --api-key=<secret>", "//nas/x /mnt cifs username=a,password=<secret> 0 0", "shared_secret = <secret>", "connection_string=Server=x;Pwd=<secret>",
	"AccountKey=<secret>", "session_key: <secret>", "encryption-key <secret>", "signing_key = <secret>", "JWT_SECRET=<secret>", "SECRET_KEY_BASE: <secret>",
	"ansible_become_pass: <secret>", "pass = <secret>", "pwd=<secret>", "credentials: <secret>",
}

// otherSecrets have a form of their own.
var otherSecrets = []string{
	"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----", "ada:$6$salt12$0123456789abcdefghijklmnopqrstuvwxyz", "ada:$apr1$abcdefgh$0123456789abcdefghijk/",
	"ada:{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "ada:$2y$10$abcdefghijklmnopqrstuv", "ada:rqXexS6ZhobKA", "key ghp_0123456789abcdefghijABCDEFGHIJ012345", "x AKIAIOSFODNN7EXAMPLA", "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=",
	"Xk9dPq2LmN8rTv3WyZ5bCf7H", "0123456789abcdef0123456789abcdef", "tink 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
}

// TestImportMachineSecrets: no secret is in plain text in the site, on the screen or in the scan: not those of a file,
// a comment, a unit, a crontab, a mount or a password hash. With recipients the files are there, encrypted.
func TestImportMachineSecrets(t *testing.T) {
	isolate(t)
	const secret = "zq7Wmfo"
	var leaks []string
	files := map[string]string{
		"etc/shadow":                    "root:$y$j9T$rootrootroot:19000::::::\nada:$y$j9T$ada" + secret + "$aaaaaaaaaaaaaaaaaa:19000::::::\n",
		"etc/passwd":                    "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n",
		"etc/group":                     "root:x:0:\nada:x:1000:\n",
		"etc/fstab":                     "//nas/x /srv/x cifs username=a,password=" + secret + "fstab 0 0\n",
		"var/spool/cron/crontabs/a":     "@daily curl -u a:" + secret + "cron https://example.org\n",
		"etc/systemd/system/x.timer":    "[Timer]\nOnCalendar=daily\n# token " + secret + "timer\n",
		"home/ada/.ssh/authorized_keys": `command="x --token ` + secret + `key" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv a` + "\n",
		"opt/app/key.pem":               "x\n" + otherSecrets[0] + "\n",
		"opt/app/private.key":           "notobvious" + secret + "\n",
		"opt/app/reuse":                 "again Xk9dPq2LmN8rTv3WyZ5bCf7H\n",
		"etc/apt/auth.conf.d/x":         "notobvious" + secret + "\n",
		"etc/shop/.env":                 "notobvious" + secret + "\n",
	}
	for i, line := range plainSecrets {
		if !strings.Contains(line, "<secret>") {
			continue
		}
		value := fmt.Sprintf("%s%dxy", secret, i)
		leaks = append(leaks, value)
		files[fmt.Sprintf("etc/shop/plain%d.conf", i)] = "listen 80\n" + strings.ReplaceAll(line, "<secret>", value) + "\n"
		files[fmt.Sprintf("usr/local/bin/script%d", i)] = "#!/bin/sh\n\t" + strings.ReplaceAll(line, "<secret>", value)
	}
	for i, text := range otherSecrets {
		files[fmt.Sprintf("etc/shop/other%d", i)] = "x\n" + text + "\n"
		leaks = append(leaks, strings.Split(text, "\n")[0])
	}
	root := snowflake(t, files)
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/shop/private"), []byte("notobvious"+secret+"\n"), 0o640))
	require.NoError(t, os.Chmod(filepath.Join(root, "etc/shop/private"), 0o640))
	leaks = append(leaks, secret)

	dir := t.TempDir()
	out, errs, status := ccm(t, nil, "import", "machine", "--root", root, "--out", filepath.Join(dir, "plain"))
	require.Zero(t, status, errs)
	scan, more, status := ccm(t, nil, "import", "machine", "--root", root)
	require.Zero(t, status, more)
	sealed, sealedErrs, status := ccm(t, nil, "import", "machine", "--root", root, "--out", filepath.Join(dir, "sealed"),
		"--recipient", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudsfsn9snnsvxc")
	if status != 0 { // the key is only an example
		_, sealedErrs, status = ccm(t, nil, "import", "machine", "--root", root, "--out", filepath.Join(dir, "sealed2"),
			"--recipient", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv")
	}
	require.Zero(t, status, sealedErrs)
	all := map[string]string{"screen": out + errs + more + sealed + sealedErrs, "scan": scan, "site": readable(t, dir)}
	for _, leak := range leaks {
		for name, text := range all {
			if at := strings.Index(text, leak); at >= 0 {
				t.Errorf("%s has a secret: %s", name, text[max(0, at-100):min(len(text), at+60)])
			}
		}
	}
	require.Contains(t, all["site"], "shop/private.age")
	require.Contains(t, all["site"], `password = secret.age "../files/passwords/ada.age"`)
}

// TestImportMachineNames: names and texts with quotes, line breaks, and terminal escapes are written as Lua that has
// nothing to do, or left out, and never reach a terminal as they are.
func TestImportMachineNames(t *testing.T) {
	isolate(t)
	files := map[string]string{}
	hostile := []string{
		`quote"; os.exit(1) --`, "apostrophe'", `back\slash`, "long]]bracket", "new\nline", "carriage\rreturn", "tab\there", "escape\x1b[31m", "c1\u009b31m", "bidi\u202etxt",
		"invalid\xff", "percent%s", "dollar${x}", "{{ template }}", "-- comment", "tick`tick", " leading blank", "umlaut-ü", "star*", "semi;colon", "glob[", "#hash",
	}
	for i, name := range hostile {
		files["etc/shop/"+name] = fmt.Sprintf("a%d\n", i)
		files["opt/"+name+"/inside"] = "b\n"
		files[fmt.Sprintf("etc/shop/content%d.txt", i)] = "first\n" + name + "\n]]\nthird\n" + name + "\n"
		files[fmt.Sprintf("etc/systemd/system/u%d.service", i)] = "[Service]\nExecStart=/bin/true\n# " + name + "\n"
		files["usr/local/bin/large "+name] = strings.Repeat("x", 5000) + name + "\n"
	}
	files["etc/hosts"] = "192.0.2.1 a\x1b[31mb\n192.0.2.2 \"; x = {\n192.0.2.3 good\n"
	files["etc/fstab"] = "/dev/sda9 /srv/\\042quote auto defaults 0 0\n"
	files["etc/passwd"] = "root:x:0:0:root:/root:/bin/sh\na\x1bb:x:1000:1000::/:/bin/sh\nb\";x:x:1001:1001::/:/bin/sh\nada:x:1002:1002:\x1b[2J\":/home/ada:/bin/sh\n"
	files["etc/hostname"] = "we\x1bb\"1\n"
	root := snowflake(t, files)
	require.NoError(t, os.Symlink("target\"\n\x1b[31m", filepath.Join(root, "etc/shop/link")))
	dir := filepath.Join(t.TempDir(), "site")
	out, errs, status := ccm(t, nil, "import", "machine", "--root", root, "--out", dir)
	require.Zero(t, status, errs)
	lua := ""
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		require.NotContains(t, name, "\x1b")
		if ext := filepath.Ext(name); !entry.IsDir() && (ext == ".lua" || ext == ".md") && !strings.Contains(name, "/files/") {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			lua += string(text)
		}
		return nil
	}))
	for _, bad := range []string{"\x1b", "\r", "\u009b", "\u202e", "\xff"} {
		require.NotContains(t, lua, bad)
		require.NotContains(t, out+errs, bad)
	}
	for i := range hostile {
		require.Contains(t, lua, fmt.Sprintf("content%d.txt", i))
	}
	out, errs, status = ccm(t, nil, "plan", "--root", root, "--detailed-exitcodes", filepath.Join(dir, "site.lua"))
	require.Zero(t, status, out+errs)
	require.Regexp(t, `(?m)^Nothing to do: \d{2,} resources up to date`, out)
}

// TestImportMachineGrows: the work of an import is proportional to the number of files, and what was found before is
// found as well, when files vanish, change, or are binary.
func TestImportMachineGrows(t *testing.T) {
	isolate(t)
	imported := func(n int) uint64 {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("etc/shop/d%d/sub/f%d", i/50, i)] = fmt.Sprintf("a%d\n", i)
		}
		root := snowflake(t, files)
		dir := filepath.Join(t.TempDir(), "site")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, errs, status := ccm(t, nil, "import", "machine", "--root", root, "--out", dir, "--only", "files")
		runtime.ReadMemStats(&after)
		require.Zero(t, status, errs)
		require.Contains(t, errs, fmt.Sprintf("%d resources", n+2*((n+49)/50)))
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := growthSizes(t, 250, 1000)
	imported(few) // what is made once
	small, large := imported(few), imported(many)
	require.Less(t, large, small*uint64(many/few)*3/2)
}

// TestImportMachineBinary: binary files are in the site as they are.
func TestImportMachineBinary(t *testing.T) {
	isolate(t)
	binary := strings.Repeat("\x7fELF\x00\x01\xff\n", 500)
	root := snowflake(t, map[string]string{"usr/local/bin/tool": binary, "etc/shop/short": "\x00", "opt/shop/empty": "", "etc/shop/huge": strings.Repeat("x", 2<<20)})
	dir := filepath.Join(t.TempDir(), "site")
	_, errs, status := ccm(t, nil, "import", "machine", "--root", root, "--out", dir)
	require.Zero(t, status, errs)
	text, err := os.ReadFile(filepath.Join(dir, "files/usr/local/bin/tool"))
	require.NoError(t, err)
	require.Equal(t, binary, string(text))
	require.Contains(t, readable(t, dir), "- `/etc/shop/huge`: 2097152 bytes: files of a site have at most 1048576")
	out, errs, status := ccm(t, nil, "plan", "--root", root, "--detailed-exitcodes", filepath.Join(dir, "site.lua"))
	require.Zero(t, status, out+errs)
}
