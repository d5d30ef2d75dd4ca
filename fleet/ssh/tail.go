package ssh

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the end of what ssh and the other side say on standard error.
type tail struct {
	mu         sync.Mutex
	text       []byte
	marker     string
	maxPrompts int
	count      int
	onLimit    func()
}

const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if t.marker != "" {
		n := bytes.Count(t.text, []byte(t.marker))
		if n > t.count {
			t.count = n
		}
		if t.count >= t.maxPrompts && t.onLimit != nil {
			go t.onLimit()
			t.onLimit = nil
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
	t.marker, t.maxPrompts, t.onLimit = marker, most, over
	t.count = bytes.Count(t.text, []byte(marker))
}

// prompts returns how often the marker was said.
func (t *tail) prompts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
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
