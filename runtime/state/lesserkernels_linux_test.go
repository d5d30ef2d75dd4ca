package state_test

import (
	"testing"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// Backups are kept and restored on older kernels and without /proc too.
func TestLesserKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the tests of this package again, twice: make test-all")
	}
	hosttest.OnLesserKernels(t, "^Test.*(Restore|Backup|Adversary)", "^$")
}
