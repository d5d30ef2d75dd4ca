package registry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckServer: an older server is refused, because it would accept the stream and never expire entries.
func TestCheckServer(t *testing.T) {
	for _, version := range []string{"2.9.10", "2.10.29", "2.11.0-RC.1"} {
		require.ErrorContains(t, checkServer(version), "expected nats-server 2.11.0 or later, found "+version, version)
	}
	for _, version := range []string{"2.11.0", "2.11.1", "2.15.2", "3.0.0", "", "2.99.0-dev"} {
		require.NoError(t, checkServer(version), version)
	}
}
