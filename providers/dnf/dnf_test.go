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

// What dnf prints of a repository without a key has its password, and is left out.
func TestReasonWithoutKey(t *testing.T) {
	got := reason(nil, []string{"You have enabled checking of packages via GPG keys. This is a good thing.", "Problem repository: [bad]", "password: p", "username: u"})
	require.Equal(t, []string{"dnf cannot verify packages of the repository bad: key missing (set gpgkey, or run rpm --import)"}, got)
}
