package studio

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const (
	maxStreams = 8
	// streamBuffer is the most events that wait for a slow page. The stream of a slower page is
	// closed: the page connects again and requests the state.
	streamBuffer = 256
	heartbeat    = 15 * time.Second
	writeTimeout = 30 * time.Second
)

// A hub sends events to all connected pages (server-sent events, HTML Living Standard 9.2).
type hub struct {
	mu      sync.Mutex
	streams map[chan []byte]string // id that the page chose
	closed  bool
}

func newHub() *hub { return &hub{streams: map[chan []byte]string{}} }

// join returns the events of one page, nil if there are too many pages.
func (h *hub) join(client string) chan []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.streams) >= maxStreams {
		return nil
	}
	c := make(chan []byte, streamBuffer)
	h.streams[c] = client
	return c
}

// leave ends the events of one page.
func (h *hub) leave(c chan []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.streams[c]; open {
		delete(h.streams, c)
		close(c)
	}
}

// send sends an event to all pages.
func (h *hub) send(name string, v any) { h.sendOthers("", name, v) }

// sendOthers sends an event to all pages except the one whose request caused it, which gets its own
// answer.
func (h *hub) sendOthers(but, name string, v any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var text []byte
	for c, client := range h.streams {
		if but != "" && client == but {
			continue
		}
		if text == nil {
			text = eventText(name, v)
		}
		select {
		case c <- text:
		default:
			delete(h.streams, c)
			close(c)
		}
	}
}

// close sends a last event to all pages and ends their streams.
func (h *hub) close() {
	h.send("bye", struct{}{})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.streams {
		delete(h.streams, c)
		close(c)
	}
}

// eventText returns an event in the form of the stream. JSON has no line ends.
func eventText(name string, v any) []byte {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\ndata: ")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.WriteString("{}\n")
	}
	b.WriteString("\n")
	return b.Bytes()
}

// serveEvents answers GET /api/events.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	events := s.hub.join(r.URL.Query().Get("client"))
	if events == nil {
		fail(w, http.StatusServiceUnavailable, Failure{Error: "too many pages are open", Hint: "close one", Code: "limit"})
		return
	}
	defer s.hub.leave(events)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	write := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if !write(eventText("hello", s.session())) {
		return
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case text, more := <-events:
			if !more || !write(text) {
				return
			}
		case <-tick.C:
			if !write([]byte(": still here\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
