package hosttest

import (
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// RefusedPort returns a TCP port of 127.0.0.1 that refuses connections: until the end of the
// test, a socket that does not listen holds it.
func RefusedPort(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, os.NewSyscallError("bind", syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte(net.IPv4(127, 0, 0, 1).To4())})))
	at, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	return strconv.Itoa(at.(*syscall.SockaddrInet4).Port)
}
