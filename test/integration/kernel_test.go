//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirewall: real nft loads, replaces and deletes rules in the kernel, and loads them at boot.
func TestFirewall(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("nftables")
	l.sh("/opt/ccm/ccm ensure package nftables")
	site := func(arg, does string) step {
		return step{site: "kernel/firewall.lua " + arg, does: []string{"firewall#web: " + does}}
	}
	l.converge(site("80", "Loaded the rules"))
	l.says("tcp dport { 22, 80 } counter packets 0 bytes 0 accept comment \"two", "nft list chain inet web input | grep -o 'tcp dport.*'")

	// Counters, elements of sets and tables of others are ignored; other rules are not.
	l.sh(`nft add element inet web ours '{ 192.0.2.1 timeout 1h }'; nft add table ip other`)
	l.converge(site("80", "stable"))
	l.sh("nft insert rule inet web input tcp dport 23 accept")
	_, run := l.converge(site("80", "Replaced the rules"))
	require.Equal(t, "rules: changed outside ccm → loaded", run.event("firewall#web").Diff[0].String())
	l.sh("nft flush ruleset")
	_, run = l.converge(site("80", "Replaced the rules"))
	require.Equal(t, "rules: not loaded → loaded", run.event("firewall#web").Diff[0].String())
	l.sh("nft add table ip other")
	l.converge(site("8080", "Replaced the rules"))
	rules := l.sh("nft list table inet web")

	// If nft refuses the rules, the rules and the file stay.
	file := l.sh("cat /etc/nftables.d/ccm-web.nft")
	l.converge(step{site: "kernel/firewall.lua bad", does: []string{"firewall#web: failed"}, errs: map[string][]string{"firewall#web": {"nft rejected the rules", "nonsense"}}})
	require.Equal(t, rules, l.sh("nft list table inet web"))
	require.Equal(t, file, l.sh("cat /etc/nftables.d/ccm-web.nft"))

	// The same rules are loaded at boot.
	l.sh("nft flush ruleset; systemctl restart nftables")
	require.Equal(t, rules, l.sh("nft list table inet web"))
	l.converge(site("8080", "stable"))

	l.sh("nft add table ip other")

	// A table of somebody else is not replaced. The table that an undo leaves in the kernel is not one.
	l.sh("cp /etc/nftables.d/ccm-web.nft /root; rm /etc/nftables.d/ccm-web.nft; nft delete table inet web; nft add table inet web")
	l.converge(step{site: "kernel/firewall.lua 8080", does: []string{"firewall#web: failed"}, errs: map[string][]string{"firewall#web": {"remove it with: nft delete table inet web"}}})
	l.sh("nft delete table inet web")
	l.converge(site("8080", "Loaded the rules"))
	require.Contains(t, l.sh("/opt/ccm/ccm undo"), "ccm-web.nft: Removed what the run created")
	l.converge(site("8080", "Replaced the rules"))
	l.sh("/opt/ccm/ccm undo")
	l.converge(site("absent", "Removed the rules"))
	l.says("table inet filter\ntable ip other", "nft list tables")
	l.says("", "ls /etc/nftables.d")
}

// TestSysctl sets parameters of the lab's network. The kernel refuses those of the whole machine, which is reported.
func TestSysctl(t *testing.T) {
	l := boot(t, debian)
	l.sh("sysctl -q -w net.ipv4.ip_forward=0 net.ipv4.conf.lo.rp_filter=0 net.ipv4.tcp_rmem='4096 131072 6000000'")
	swappiness, is := "sysctl#vm.swappiness", l.sh("sysctl -n vm.swappiness")
	s := step{site: "kernel/sysctl.lua", does: []string{
		"sysctl#net.ipv4.ip_forward: Set the kernel setting", "sysctl#net/ipv4/conf/lo/rp_filter: Set the kernel setting",
		"sysctl#net.ipv4.tcp_rmem: Set the kernel setting", swappiness + ": failed", "sysctl#net.ipv4.no_such_setting: failed",
	}, errs: map[string][]string{swappiness: {"permission denied on key \"vm.swappiness\""}, "sysctl#net.ipv4.no_such_setting": {"no such kernel setting: net.ipv4.no_such_setting"}}}
	l.ccm("run", s)
	l.says("1\n2\n4096\t131072\t6291456\n"+is, "sysctl -n net.ipv4.ip_forward net.ipv4.conf.lo.rp_filter net.ipv4.tcp_rmem vm.swappiness")
	again := l.ccm("run", s)
	for i, line := range story(again) {
		id, message := split(line)
		require.Equal(t, map[bool]string{true: "stable", false: "failed"}[i < 3], message, id)
	}
	l.says("", "grep swappiness /etc/sysctl.d/60-ccm.conf || :") // a refused value is not kept for the next boot

	// systemd sets the same values at boot.
	l.sh("sysctl -q -w net.ipv4.ip_forward=0 net.ipv4.conf.lo.rp_filter=0; /lib/systemd/systemd-sysctl 60-ccm.conf || :")
	l.says("1\n2", "sysctl -n net.ipv4.ip_forward net.ipv4.conf.lo.rp_filter")
}

