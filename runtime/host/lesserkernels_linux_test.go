//go:build !portable

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// All tests pass on older kernels and without /proc.
func TestLesserKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of this package again, twice: make test-all")
	}
	hosttest.OnLesserKernels(t, "^Test", "^(TestWalkLeavesNothingOpen|TestProcLinks|TestReadWaitsForNothing|TestReadOpenedPipe|TestMountPointIsWrittenInPlace|TestObstacles|TestRootMayNotWrite|TestReadsBack)$")
}

// If a mode cannot be set safely, it is not set, and the error says why.
func TestNoModes(t *testing.T) {
	if hosttest.HasModes() {
		t.Skip("TestLesserKernels runs it where modes cannot be set")
	}
	h, root := hosttest.New(t, nil)
	path := filepath.Join(root, "f")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
	require.ErrorContains(t, h.SetAttr("/f", attr), "chmod /f: modes cannot be set safely without /proc before Linux 6.6")
	require.NoError(t, h.WriteFile("/f", strings.NewReader("new"), attr), "what is open for writing has its mode set by that")
	fi, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), fi.Mode())
}
