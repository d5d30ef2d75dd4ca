//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndoOfPrograms: undo makes again what real programs removed, after a prune and after ensure = "absent": swap, rules of
// nft, locales, keys of rpm, packages of npm and gem. The kernel of the tests has no modules, so that modprobe is a
// stand-in. TestUndoOfPrune has other types, TestSELinux those of SELinux, TestLuaLanguagePackage pip.
func TestUndoOfPrograms(t *testing.T) {
	l := bootAs(t, "it-"+slug(t.Name()), mixed, "--bind-rw", t.TempDir()+":/swap")
	t.Parallel()
	l.fromDebian("nftables", "locales")
	l.sh(publishLanguages + `
		apt-get -qq -y install nftables locales > /dev/null 2>&1
		mount -o remount,rw /sys; mkdir -p /sys/module
		printf '%s\n' '#!/bin/sh' 'for last; do :; done' 'case $1 in --dry-run) exit;; -r|--remove) rm -r /sys/module/$last;; *) mkdir -p /sys/module/$last; echo live > /sys/module/$last/initstate;; esac' > /usr/local/sbin/modprobe
		chmod 755 /usr/local/sbin/modprobe
		mkdir -m 700 /root/gpg /root/undo
		gpg --homedir /root/gpg --batch --quiet --passphrase '' --quick-gen-key 'Demo <d@example.org>' rsa2048 sign never 2> /dev/null
		gpg --homedir /root/gpg --armor --export d@example.org > /root/undo/key.asc`)
	l.write("/root/undo/site.lua", []byte(`
std.kernel_module { "br_netfilter", options = "a=1" }
std.firewall { "web", rules = [[
chain input {
  type filter hook input priority 0; policy accept;
  tcp dport { 22, 80 } counter accept
}
]] }
std.locale { "de_DE.UTF-8", default = true }
std.package_key { "example", key = fs.read "key.asc", store = "rpm" }
std.language_package { "demo-npm", manager = "npm", path = "/opt/project", version = "1.0.0", source = "/root/demo-npm-1.0.0.tgz", options = { "--offline" } }
std.language_package { "demo-gem", manager = "gem", path = "/opt/gems", version = "1.0.0", source = "/root/demo-gem-1.0.0.gem", options = { "--local" } }
if fs.exists "/swap/usable" then std.swap { "/swap/file", size = "4M", options = { "pri=10" } } end
`))
	l.write("/root/undo/none.lua", []byte(`exec { "nothing", command = "true", creates = "/" }`))
	out := l.sh(`set +e; cd /root/undo
		# Not every file system of the machine can have swap files.
		dd if=/dev/zero of=/swap/probe bs=64k count=16 2> /dev/null; chmod 600 /swap/probe; mkswap -q /swap/probe > /dev/null && swapon /swap/probe 2> /dev/null && swapoff /swap/probe && touch /swap/usable
		state() {
			ls /sys/module/br_netfilter /etc/modules-load.d /etc/modprobe.d; cat /etc/modules-load.d/br_netfilter.conf /etc/modprobe.d/br_netfilter.conf
			nft list table inet web; cat /etc/nftables.conf
			locale -a; grep '^[^#]' /etc/locale.gen; cat /etc/default/locale
			rpm -q gpg-pubkey; ls /etc/pki/rpm-gpg
			cat /opt/project/package.json /opt/project/node_modules/demo-npm/package.json; ls /opt/gems/gems
			grep -c /file /proc/swaps; grep swap /etc/fstab
		} 2>&1
		/opt/ccm/ccm run site.lua > log 2>&1 || cat log
		cp site.lua kept.lua; state > before
		cp none.lua site.lua; /opt/ccm/ccm prune --yes site.lua > log 2>&1 || cat log
		state > between; diff before between | grep -c '^<'
		/opt/ccm/ccm undo > log 2>&1 || cat log
		state > after; diff before after && echo SAME
		for x in 'kernel_module br_netfilter' 'firewall web' 'locale de_DE.UTF-8' 'package_key example --store rpm'; do
			/opt/ccm/ccm ensure $x absent > log 2>&1 || cat log
			state > between; cmp -s after between && echo "$x was not removed"
			/opt/ccm/ccm undo > log 2>&1 || cat log
			state > again; diff after again
		done
		swapoff /swap/file 2> /dev/null; rm -f /swap/*; echo END`)
	require.Regexp(t, `^\d\d+\nSAME\nEND$`, out)
	require.Contains(t, l.sh("/opt/ccm/ccm ensure swap /run/swapfile --size 4M --noop || :"), "the kernel cannot swap to a file on /run, which is tmpfs")
}
