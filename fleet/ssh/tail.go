package ssh

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the end of what ssh and the other side say on standard error.
type tail struct {
	mu     sync.Mutex
	text   []byte
	marker string
	most   int
	seen   int
	over   func()
}

const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if t.marker != "" {
		n := bytes.Count(t.text, []byte(t.marker))
		if n > t.seen {
			t.seen = n
		}
		if t.seen >= t.most && t.over != nil {
			go t.over()
			t.over = nil
		}
	}
	if len(t.text) > tailSize {
		t.text = append([]byte(nil), t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// limit has over called once the marker has been said so often.
func (t *tail) limit(marker string, most int, over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marker, t.most, t.over = marker, most, over
	t.seen = bytes.Count(t.text, []byte(marker))
}

// prompts returns how often the marker was said.
func (t *tail) prompts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// last returns the last line that is not empty, without the marker.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.ReplaceAll(string(t.text), promptMarker, ""), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}
