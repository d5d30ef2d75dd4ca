package fleet_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/subject"
)

// serve starts ccm fleet serve, and returns the printed address.
func (l *lab) serve(t *testing.T, more ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := l.command(ctx, append([]string{"fleet", "serve"}, more...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// open returns a page of ccm fleet serve as drawn by headless Chromium.
func (l *lab) open(t *testing.T, page string) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CCM_BROWSER") == "required" {
			t.Fatal("there is no chromium")
		}
		t.Skip("there is no chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + t.TempDir(), "--virtual-time-budget=20000"}
	if shot := os.Getenv("CCM_SHOTS"); shot != "" {
		args = append(args, "--window-size=1100,900", "--screenshot="+shot+"/"+strings.ReplaceAll(strings.Trim(page, "/"), "/", "-")+".png")
	}
	args = append(args, "--dump-dom", l.serve(t)+"&to="+url.QueryEscape(page))
	out, err := exec.CommandContext(ctx, chromium, args...).Output()
	require.NoError(t, err)
	return string(out)
}

// tell stores the events of a node's run, as its agent does.
func (l *lab) tell(t *testing.T, n *nodeIdentity, lines string) {
	t.Helper()
	_, err := direct.Publish(t.Context(), l.dial(t, n), subject.Event(n.Environment, n.Name), []byte(lines))
	require.NoError(t, err)
}

func TestServe(t *testing.T) {
	l := newLab(t)
	fewNodes(t, l)
	l.tell(t, l.addNode(t, "web9", "prod"), `{"protocol":"io.choria.ccm.v1.transaction.event","event_id":"e1","timestamp":"2026-11-22T03:10:00Z","type":"file","name":"/etc/<b>motd</b>","outcome":"failed","failed":true,"errors":["<script>document.title='evil'</script>"],"diff":[{"property":"mode","have":"0600","want":"0644"}]}
{"protocol":"io.choria.ccm.v1.session.summary","run_id":"20261122T031000.000000Z-1a2b3c","start_time":"2026-11-22T03:10:00Z","total_resources":3,"stable_resources":2,"failed_resources":1,"interrupted":true}
`)
	first := l.open(t, "/")
	require.Contains(t, first, "<h1>6 nodes</h1>")
	require.Contains(t, first, `href="#/node/web2"`)
	require.Contains(t, first, "bundle_error")
	node := l.open(t, "/node/web9")
	require.Contains(t, node, "20261122T031000.000000Z-1a2b3c")
	began := time.Date(2026, 11, 22, 3, 10, 0, 0, time.UTC).Local().Format(time.DateTime)
	require.Contains(t, node, "<h3>"+began+"  20261122T031000.000000Z-1a2b3c, interrupted</h3>")
	require.Contains(t, node, "/etc/&lt;b&gt;motd&lt;/b&gt;", "what a node says is text")
	require.Contains(t, node, "<title>web9 - ccm fleet</title>")
	require.Contains(t, node, "0644", "the difference")
	failure := l.open(t, "/failure/service%23nginx/exit%20status%201")
	require.Contains(t, failure, "Nodes: 2")
	require.Contains(t, failure, `href="#/node/web3"`)
	require.Contains(t, l.open(t, "/release/prod"), "No release. Make one with")
	require.Contains(t, l.open(t, "/node/web99"), "no such node")
}

// The pages can be read only after opening the printed address, and not by pages of other sites.
func TestServeRefuses(t *testing.T) {
	l := sharedLab(t)
	at, _, _ := strings.Cut(l.serve(t), "#")
	get := func(path string, change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
		require.NoError(t, err)
		if change != nil {
			change(r)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, get("", nil))
	require.Equal(t, http.StatusUnauthorized, get("api/page?page=overview", nil))
	require.Equal(t, http.StatusMisdirectedRequest, get("", func(r *http.Request) { r.Host = "evil.example" }))
	require.Equal(t, http.StatusForbidden, get("api/page", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }))
	require.Equal(t, http.StatusNotFound, get("serve.go", nil))
	_, stderr, status := l.ccm("fleet", "serve", "--listen", "0.0.0.0:0")
	require.NotZero(t, status)
	require.Contains(t, stderr, "is not a loopback address")
}

// Behind a proxy with TLS that keeps the Host of requests, the pages are those of the name that browsers use.
func TestServeBehindProxy(t *testing.T) {
	l := sharedLab(t)
	listen := "127.0.0.1:" + freePort(t)
	keeps := true
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: listen})
		if keeps {
			r.Out.Host = r.In.Host
		}
	}})
	defer proxy.Close()
	address := l.serve(t, "--listen", listen, "--origin", strings.Replace(proxy.URL, "https", "HTTPS", 1)+"/")
	at, token, ok := strings.Cut(address, "/#token=")
	require.True(t, ok)
	require.Equal(t, proxy.URL, at)
	client := proxy.Client()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client.Jar = jar
	do := func(method, path, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
		require.NoError(t, err)
		if method == http.MethodPost {
			r.Header.Set("Origin", at)
			r.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(r)
		require.NoError(t, err)
		res.Body.Close()
		return res
	}
	require.Equal(t, http.StatusUnauthorized, do(http.MethodGet, "/api/page?page=overview", "").StatusCode)
	res := do(http.MethodPost, "/login", `{"token":"`+token+`"}`)
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	require.True(t, res.Cookies()[0].Secure)
	require.Equal(t, http.StatusOK, do(http.MethodGet, "/api/page?page=overview", "").StatusCode)
	keeps = false
	require.Equal(t, http.StatusMisdirectedRequest, do(http.MethodGet, "/api/page?page=overview", "").StatusCode)
	_, stderr, status := l.ccm("fleet", "serve", "--origin", "https://ccm.example.net/ccm")
	require.NotZero(t, status)
	require.Contains(t, stderr, "https://NAME or https://NAME:PORT without a path")
}
