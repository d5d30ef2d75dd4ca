//go:build integration

package resolve_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/module"
)

// A repository can be fetched over ssh. The sshd of the test accepts only the key of the test.
func TestOverSSH(t *testing.T) {
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("there is no sshd")
	}
	at := t.TempDir()
	for _, key := range []string{"host", "user"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at+"/"+key).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.MkdirAll("/run/sshd", 0o755)) // the directory for privilege separation of sshd
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	write(t, at, map[string]string{"sshd_config": fmt.Sprintf(
		"ListenAddress 127.0.0.1\nPort %d\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\n", port, at, at)})
	server := exec.Command(sshd, "-D", "-e", "-f", at+"/sshd_config")
	require.NoError(t, server.Start())
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	for range 100 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}

	repo := newRepository(t, at+"/nginx")
	repo.release("v1.0.0", map[string]string{"ccm.mod.lua": modFile("nginx"), "nginx.lua": "return 1\n"})
	me, err := user.Current()
	require.NoError(t, err)
	t.Setenv("GIT_SSH_COMMAND", "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes -i "+at+"/user")
	source := module.Source{Git: fmt.Sprintf("ssh://%s@127.0.0.1:%d%s/nginx", me.Username, port, at)}
	got, err := newResolver(newCache(t)).Get(t.Context(), source, "v1.0.0")
	require.NoError(t, err)
	require.Equal(t, repo.git("rev-parse", "v1.0.0"), got.Commit)
	require.FileExists(t, got.Dir+"/nginx.lua")

	// A key that the server refuses is an error at once, without a prompt for a password.
	t.Setenv("GIT_SSH_COMMAND", "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes -i "+at+"/host")
	_, err = newResolver(newCache(t)).Get(t.Context(), source, "v1.0.0")
	require.ErrorContains(t, err, "Permission denied")
}
