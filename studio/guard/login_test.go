package guard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLogin: a token is valid once and for two minutes, and ten wrong ones end it.
func TestLogin(t *testing.T) {
	now := time.Now()
	l := NewLogin("ccm studio", "127.0.0.1:41873", func() time.Time { return now })
	login := func(token string) int {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequest("POST", "/login", strings.NewReader(`{"token":"`+token+`"}`)))
		if w.Code == http.StatusNoContent {
			c := w.Header().Get("Set-Cookie")
			require.Regexp(t, `^ccm-studio-41873=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict$`, c)
			require.NotContains(t, c, token)
		}
		return w.Code
	}
	first := l.Issue()
	require.Equal(t, 401, login(""))
	require.Equal(t, 401, login(first[:63]))
	require.Equal(t, 204, login(first))
	require.Equal(t, 401, login(first), "used")
	second := l.Issue()
	third := l.Issue()
	require.Equal(t, 401, login(second), "replaced")
	require.Equal(t, 204, login(third))
	late := l.Issue()
	now = now.Add(TokenAge + time.Second)
	require.Equal(t, 401, login(late))
	last := l.Issue()
	for range maxWrong {
		require.Equal(t, 401, login("wrong"))
	}
	require.Equal(t, 401, login(last), "ended")
	require.Equal(t, 204, login(l.Issue()), "Enter in the terminal begins anew")
}

// TestProxy: behind a proxy the page has the host name of the proxy, and no other.
func TestProxy(t *testing.T) {
	l := NewLogin("ccm fleet serve", "127.0.0.1:41873", time.Now)
	g := &Guard{Origin: "https://ccm.example.org", Login: l, Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })}
	ask := func(host, origin string) int {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, 204, ask("ccm.example.org", ""))
	require.Equal(t, 204, ask("ccm.example.org", "https://ccm.example.org"))
	require.Equal(t, 403, ask("ccm.example.org", "http://ccm.example.org"))
	require.Equal(t, 421, ask("127.0.0.1:41873", ""))
}

// TestCheckLoopback: only loopback addresses are accepted.
func TestCheckLoopback(t *testing.T) {
	for _, good := range []string{"127.0.0.1:0", "127.0.0.2:80", "[::1]:0"} {
		require.NoError(t, CheckLoopback(good), good)
	}
	for _, bad := range []string{"0.0.0.0:0", "[::]:0", ":0", "localhost:0", "192.168.1.1:0", "[::ffff:127.0.0.1]:0", "[::1%lo]:0", "127.0.0.1", "", "8.8.8.8:1", "[fe80::1]:1"} {
		require.Error(t, CheckLoopback(bad), bad)
	}
}
