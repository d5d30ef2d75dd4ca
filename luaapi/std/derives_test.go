package std

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibrariesSayWhetherTheyDerive: one that is forgotten would lose secrets.
func TestLibrariesSayWhetherTheyDerive(t *testing.T) {
	for _, l := range Libraries() {
		require.Contains(t, derives, l.Name)
	}
}
