package dnf

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

// Only one command runs at a time in this process.
func TestOneLock(t *testing.T) {
	nothing := 0
	errs := pkgtooltest.OneLock(t, newMachine().Answer, packages, pkg("ccm-demo-rpm", "latest"), pkg("python3.11", "3.11.4"))
	for _, err := range errs {
		if err != nil {
			require.ErrorContains(t, err, "is already installed")
			nothing++
		}
	}
	require.Equal(t, len(errs)-1, nothing, "the first of them installed it")
}
