package apt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "rhel") }

// One command at a time runs in this process, whoever asks.
func TestOneLock(t *testing.T) {
	for _, err := range pkgtooltest.OneLock(t, newMachine().Answer, packages{}, pkg("ccm-demo", "present"), pkg("ccm-demo", "present")) {
		require.NoError(t, err)
	}
}
