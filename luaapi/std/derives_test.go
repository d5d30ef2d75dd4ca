package std

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibrariesSayWhetherTheyDerive: a library that does not declare whether its results derive from secrets would
// lose them.
func TestLibrariesSayWhetherTheyDerive(t *testing.T) {
	for _, l := range Libraries() {
		require.Contains(t, derives, l.Name)
	}
}
