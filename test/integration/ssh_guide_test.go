//go:build integration

package integration

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// bootWithSSH boots two machines with a real sshd and without ccm, and one with ccm from which they are reached. The
// logins are ada, who may use sudo, and bob, who needs a password for sudo and whose shell is fish.
func bootWithSSH(t *testing.T, prefix string) map[string]*lab {
	t.Helper()
	t.Parallel()
	all := make(map[string]*lab)
	for _, name := range []string{"web1", "web2", "here"} {
		l := &lab{t: t, name: prefix + "-" + name, up: time.Now()}
		t.Cleanup(l.down)
		out, err := exec.CommandContext(t.Context(), labCommand, "up", l.name, "--replace", "--net", "--family", debian, "--bind", binaries+":/opt/ccm").CombinedOutput()
		require.NoError(t, err, "%s", out)
		all[name] = l
	}
	here := all["here"]
	here.fromDebian("openssh-client")
	here.sh(`apt-get -qq install openssh-client >/dev/null; cp /opt/ccm/ccm /usr/local/bin/ccm
mkdir -m 0700 -p /root/.ssh; ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519`)
	key := here.sh("cat /root/.ssh/id_ed25519.pub")
	for _, name := range []string{"web1", "web2"} {
		l := all[name]
		l.fromDebian("openssh-server", "sudo", "fish")
		l.sh(`umount /opt/ccm; apt-get -qq install openssh-server sudo fish >/dev/null 2>&1
useradd -m -s /bin/bash ada; useradd -m -s /usr/bin/fish bob; echo bob:secret-of-bob | chpasswd
echo 'ada ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ada; echo 'bob ALL=(ALL) ALL' > /etc/sudoers.d/bob
systemctl start ssh`)
		for _, who := range []string{"ada", "bob"} {
			l.sh("install -d -m 0700 -o " + who + " -g " + who + " /home/" + who + "/.ssh")
			l.write("/home/"+who+"/.ssh/authorized_keys", []byte(key+"\n"))
		}
		here.knows(name, l)
		here.sh("ssh-keyscan -t ed25519 " + name + " >> /root/.ssh/known_hosts 2>/dev/null")
	}
	here.sh("printf 'Host web*\\n  User ada\\n' > /root/.ssh/config")
	return all
}

// TestSSHGuide runs the commands of docs/ssh.md on two machines without ccm, from a third one, and then as the user
// who needs a password for sudo.
func TestSSHGuide(t *testing.T) {
	nightly(t)
	labs := bootWithSSH(t, "it-ssh-guide")
	t.Run("Page", func(t *testing.T) { followSSHGuide(t, labs) })
	t.Run("SudoPassword", func(t *testing.T) { giveSudoPassword(t, labs) })
}

// followSSHGuide runs the commands of the page, and checks what is left on the machines.
func followSSHGuide(t *testing.T, labs map[string]*lab) {
	text, err := os.ReadFile("../../docs/ssh.md")
	require.NoError(t, err)
	here, tried := labs["here"], 0
	for _, b := range dialog.Blocks(string(text)) {
		if b.File != "" {
			here.write("/root/"+b.File, []byte(b.Text))
		}
		if !b.IsDialog() {
			continue
		}
		for _, c := range b.Commands() {
			tried++
			got := here.sh("cd /root; { " + c.Line + "\n} 2>&1 || true")
			require.Regexp(t, c.Answer(), got+"\n", "$ %s", c.Line)
		}
	}
	require.GreaterOrEqual(t, tried, 8)
	for _, name := range []string{"web1", "web2"} {
		l := labs[name]
		l.says("root:root 644", "stat -c '%U:%G %a' /etc/motd")
		// The cache of the login and the state directory stay.
		l.says("/home/ada/.cache\n/home/ada/.cache/ccm\n/home/ada/.cache/ccm/bin", "find /home/ada/.cache -maxdepth 2 | sort")
		l.says("", "pgrep -x ccm || :")
		l.says("700", "stat -c %a /var/lib/ccm")
		l.sh("! command -v ccm")
	}
}

// giveSudoPassword enters the password of sudo, for a login whose shell is fish: a wrong one, none, and the right
// one.
func giveSudoPassword(t *testing.T, labs map[string]*lab) {
	here := labs["here"]
	labs["web1"].sh("echo other > /etc/motd")
	labs["web2"].sh("echo other > /etc/motd")
	here.write("/root/site/site.lua", []byte(`file { "/etc/motd", content = "kept by ccm\n", owner = "root", group = "root", mode = "0644" }`+"\n"))
	ask := func(password string) (said string, status int) {
		cmd := exec.CommandContext(t.Context(), labCommand, "exec", here.name, "--", "sh", "-c",
			"cd /root; exec script -qec 'ccm ssh bob@web1 bob@web2 --ask-sudo-pass -- run site' /dev/null")
		terminal, err := pty.Start(cmd)
		require.NoError(t, err)
		defer terminal.Close()
		prompt, buffer := regexp.MustCompile("sudo password on the hosts: "), make([]byte, 4096)
		for typed := false; ; {
			n, err := terminal.Read(buffer)
			said += string(buffer[:n])
			if !typed && prompt.MatchString(said) {
				typed = true
				_, err := terminal.WriteString(password + "\n")
				require.NoError(t, err)
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait()
		return said, cmd.ProcessState.ExitCode()
	}
	said, status := ask("wrong")
	require.NotZero(t, status, said)
	require.Contains(t, said, "the host rejected the password")
	require.NotContains(t, said, "wrong", "what was typed is not shown")
	labs["web1"].sh("! grep -q 'kept by ccm' /etc/motd")
	said, status = ask("")
	require.NotZero(t, status, said)
	require.Contains(t, said, "--ask-sudo-pass: expected a password, found none")

	out := here.exec("sh", "-c", "cd /root; ccm ssh bob@web1 --sudo -- run site")
	require.NotZero(t, out.status)
	require.Contains(t, out.stdout+out.stderr, "sudo: a password is required")

	said, status = ask("secret-of-bob")
	require.Zero(t, status, said)
	require.Contains(t, said, "2 of 2 hosts ok")
	require.NotContains(t, said, "secret-of-bob")
	for _, name := range []string{"web1", "web2"} {
		labs[name].says("kept by ccm", "cat /etc/motd")
		labs[name].says("", "grep -rl secret-of-bob /home/bob /var/lib/ccm /tmp || :")
		labs[name].says("", "pgrep -x ccm || :")
	}
}
