package studio

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/studio/guard"
)

//go:embed web/*.html web/*.css web/*.js web/vendor
var web embed.FS

// contentTypes are the content types of the page's files.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".png": "image/png",
}

// serveStatic answers with a file of the page. Vendored files are kept compressed.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	kind := contentTypes[path.Ext(name)]
	if kind == "" {
		fail(w, http.StatusNotFound, Failure{Error: diag.NotFound("page", "", nil).Error()})
		return
	}
	text, err := web.ReadFile("web" + name)
	if name == "/part.css" { // colors and parts are those of reports
		text, err = []byte(part.Style()), nil
	}
	if err != nil {
		packed, err := web.ReadFile("web" + name + ".gz")
		if err != nil {
			fail(w, http.StatusNotFound, Failure{Error: diag.NotFound("page", "", nil).Error()})
			return
		}
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			text = packed
		} else if text, err = unpacked(packed); err != nil {
			fail(w, http.StatusInternalServerError, Failure{Error: err.Error()})
			return
		}
	}
	if name == "/index.html" {
		text = bytes.ReplaceAll(text, []byte("{{nonce}}"), []byte(guard.Nonce(r.Context())))
		text = bytes.ReplaceAll(text, []byte("{{modules}}"), modulePreloads())
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the browser went away
}

// modulePreloads returns links that make the browser fetch all modules at once, rather than find
// them level by level (HTML Living Standard, link type modulepreload).
var modulePreloads = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	for _, pattern := range []string{"web/*.js", "web/vendor/*.js.gz"} {
		names, _ := fs.Glob(web, pattern) // the patterns are well formed
		for _, name := range names {
			fmt.Fprintf(&b, "<link rel=\"modulepreload\" href=\"%s\">\n", strings.TrimSuffix(strings.TrimPrefix(name, "web"), ".gz"))
		}
	}
	return bytes.TrimSpace(b.Bytes())
})

// unpacked returns the content of gzip data.
func unpacked(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
