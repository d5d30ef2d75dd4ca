package host_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/trust"
)

// trickle is a response that comes in parts with pauses between them.
type trickle struct {
	pause time.Duration
	size  int // size of a part
	parts int
}

// RoundTrip implements http.RoundTripper.
func (x trickle) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(&trickleBody{x, r.Context()})}, nil
}

type trickleBody struct {
	trickle
	ctx context.Context
}

func (x *trickleBody) Read(p []byte) (int, error) {
	if x.parts == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(x.pause):
	case <-x.ctx.Done():
		return 0, x.ctx.Err()
	}
	x.parts--
	return copy(p, strings.Repeat("x", x.size)), nil
}

// A server that sends single bytes with long pauses is given up.
func TestDownloadNextToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		h := host.New(host.Options{Root: root, Transport: trickle{30 * time.Millisecond, 1, 1e6}})
		d := fetch.Request{URL: parse(t, "http://example.com/app.tar.gz"), Stall: time.Second}
		err := h.Download(t.Context(), "/app.tar.gz", me(), d)
		require.ErrorContains(t, err, "timed out: only 33 B received for 1s")
		require.Empty(t, hosttest.Snapshot(t, root))
		_, err = h.Fetch(t.Context(), d, 1<<20)
		require.ErrorContains(t, err, "timed out: only 33 B received for 1s")
	})
}

// A slow download that goes on is not ended: the limit is on pauses.
func TestDownloadSlowIsNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		h := host.New(host.Options{Root: root, Transport: trickle{399 * time.Millisecond, 50, 20}})
		require.NoError(t, h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: parse(t, "http://example.com/app.tar.gz"), Stall: 400 * time.Millisecond}))
		b, err := os.ReadFile(root + "/app.tar.gz")
		require.NoError(t, err)
		require.Len(t, b, 1000)
	})
}

// The header of a response must come within the limit.
func TestDownloadSlowHead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
					return
				}
				for _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "); err == nil; _, err = io.WriteString(c, "x") {
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
	}()
	h, _ := hosttest.New(t, nil)
	err = h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: &url.URL{Scheme: "http", Host: l.Addr().String()}, Stall: 300 * time.Millisecond})
	require.ErrorContains(t, err, "timed out: nothing received for 300ms")
}

func TestDownloadTooLarge(t *testing.T) {
	sent := 0
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("said") {
			w.Header().Set("Content-Length", "5000000000000")
		}
		part := strings.Repeat("x", 64<<10)
		for {
			n, err := io.WriteString(w, part)
			if sent += n; err != nil {
				return
			}
		}
	})
	h, root := hosttest.New(t, nil)
	err := h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u, MaxBytes: 1 << 20})
	require.ErrorContains(t, err, "response exceeds the limit of 1.0 MiB")
	u.RawQuery = "said"
	err = h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u})
	require.ErrorContains(t, err, "response of 4.5 TiB exceeds the limit of 10.0 GiB")
	err = h.Download(t.Context(), "/app.tar.gz", me(), fetch.Request{URL: u, MaxBytes: 1 << 60})
	require.ErrorContains(t, err, "no space for 4.5 TiB")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Empty(t, hosttest.Snapshot(t, root))
	require.Less(t, sent, 100<<20, "it went on reading")
}

// A caller that waits for a slow source returns when its own context ends.
func TestSourceEndsWithContext(t *testing.T) {
	began := make(chan struct{}, 10)
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		began <- struct{}{}
		<-r.Context().Done()
	})
	h, _ := hosttest.New(t, nil)
	slow, end := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := h.Sources().Open(slow, u.String())
		first <- err
	}()
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := h.Sources().Open(ctx, u.String()) // waits for the first caller
	require.ErrorIs(t, err, context.DeadlineExceeded)
	end()
	require.ErrorIs(t, <-first, context.Canceled)
}

// Files of the kernel can be read, unless their reads block; anything else that is not a regular file is refused.
func TestReadWaitsForNothing(t *testing.T) {
	h := host.New(host.Options{})
	for _, name := range []string{"/proc/cpuinfo", "/proc/self/status", "/proc/mounts", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/class/net/lo/address"} {
		want, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		for how, read := range readers(t, h) {
			got, err := read(name)
			require.NoError(t, err, "%s of %s", how, name)
			require.NotEmpty(t, got, "%s of %s", how, name)
			require.Equal(t, string(want[:5]), got[:5], "%s of %s", how, name)
		}
	}
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	for _, name := range []string{pipe, socket, "/dev/zero", "/dev/tty", "/dev/null", "/dev/random", dir} {
		for how, read := range readers(t, h) {
			_, err := read(name)
			require.Error(t, err, "%s of %s", how, name)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	done := make(chan error, 1)
	go func() { _, err := h.ReadUpTo("/proc/kmsg", 64<<20); done <- err }()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "read /proc/kmsg: ")
	case <-time.After(time.Minute):
		t.Fatal("/proc/kmsg does not end")
	}
}

