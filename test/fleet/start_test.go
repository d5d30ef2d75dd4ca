package fleet_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ccm fleet init --apply waits for servers that have just started: for their leader, and for as many of them as the streams have
// replicas.
func TestInitWaitsForServers(t *testing.T) {
	scratch, err := os.MkdirTemp("", "lab-")
	require.NoError(t, err)
	l := configureLab(t, scratch, 3)
	t.Cleanup(l.end)
	for _, port := range l.ports[:2] {
		l.start(t, port)
	}
	waitFor(t, "a server that listens", func() error {
		conn, err := net.Dial("tcp", "127.0.0.1:"+l.ports[0])
		if err == nil {
			conn.Close()
		}
		return err
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr syncBuffer
	cmd := l.command(ctx, "fleet", "init", l.dir, "--apply")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	waitFor(t, "the command to wait", func() error {
		if !strings.Contains(stderr.String(), "Waiting for the servers") {
			return fmt.Errorf("it printed %q", stderr.String())
		}
		return nil
	})
	l.start(t, l.ports[2])
	require.NoError(t, cmd.Wait(), stderr.String())
	require.Equal(t, "Waiting for the servers to find each other.\n", stderr.String())
	require.Equal(t, 10, strings.Count(stdout.String(), "+ "), stdout.String())
}
