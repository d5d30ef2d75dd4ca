package guard

import (
	"html"
	"os"
	"path/filepath"
	"time"
)

// OpenBrowser opens an address with a token in a browser. The argument of open is a file that leads
// to the address and that only the user can read, because all users see the arguments of a process.
// The file is removed when the token has expired, or ended is closed. Without a browser nothing
// happens, as the address was printed.
func OpenBrowser(title, address string, ended <-chan struct{}, open func(file string) error) {
	dir, err := os.MkdirTemp(os.Getenv("XDG_RUNTIME_DIR"), "ccm-open-") // 0700
	if err != nil {
		return
	}
	file := filepath.Join(dir, "open.html")
	page := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>` + html.EscapeString(title) + `</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(address) + `">` +
		`<a href="` + html.EscapeString(address) + `">` + html.EscapeString(title) + `</a>`
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil || open(file) != nil {
		_ = os.RemoveAll(dir) // empty, or without a reader
		return
	}
	go func() {
		select {
		case <-time.After(TokenAge):
		case <-ended:
		}
		_ = os.RemoveAll(dir)
	}()
}