// TestSSHKeys: real ssh-keygen makes keys of a user. An existing key is kept.
func TestSSHKeys(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("openssh-client")

	// Without ssh-keygen nothing is done, and the user is not made either.
	l.converge(step{site: "kernel/keys.lua ed25519", does: []string{"user#keys: failed"}, errs: map[string][]string{"user#keys": {"ssh-keygen is not installed"}}})
	l.says("", "getent passwd keys || true")
	l.sh("/opt/ccm/ccm ensure package openssh-client")
	for i, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		does := "user#keys: Created the user"
		if i > 0 {
			does = "user#keys: Updated the user"
		}
		l.converge(step{site: "kernel/keys.lua " + kind, does: []string{does}})
		// Its owner can use it, and nobody else can read it.
		l.says("keys 600\nkeys 644\nkeys 700", "cd /srv/keys/.ssh; stat -c '%U %a' id_"+kind+" id_"+kind+".pub .")
		require.Contains(t, l.sh("runuser -u keys -- ssh-keygen -l -f /srv/keys/.ssh/id_"+kind), strings.ToUpper(kind))
		require.Equal(t, l.sh("cut -d' ' -f1,2 /srv/keys/.ssh/id_"+kind+".pub"), l.sh("runuser -u keys -- ssh-keygen -y -P '' -f /srv/keys/.ssh/id_"+kind+" | cut -d' ' -f1,2"))
	}
	l.sh("rm /srv/keys/.ssh/*.pub")
	sums := l.sh("sha256sum /srv/keys/.ssh/id_*")
	l.converge(step{site: "kernel/keys.lua rsa", does: []string{"user#keys: stable"}})
	require.Equal(t, sums, l.sh("sha256sum /srv/keys/.ssh/id_*"))
	l.sh("useradd --no-create-home homeless")
	require.Contains(t, l.sh("/opt/ccm/ccm ensure user homeless --ssh-key rsa --noop || :"), "the directory /home/homeless for the key does not exist")

	// One of them is a host key, which ssh finds by the host name, also hashed by ssh itself.
	known := func(args string) string {
		return l.sh(`/opt/ccm/ccm ensure known_host '[git.example.org]:2222' ` + args)
	}
	l.sh("ssh-keygen -q -y -P '' -f /srv/keys/.ssh/id_rsa > /root/host.pub")
	const key = `--key "$(cat /root/host.pub)"`
	require.Contains(t, known(key), "Added the host")
	l.sh("ssh-keygen -F '[git.example.org]:2222' -f /etc/ssh/ssh_known_hosts; ssh-keygen -H -f /etc/ssh/ssh_known_hosts; grep -q '^|1|' /etc/ssh/ssh_known_hosts")
	require.Contains(t, known(key), "up to date")
	require.Contains(t, known("absent"), "Removed the host")
	l.sh("! ssh-keygen -F '[git.example.org]:2222' -f /etc/ssh/ssh_known_hosts")
}

// TestSELinux: real setsebool and semanage change the policy of a machine on which SELinux does not run: in a root
// directory, where they run chrooted, and on the machine itself. The short form does not try the root directory.
func TestSELinux(t *testing.T) {
	l := boot(t, debian)
	l.fromDebian("selinux-policy-default", "policycoreutils", "policycoreutils-python-utils")
	l.sh("apt-get -qq -y install selinux-policy-default policycoreutils-python-utils > /dev/null 2>&1; mkdir /mnt/root; mount --rbind / /mnt/root")
	l.write("/root/site.lua", []byte(`local value, typ = arg[1] == "true", arg[2]
require "std.selinux_boolean" { "httpd_can_network_connect", value = value }
require "std.selinux_context" { "/srv/www(/.*)?", type = typ }
`))
	for _, wish := range []struct{ where, args, boolean, typ string }{
		{"--root /mnt/root --state-dir /root/state", "true httpd_sys_content_t", "on", "httpd_sys_content_t"},
		{"", "false etc_t", "off", "etc_t"},
	} {
		if testing.Short() && wish.where != "" {
			continue
		}
		run := "/opt/ccm/ccm run " + wish.where + " /root/site.lua " + wish.args
		require.Contains(t, l.sh(run), "2 resources: 2 changed")
		require.Contains(t, l.sh(run), "Nothing to do")
		require.Regexp(t, `httpd_can_network_connect +\(`+wish.boolean+" ", l.sh("semanage boolean -l -C"))
		require.Regexp(t, `/srv/www\(/\.\*\)\? +all files +system_u:object_r:`+wish.typ+":s0", l.sh("semanage fcontext -l -C"))
	}
	l.sh("/opt/ccm/ccm ensure selinux_context '/srv/www(/.*)?' absent")
	l.says("", "semanage fcontext -l -C")
	require.Contains(t, l.sh("/opt/ccm/ccm undo"), "Added the pattern")
	require.Regexp(t, `/srv/www\(/\.\*\)\? +all files +system_u:object_r:etc_t:s0`, l.sh("semanage fcontext -l -C"))
}
