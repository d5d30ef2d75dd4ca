package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// No part of a text is interpreted as a request or an escape of roff.
func TestManText(t *testing.T) {
	require.Equal(t, "a\\en\n\\&.so /etc/shadow\n\\&'br", manText("a\\n\n.so /etc/shadow\n'br"))
	require.Equal(t, "\\-\\-x", manLiteral("--x"))
}
