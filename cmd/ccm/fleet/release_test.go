package fleet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/signed"
)

// Stages that do not end with all nodes are one mistake, with the flag as in a document.
func TestLastStage(t *testing.T) {
	f := releaseFlags{stages: "1%,10%"}
	_, err := f.document()
	require.ErrorIs(t, err, signed.ErrLastStage)
	require.EqualError(t, err, "--stages: expected 100% as the last stage (to end a rollout early, use ccm fleet rollout pause or abort)")
}
