package studio

import (
	"html"
	"os"
	"path/filepath"
	"time"
)

// OpenBrowser opens an address of Address in a browser. What is given to open is a file that
// leads there, which only the user can read: the arguments of a process are seen by all users.
// Without a browser nothing happens, as the address was printed.
func (s *Server) OpenBrowser(address string, open func(file string) error) {
	dir, err := os.MkdirTemp(os.Getenv("XDG_RUNTIME_DIR"), "ccm-studio-") // 0700
	if err != nil {
		return
	}
	file := filepath.Join(dir, "open.html")
	page := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>ccm studio</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(address) + `">` +
		`<a href="` + html.EscapeString(address) + `">ccm studio</a>`
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil || open(file) != nil {
		_ = os.RemoveAll(dir) // it is empty, or nobody reads it
		return
	}
	go func() {
		select {
		case <-time.After(tokenAge):
		case <-s.ended:
		}
		_ = os.RemoveAll(dir)
	}()
}
