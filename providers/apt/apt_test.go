package apt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "rhel") }

// Only one command runs at a time in this process.
func TestOneLock(t *testing.T) {
	for _, err := range pkgtooltest.OneLock(t, newMachine().Answer, packages{}, pkg("ccm-demo", "present"), pkg("ccm-demo", "present")) {
		require.NoError(t, err)
	}
}
