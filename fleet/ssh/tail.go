package ssh

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the end of the standard error of ssh and the other side.
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

// limit makes the tail call over once it has seen the marker so often.
func (t *tail) limit(marker string, most int, over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marker, t.maxPrompts, t.onLimit = marker, most, over
	t.count = bytes.Count(t.text, []byte(marker))
}

// prompts returns the number of markers.
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

// withHostKey adds the cause to an error of ssh about the key of the host: a login helps if the key
// is unknown, but not if it has changed.
func (t *tail) withHostKey(last string) string {
	if last != "Host key verification failed." {
		return last
	}
	t.mu.Lock()
	text := strings.TrimSpace(string(t.text))
	t.mu.Unlock()
	switch {
	case strings.Contains(text, "HOST IDENTIFICATION HAS CHANGED"):
		return "Host key verification failed: the key differs from the one in known_hosts. Find out why before you trust it (ssh HOST shows details)"
	case strings.Contains(text, " host key is known for "), text == last: // if ssh could ask but has no terminal, it prints no more
		return "Host key verification failed: unknown key. Log in once by hand: ssh HOST"
	}
	return last
}