// readers are all ways to read a file that a user has named.
func readers(t *testing.T, h *host.Host) map[string]func(name string) (string, error) {
	return map[string]func(name string) (string, error){
		"ReadUpTo": func(name string) (string, error) { b, err := h.ReadUpTo(name, 64<<20); return string(b), err },
		"ReadFile": func(name string) (string, error) { b, err := h.ReadFile(name); return string(b), err },
		"Trust": func(name string) (string, error) {
			b, err := (*trust.Policy)(nil).ReadFile(t.Context(), name)
			return string(b), err
		},
		"OpenSource": func(name string) (string, error) {
			src, err := h.Sources().Open(t.Context(), name)
			if err != nil {
				return "", err
			}
			defer src.Close()
			b, err := io.ReadAll(src)
			return string(b), err
		},
	}
}

// An inherited pipe is read until its end or the end of the context.
func TestReadOpenedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := fmt.Errorf("stopped")
	done := make(chan error)
	go func() { _, err := (*trust.Policy)(nil).ReadFile(ctx, name); done <- err }()
	cancel(stopped)
	require.ErrorIs(t, <-done, stopped)
	r2, w2, err := os.Pipe()
	require.NoError(t, err)
	defer r2.Close()
	_, err = io.WriteString(w2, "print(1)")
	require.NoError(t, err)
	w2.Close()
	w.Close()
	text, err := (*trust.Policy)(nil).ReadFile(t.Context(), fmt.Sprintf("/dev/fd/%d", r2.Fd()))
	require.NoError(t, err)
	require.Equal(t, "print(1)", string(text))
}

// A copy of a sparse file is sparse, and has the same content.
func TestSparseSource(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	const size = 256 << 20
	dir := t.TempDir()
	source := filepath.Join(dir, "disk.img")
	f, err := os.Create(source)
	require.NoError(t, err)
	for _, at := range []int64{0, 100 << 20, size - 4} {
		_, err = f.WriteAt([]byte("data"), at)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	if blocks(t, source) > 1<<20 {
		t.Skip("the file system of temporary files has no holes")
	}
	h := host.New(host.Options{})
	src, err := h.Sources().OpenSummed(t.Context(), source, "")
	require.NoError(t, err)
	require.NoError(t, h.WriteFile(dir+"/copy", src, me()))
	require.NoError(t, src.Close())
	require.Less(t, blocks(t, dir+"/copy"), int64(1<<20))
	same, err := h.Sources().Matches(t.Context(), dir+"/copy", source)
	require.NoError(t, err)
	require.True(t, same)
	sum, err := h.Sum(t.Context(), dir+"/copy")
	require.NoError(t, err)
	g, err := h.Sources().Sum(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, g, sum)

	// A file of zeros without holes gets none.
	require.NoError(t, os.WriteFile(source, make([]byte, 4<<20), 0o600))
	src, err = h.Sources().OpenSummed(t.Context(), source, "")
	require.NoError(t, err)
	require.NoError(t, h.WriteFile(dir+"/copy", src, me()))
	require.NoError(t, src.Close())
	require.GreaterOrEqual(t, blocks(t, dir+"/copy"), blocks(t, source)) // 0 on file systems that compress zeros
	b, err := os.ReadFile(dir + "/copy")
	require.NoError(t, err)
	require.Equal(t, sha256.Sum256(make([]byte, 4<<20)), sha256.Sum256(b))
}

// blocks returns the disk space of a file in bytes.
func blocks(t *testing.T, name string) int64 {
	var st syscall.Stat_t
	require.NoError(t, syscall.Stat(name, &st))
	return st.Blocks * 512
}

// Credentials are sent to one server only: not to another port, name or address of the same machine.
func TestRedirectElsewhere(t *testing.T) {
	type seen struct{ auth, header, cookie string }
	got := make(chan seen, 10)
	target := func(w http.ResponseWriter, r *http.Request) {
		got <- seen{r.Header.Get("Authorization"), r.Header.Get("X-Token"), r.Header.Get("Cookie")}
		fmt.Fprint(w, "content")
	}
	for _, at := range []string{"127.0.0.1:0", "127.0.0.2:0"} {
		l, err := net.Listen("tcp", at)
		require.NoError(t, err)
		other := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(target)}}
		other.Start()
		t.Cleanup(other.Close)
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		places := []string{other.URL}
		if at == "127.0.0.1:0" {
			places = append(places, "http://localhost:"+port)
		}
		for _, place := range places {
			for _, status := range []int{301, 302, 303, 307, 308} {
				u := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, place+"/x", status) })
				h, _ := hosttest.New(t, nil)
				d := fetch.Request{URL: u, Username: "user", Password: "p4ssw0rd", Header: map[string]string{"X-Token": "t0ken", "Cookie": "a=b", "Authorization": "Bearer b"}}
				require.NoError(t, h.Download(t.Context(), "/f", me(), d))
				require.Equal(t, seen{}, <-got, "%d to %s", status, place)
				_, err := h.Fetch(t.Context(), d, 100) // as http.get does
				require.NoError(t, err)
				require.Equal(t, seen{}, <-got, "http.get, %d to %s", status, place)
			}
		}
	}
}
