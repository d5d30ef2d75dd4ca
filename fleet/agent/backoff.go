package agent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// A backoff is how long it is waited after a failure: twice as long each time, half of it by
// chance, so that machines that failed together do not come back together.
type backoff struct {
	least, most time.Duration
	now         time.Duration
}

func (b *backoff) next(random func() float64) time.Duration {
	b.now = min(max(b.least, 2*b.now), b.most)
	return b.now/2 + time.Duration(random()*float64(b.now)/2)
}

func (b *backoff) reset() { b.now = 0 }

// sleep waits, and reports whether the context has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// spread returns a part of a time that is always the same for a node, and spread evenly over nodes.
func spread(node string, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte("ccm agent\x00" + node))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(d))
}

// message returns an error in one line.
func message(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
