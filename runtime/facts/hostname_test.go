package facts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	release := map[string]string{"/etc/os-release": "ID=debian\n"}
	kernel := func(name string) map[string]string {
		return map[string]string{"/proc/sys/kernel/hostname": name + "\n"}
	}
	for name, c := range map[string]struct {
		files                  map[string]string
		kernel                 map[string]string
		hostname, fqdn, domain string // domain "" means absent
	}{
		"only a name":         {kernel: kernel("web1"), hostname: "web1", fqdn: "web1"},
		"set with its domain": {kernel: kernel("web1.example.com"), hostname: "web1", fqdn: "web1.example.com", domain: "example.com"},
		"/etc/hosts": {
			files:    map[string]string{"/etc/hosts": "127.0.0.1 localhost\n127.0.1.1 web1.example.com web1 # me\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1.example.com", domain: "example.com",
		},
		"/etc/hosts with the short name first": {
			files:    map[string]string{"/etc/hosts": "127.0.1.1\tweb1 web1.example.com\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1.example.com", domain: "example.com",
		},
		"/etc/hosts in a comment or for another": {
			files:    map[string]string{"/etc/hosts": "# 127.0.1.1 web1.example.com web1\n10.0.0.2 web10.example.com web10\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1",
		},
		"localdomain is none": {
			files:    map[string]string{"/etc/hosts": "127.0.1.1 web1.localdomain web1\n", "/etc/resolv.conf": "search corp.example\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1.corp.example", domain: "corp.example",
		},
		"resolv.conf, the last line counts": {
			files:    map[string]string{"/etc/resolv.conf": "nameserver 10.0.0.1\ndomain old.example\nsearch new.example. other.example\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1.new.example", domain: "new.example",
		},
		"resolv.conf with no domain": {
			files:    map[string]string{"/etc/resolv.conf": "search .\n"},
			kernel:   kernel("web1"),
			hostname: "web1", fqdn: "web1",
		},
		"the kernel knows better than /etc/hostname": {
			files: map[string]string{"/etc/hostname": "later\n"}, kernel: kernel("now"), hostname: "now", fqdn: "now",
		},
		"a root that is not running": {
			files: map[string]string{"/etc/hostname": "# the name\nimage.example.com\n"}, hostname: "image", fqdn: "image.example.com", domain: "example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := rootWith(t, release, c.files, c.kernel)
			require.Equal(t, c.hostname, get(t, v, "hostname"))
			require.Equal(t, c.fqdn, get(t, v, "fqdn"))
			if c.domain == "" {
				requireAbsent(t, v, "domain")
				return
			}
			require.Equal(t, c.domain, get(t, v, "domain"))
		})
	}
}

func TestHostInfoHasTheNameAsItIsSet(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/os-release": "ID=debian\n", "/proc/sys/kernel/hostname": "web1.example.com\n"})
	require.Equal(t, "web1.example.com", get(t, v, "host.info.hostname"))
}
