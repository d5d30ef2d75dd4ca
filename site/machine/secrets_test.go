package machine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Usual configuration holds no secrets, so that it is imported.
func TestHarmlessText(t *testing.T) {
	for _, text := range []string{
		"listen 80;\nserver_name example.org;\nssl_certificate_key /etc/ssl/private/example.key;\n",
		"PasswordAuthentication no\nPermitRootLogin prohibit-password\nAuthorizedKeysFile .ssh/authorized_keys\n",
		"password required pam_unix.so\npassword\t[success=1 default=ignore]\tpam_unix.so obscure yescrypt\n",
		"PASS_MAX_DAYS 90\nPASS_MIN_LEN 8\n", "deploy ALL=(ALL) NOPASSWD: /usr/bin/systemctl restart shop\n",
		"#net.ipv4.conf.default.rp_filter=1\nnet.ipv4.ip_forward = 1\nkernel.printk = 4 4 1 7\n", "17 3 * * * root /usr/local/bin/backup --once\n",
		"[Service]\nExecStart=/usr/bin/shop --config /etc/shop/shop.toml\nEnvironmentFile=/etc/shop/env\n",
		"deb [signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/debian bookworm stable\n",
		"-----BEGIN CERTIFICATE-----\nMIIB0123456789abcdefABCDEF0123456789abcdefABCDEF\n-----END CERTIFICATE-----\n",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv ada@laptop\n",
		"UUID=0b1e6d0c-4f0e-4d0b-9d3a-1f6b8a2c3d4e /srv ext4 noatime 0 2\n", "# the password is in the file of the application\n",
		"/usr/lib/polkit-1/polkit-agent-helper-1\n/usr/lib/x86_64-linux-gnu/utempter/utempter\n", "/etc/fonts/conf.d/10-hinting-slight.conf",
		"# http://snapshot.debian.org/archive/debian-security/20250520T000000Z\n", "passwd:         files systemd\nshadow:         files\n",
		"http {\n\n\t##\n\t# Basic Settings\n\t##\n\n\tsendfile on;\n# HTTP basic authentication.\n",
		"max_connections = 200\nshared_buffers = 256MB\n", "#!/bin/sh\nset -e\nexec /usr/bin/rsync -a /srv/ backup:/srv/\n",
	} {
		require.Empty(t, secretText("x", text), text)
	}
}

// A secret with slashes is not a path, and a line that resembles one of nsswitch.conf is a password.
func TestSecretsLikePaths(t *testing.T) {
	for _, text := range []string{"wJalrXUt1FEMI/K7MDENG/bPxRf1CYEXAMPLE2KEY", "x /aB3dE5fG/hI7jK9lM/nO1pQ3rS", "passwd: files hunter22\n", "Basic YWRhOmh1bnRlcg==", "proxy bearer abcdefgh1jkl"} {
		require.NotEmpty(t, secretText("x", text), text)
	}
}

// FuzzSecretText: the value of a setting with the name of a secret is found, whatever surrounds it.
func FuzzSecretText(f *testing.F) {
	for i := range 40 {
		f.Add(uint8(i), uint8(i/3), uint8(i/5), "hunter2x", "listen 80")
	}
	keys := []string{"password", "Passwd", "DB_PASSWORD", "client_secret", "auth-token", "api_key", "psk", "passphrase", "db.pass", "SECRET_KEY", "access_key", "wpa_passphrase"}
	separators := []string{"=", " = ", ": ", ":", " => ", "\t=\t", "=\"", ": '"}
	before := []string{"", "  ", "\t", "# ", "#", "; ", "export ", "-- ", "// ", "set "}
	f.Fuzz(func(t *testing.T, key, separator, prefix uint8, value, around string) {
		if len(value) < 4 || len(value) > 200 || !utf8.ValidString(around) || strings.ContainsAny(around, "\x00") || harmlessLine().MatchString("a = "+value) {
			return
		}
		for _, c := range value {
			if c < '!' || c > '~' || strings.ContainsRune("\"'#;,)}]\\", c) {
				return
			}
		}
		line := before[int(prefix)%len(before)] + keys[int(key)%len(keys)] + separators[int(separator)%len(separators)] + value
		if strings.ContainsAny(around, "\r\n") || harmlessLine().MatchString(line) {
			return
		}
		if strings.Contains(around, "-----BEGIN") {
			return
		}
		require.NotEmpty(t, secretText("app", around+"\n"+line+"\n"+around+"\n"), line)
	})
}
