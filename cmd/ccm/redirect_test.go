package main

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// TestNothingFollowsToHTTP: a server with TLS redirects to one without. Credentials are sent to the first server
// only, never in plain text, with a checksum, with which the redirect is followed, and without.
func TestNothingFollowsToHTTP(t *testing.T) {
	body := hosttest.TarGzip(t, hosttest.File("f", "x"))
	var first, second []http.Header
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		second = append(second, r.Header.Clone())
		_, _ = w.Write(body)
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first = append(first, r.Header.Clone())
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret"})
		http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
	}))
	defer secure.Close()
	dir := t.TempDir()
	authority := filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	headers := `headers = { Authorization = "Bearer " .. env.TOKEN, Cookie = "own=" .. env.TOKEN, ["X-Token"] = env.TOKEN }`
	archive := func(name, more string) string {
		return fmt.Sprintf(`archive { %q, url = %q, owner = "%d", group = "%d", %s }`, filepath.Join(dir, name), secure.URL+"/"+name, os.Getuid(), os.Getgid(), more)
	}
	for name, tt := range map[string]struct {
		site   string
		follow bool
	}{
		"archive, headers":           {archive("a.tar.gz", headers+`, checksum = "`+sha256sum.Bytes(body)+`"`), true},
		"archive, user and password": {archive("b.tar.gz", `username = "ada", password = env.TOKEN, checksum = "`+sha256sum.Bytes(body)+`"`), true},
		"archive without a checksum": {archive("c.tar.gz", headers), false},
		"http.get, headers":          {fmt.Sprintf(`http.get(%q, { %s })`, secure.URL+"/x", headers), false},
	} {
		t.Run(name, func(t *testing.T) {
			first, second = nil, nil
			cmd := exec.Command("ccm", "run", "--state-dir", filepath.Join(dir, "state"), siteFile(t, "lua", tt.site))
			cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+authority, "no_proxy=*", "TOKEN=s3cret")
			out, err := cmd.CombinedOutput()
			require.NotEmpty(t, first, "%s", out)
			require.NotEmpty(t, first[0].Get("Authorization"))
			require.NotContains(t, string(out), "s3cret")
			if tt.follow {
				require.NoError(t, err, "%s", out)
				require.Len(t, second, 1)
			} else {
				require.Error(t, err)
				require.Contains(t, string(out), "redirect from https to http://")
			}
			for _, h := range second {
				h.Del("User-Agent")
				h.Del("Accept-Encoding")
				require.Empty(t, h)
			}
		})
	}
}
