package host_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

func TestReadUpTo(t *testing.T) {
	h, root := hosttest.New(t, nil)
	require.NoError(t, os.WriteFile(root+"/file", []byte("12345"), 0o644))
	require.NoError(t, os.Symlink("/file", root+"/link"))
	require.NoError(t, syscall.Mkfifo(root+"/pipe", 0o600))
	for name, want := range map[string]string{"/file": "12345", "/link": "12345"} {
		b, err := h.ReadUpTo(name, 5)
		require.NoError(t, err, name)
		require.Equal(t, want, string(b))
	}
	_, err := h.ReadUpTo("/file", 4)
	require.ErrorContains(t, err, "expected a file of at most 4 B, found one of 5 B")
	_, err = h.ReadUpTo("/pipe", 5) // without waiting for a writer
	require.ErrorContains(t, err, "expected a file, found a device, socket or pipe")
	_, err = h.ReadUpTo("/", 5)
	require.ErrorContains(t, err, "expected a file, found a directory")
	_, err = h.ReadUpTo("/nothing", 5)
	require.ErrorIs(t, err, os.ErrNotExist)
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestFetch(t *testing.T) {
	h := host.New(host.Options{Transport: transport(func(r *http.Request) (*http.Response, error) {
		size := int64(5)
		if r.URL.Path == "/chunked" {
			size = -1
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("12345")), ContentLength: size, Header: http.Header{}}, nil
	})})
	get := func(where string, limit int64) (string, error) {
		u, err := url.Parse(where)
		require.NoError(t, err)
		b, err := h.Fetch(context.Background(), fetch.Request{URL: u}, limit)
		return string(b), err
	}
	for _, path := range []string{"/", "/chunked"} {
		text, err := get("http://example.test"+path, 5)
		require.NoError(t, err)
		require.Equal(t, "12345", text)
	}
	_, err := get("http://user:secret@example.test/?token", 4)
	require.EqualError(t, err, "GET http://xxxxx@example.test/?xxxxx: response of 5 B exceeds the limit of 4 B")
	_, err = get("http://example.test/chunked", 4)
	require.EqualError(t, err, "GET http://example.test/chunked: response exceeds the limit of 4 B")
}
