package site

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOverdue: an evaluation that goes far beyond its limits ends the process.
func TestOverdue(t *testing.T) {
	reasons := make(chan error, 2)
	p := &Process{Overdue: func(reason error) { reasons <- reason }}
	stop := p.watchOverdue(&Options{EvalTimeout: time.Millisecond - overdueTime})
	require.EqualError(t, <-reasons, "evaluation did not end 10s after its time limit")
	stop()

	stop = p.watchOverdue(&Options{EvalMemory: 1 << 20})
	taken := make([]byte, 64<<20)
	require.EqualError(t, <-reasons, "evaluation exceeded the memory limit of 4.0 MiB")
	runtime.KeepAlive(taken)
	stop()
}
