// Package browser tests in headless Chromium the pages that ccm makes.
//
// Without Chromium the tests are skipped, unless CCM_BROWSER=required. CCM=FILE is tested instead of a ccm that is built
// here. CCM_SHOTS=DIR saves screenshots in DIR.
// CCM_SLOW=6 slows the browser's processor 6 times, which makes tests fail that wait wrongly.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ccm is the tested binary, built once.
var ccm = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("CCM"); bin != "" { // an existing binary
		return bin, nil
	}
	dir, err := os.MkdirTemp("", "ccm-browser-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "ccm")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/ccm")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	if bin, err := ccm(); err == nil && os.Getenv("CCM") == "" {
		_ = os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// findChromium returns the path of Chromium; without Chromium the test is skipped.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CCM_BROWSER") == "required" {
		t.Fatal("there is no chromium")
	}
	t.Skip("there is no chromium")
	return ""
}

// nightly skips the test in the short form (make browser-short). docs/testing.md has the reason for each.
func nightly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make browser runs it")
	}
}

// A tab is a tab of the browser with its errors and requests.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // console messages and exceptions
	requests []string // URLs
}

// browser is the browser of all tests, as a context for chromedp. endBrowser ends it.
var (
	browser    context.Context
	browserMu  sync.Mutex
	endBrowser = func() {}
)

// startBrowser starts the browser before its first tab.
func startBrowser(t *testing.T) {
	t.Helper()
	path := findChromium(t)
	browserMu.Lock()
	defer browserMu.Unlock()
	if browser != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		end()
		endAllocator()
		t.Fatal(err)
	}
	browser, endBrowser = ctx, func() { end(); endAllocator() }
}

// newTab opens a tab that shares neither cookies nor storage with those of other tests. It behaves as the tab that
// has the focus, although tests run in parallel.
func newTab(t *testing.T) *tab {
	t.Helper()
	startBrowser(t)
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 15*time.Minute) // ends only what hangs
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.focus()
	b.size(1400, 1000)
	b.call(func() error { _, err := chromedp.Call(ctx, runtime.Enable, cdp.Empty{}); return err })
	b.call(func() error { _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); return err })
	b.call(func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err })
	if rate, err := strconv.ParseFloat(os.Getenv("CCM_SLOW"), 64); err == nil {
		b.slow(rate)
	}
	chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			b.problems = append(b.problems, fmt.Sprintf("console: %v", e.Args))
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
		case *log.EventEntryAdded:
			b.problems = append(b.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	return b
}

func (b *tab) call(f func() error) {
	b.t.Helper()
	if err := f(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.call(func() error { return chromedp.Do(b.ctx, steps...) })
}

// focus makes the page believe that it has the focus, whatever other tabs do.
func (b *tab) focus() {
	b.t.Helper()
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
}

// size sets the size of the window, in CSS pixels.
func (b *tab) size(width, height int64) { b.t.Helper(); b.do(chromedp.EmulateViewport(width, height)) }

// open opens a file.
func (b *tab) open(path string) { b.t.Helper(); b.do(chromedp.Navigate("file://" + path)) }

// eval returns the value of an expression in JavaScript.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// press presses a key as people do: if the page handles it, it is not typed.
func (b *tab) press(key string) {
	b.t.Helper()
	for _, p := range []input.DispatchKeyEventParams{{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key}, {Type: input.DispatchKeyEventTypeKeyUp, Key: key}} {
		b.call(func() error { _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); return err })
	}
}

// until waits for a condition in JavaScript, long enough for a slow machine.
func (b *tab) until(js string) {
	b.t.Helper()
	for range 2400 { // two minutes
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](js))
		if err != nil && !strings.Contains(err.Error(), "navigated or closed") { // a page that navigates is asked again
			b.t.Fatalf("%s: %v", js, err)
		}
		if is {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("it does not come to %s", js)
}

// slow slows the processor of the browser down by a factor.
func (b *tab) slow(rate float64) {
	b.t.Helper()
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: rate})
		return err
	})
}

// dark turns the preference for dark pages on or off.
func (b *tab) dark(on bool) {
	b.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[on]
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

// withoutJavaScript turns scripts off in pages that are opened from now on.
func (b *tab) withoutJavaScript() {
	b.t.Helper()
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// shoot saves a screenshot.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("CCM_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// wider is the number of pixels by which a page is wider than the window.
const wider = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

// fits fails if the page is wider than the window.
func (b *tab) fits() {
	b.t.Helper()
	if over := eval[int](b, wider); over > 0 {
		b.t.Errorf("the page is %d pixels too wide", over)
	}
}

// clean fails if anything but files was loaded, or if the console has messages.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("in the browser: %s", p)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file://") {
			b.t.Errorf("the page requires %s", url)
		}
	}
}
