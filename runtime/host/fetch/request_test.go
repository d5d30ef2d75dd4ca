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
	require.EqualError(t, plainError(fmt.Errorf("read: %w", io.EOF)), "the server ended the connection without an answer")
	// The words of net/http (transport.go) for bytes on a connection that has no request yet.
	require.EqualError(t, plainError(errors.New("readLoopPeekFailLocked: %!w(<nil>)")),
		"the server sent something before it was asked, so it is probably not an HTTP server")
}
