package state_test

import (
	"testing"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Backups work on older kernels and without /proc.
func TestLesserKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of this package again, twice: make test-all")
	}
	hosttest.OnLesserKernels(t, "^Test.*(Restore|Backup|Adversary)", "^$")
}
