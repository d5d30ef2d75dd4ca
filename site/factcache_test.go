package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

type factClock struct{ host.RealClock }

var factTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (factClock) Now() time.Time { return factTime }

// TestCachedFact: an answer is kept for its time and until the next boot. Failures and other roots are not kept, and a
// file that somebody else could have written is not used.
func TestCachedFact(t *testing.T) {
	if _, err := os.Stat("/proc/sys/kernel/random/boot_id"); err != nil {
		t.Skip("no boot ID")
	}
	dir := filepath.Join(t.TempDir(), "facts")
	file := filepath.Join(dir, "instance.json")
	asked, failing := 0, false
	want := map[string]any{"id": "i-1", "tags": map[string]any{"role": "web"}}
	gatherer := facts.Gatherer{Name: "instance", CacheTime: time.Hour, Gather: func(context.Context, *host.View) (any, error) {
		if asked++; failing {
			return nil, errors.New("no answer")
		}
		return want, nil
	}}
	ask := func(after time.Duration, root string) error {
		t.Helper()
		defer func(before time.Time) { factTime = before }(factTime)
		factTime = factTime.Add(after)
		p := &Process{Clock: factClock{}}
		p.NewHost = host.New
		got, err := p.cachedFact(gatherer, dir)(t.Context(), &host.New(host.Options{Root: root}).View)
		if err == nil {
			require.Equal(t, want, got)
		}
		return err
	}
	failing = true
	require.Error(t, ask(0, "/"))
	failing = false
	require.NoError(t, ask(0, "/"))
	require.Equal(t, 2, asked, "a failure is not kept")
	require.NoError(t, ask(time.Minute, "/"))
	require.NoError(t, ask(time.Hour, "/"))
	require.Equal(t, 2, asked)
	require.NoError(t, ask(0, t.TempDir()))
	require.Equal(t, 3, asked, "another root")
	require.NoError(t, ask(-time.Minute, "/"))
	require.Equal(t, 4, asked, "an answer of the future")

	for what, change := range map[string]func(text string){
		"too old":      func(string) {},
		"another boot": func(text string) { write(t, file, strings.Replace(text, `"boot":"`, `"boot":"x`, 1), 0o600) },
		"damaged":      func(text string) { write(t, file, text[:10], 0o600) },
		"writable":     func(text string) { write(t, file, text, 0o666) },
		"a link": func(text string) {
			write(t, dir+"/other", text, 0o600)
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Symlink("other", file))
		},
	} {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, ask(0, "/"))
		asked = 0
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		change(string(text))
		after := time.Duration(0)
		if what == "too old" {
			after = time.Hour + time.Second
		}
		require.NoError(t, ask(after, "/"))
		require.Equal(t, 1, asked, what)
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), mode))
	require.NoError(t, os.Chmod(file, mode))
}
