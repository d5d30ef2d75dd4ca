// Package web has the page of ccm studio: HTML, CSS and JavaScript modules, which are served unchanged. Its only Go
// code are these tests.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxSize limits the bytes that the page adds to the binary.
const maxSize = 400 << 10

func TestPageIsSmall(t *testing.T) {
	size := 0
	walk(t, func(name string, b []byte) { size += len(b) })
	require.Greater(t, size, 100<<10, "the page was not found")
	require.LessOrEqual(t, size, maxSize, "the page has grown")
}

func walk(t *testing.T, do func(name string, b []byte)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		b, err := os.ReadFile(name)
		do(name, b)
		return err
	})
	require.NoError(t, err)
}

// TestVendoredFiles: vendored files have the digests that were recorded when they were bundled.
func TestVendoredFiles(t *testing.T) {
	lock, err := os.ReadFile("vendor/vendor.lock")
	require.NoError(t, err)
	seen := map[string]bool{"vendor.lock": true}
	for line := range strings.Lines(string(lock)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case words[0] == "npm":
			require.Regexp(t, `^sha512-[A-Za-z0-9+/]{86}==$`, words[3], "%s has no digest", words[1])
		case words[0] == "file":
			path := "vendor/" + words[1]
			if strings.Contains(words[1], "/") {
				path = "../../" + words[1]
			}
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, words[2], digest(b), "%s is not what make studio-vendor wrote", words[1])
			seen[words[1]] = true
			if len(words) > 3 {
				z, err := gzip.NewReader(bytes.NewReader(b))
				require.NoError(t, err)
				js, err := io.ReadAll(z)
				require.NoError(t, err)
				require.Equal(t, words[3], digest(js), words[1])
			}
		default:
			t.Fatalf("vendor.lock: %s", line)
		}
	}
	entries, err := os.ReadDir("vendor")
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, seen[e.Name()], "%s is not in vendor.lock", e.Name())
	}
}

func digest(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }

// forbidden is code that could turn text into code or markup, or load from another host.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function|DOMParser|srcdoc|\bjavascript:|https?://`)

// handler matches an event handler in HTML; those in templates are functions without quotes.
var handler = regexp.MustCompile(`(?i)\son[a-z]+\s*=\s*["']`)

func TestPageHasNoWayForMarkup(t *testing.T) {
	walk(t, func(name string, b []byte) {
		if strings.HasPrefix(name, "vendor/") {
			return
		}
		require.Empty(t, forbidden.FindString(string(b)), name)
		require.Empty(t, handler.FindString(string(b)), name)
		require.NotContains(t, string(b), " style=\"", "%s: the policy of the page blocks it", name)
	})
}

// TestModulesAreThere: each imported module exists.
func TestModulesAreThere(t *testing.T) {
	imported := regexp.MustCompile(`(?:from|import\()\s*"/([^"]+)"`)
	used := map[string]bool{"app.js": true}
	walk(t, func(name string, b []byte) {
		if strings.HasPrefix(name, "vendor/") || !strings.HasSuffix(name, ".js") {
			return
		}
		for _, m := range imported.FindAllStringSubmatch(string(b), -1) {
			used[m[1]] = true
			_, err := os.Stat(m[1])
			if err != nil {
				_, err = os.Stat(m[1] + ".gz")
			}
			require.NoError(t, err, "%s imports it", name)
		}
	})
	walk(t, func(name string, b []byte) {
		if strings.HasSuffix(name, ".js") {
			require.True(t, used[name], "nothing imports %s", name)
		}
	})
}
