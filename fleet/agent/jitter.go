package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// spread returns a fraction of a time that is fixed for a node, and evenly distributed over
// nodes.
func spread(node string, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte("ccm agent\x00" + node))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(d))
}

// message returns an error as one line.
func message(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
