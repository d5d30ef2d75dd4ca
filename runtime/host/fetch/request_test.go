package fetch

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainError(t *testing.T) {
	other := errors.New("connection refused")
	require.NoError(t, plainError(nil))
	require.Equal(t, other, plainError(other))
	require.EqualError(t, plainError(fmt.Errorf("read: %w", io.EOF)), "server closed the connection")
	// The message of net/http (transport.go) for data on an idle connection.
	require.EqualError(t, plainError(errors.New("readLoopPeekFailLocked: %!w(<nil>)")),
		"unexpected data from the server before the request: it is probably not an HTTP server")
}
