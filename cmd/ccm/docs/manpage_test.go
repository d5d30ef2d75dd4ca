package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing in a text is taken for a request or an escape of roff.
func TestManText(t *testing.T) {
	require.Equal(t, "a\\en\n\\&.so /etc/shadow\n\\&'br", manText("a\\n\n.so /etc/shadow\n'br"))
	require.Equal(t, "\\-\\-x", manLiteral("--x"))
}
