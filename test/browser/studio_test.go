package browser

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// A studio is a running ccm studio with its directory.
type studio struct {
	t      *testing.T
	dir    string
	state  string
	listen string // address with the port, after the first start
	cmd    *exec.Cmd
	url    string
}

var address = regexp.MustCompile(`http://[0-9.:\[\]]+/#token=[\w-]+`)

// newStudio writes files to a directory and starts ccm studio for it. The test runs in parallel with others.
func newStudio(t *testing.T, files map[string]string) *studio {
	t.Helper()
	t.Parallel()
	s := &studio{t: t, dir: filepath.Join(t.TempDir(), "site"), state: t.TempDir(), listen: "127.0.0.1:0"}
	for name, text := range files {
		s.write(name, text)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *studio) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// environment has a state directory of the test.
func (s *studio) environment() []string {
	return append(os.Environ(), "XDG_STATE_HOME="+s.state, "CCM_STATE_DIR="+filepath.Join(s.state, "ccm"), "NO_COLOR=1")
}

// start starts the program at the same address as before.
func (s *studio) start() {
	s.t.Helper()
	bin, err := ccm()
	if err != nil {
		s.t.Fatal(err)
	}
	args := []string{"studio", "--no-browser", "--listen", s.listen}
	if os.Geteuid() == 0 {
		args = append(args, "--as-root")
	}
	s.cmd = exec.Command(bin, append(args, s.dir)...)
	s.cmd.Env = s.environment()
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stdout = s.cmd.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines, said := bufio.NewScanner(out), ""
	for lines.Scan() {
		said += lines.Text() + "\n"
		if s.url = address.FindString(lines.Text()); s.url != "" {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if s.url == "" {
		s.t.Fatalf("ccm studio printed no address:\n%s", said)
	}
	s.listen = strings.TrimPrefix(strings.SplitN(s.url, "/#", 2)[0], "http://")
}

// kill ends the program as a crash does.
func (s *studio) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// ccm runs a command of ccm in the directory.
func (s *studio) ccm(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("ccm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *studio) command(args ...string) *exec.Cmd {
	s.t.Helper()
	bin, err := ccm()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = s.dir, s.environment()
	return cmd
}

// newPage opens the studio in a tab, and trusts the directory if asked.
func newPage(t *testing.T, s *studio) *tab {
	t.Helper()
	b := newTab(t)
	b.size(1600, 1000)
	b.visit(s)
	return b
}

// visit opens the address that was printed last.
func (b *tab) visit(s *studio) {
	b.t.Helper()
	b.do(chromedp.Navigate(s.url))
	b.until(`!!document.querySelector(".gate .main, .frame")`)
	if eval[bool](b, `!!document.querySelector(".gate .main")`) {
		b.click(".gate .main")
	}
	b.until(`!!document.querySelector(".frame")`)
	b.until(`!!window.studio.ready`)
	b.settled()
}

// settled waits until all edits and requests are answered, checked and painted.
func (b *tab) settled() {
	b.t.Helper()
	b.until(`(s => !s.typing() && s.queued.value === 0 && (!s.doc.value || s.doc.value.checked || !s.session.value.trusted))(window.studio.store)`)
	b.painted()
}

// painted waits until the present state of the page and its consequences are painted.
func (b *tab) painted() {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => r(true)))))`, chromedp.EvalAwaitPromise))
	b.call(func() error { return err })
}

func quote(v any) string { b, _ := json.Marshal(v); return string(b) }

// point returns the centre of the first visible element that matches; after "|" is a text that it must contain.
func (b *tab) point(selector string) (x, y float64) {
	b.t.Helper()
	selector, text, _ := strings.Cut(selector, "|")
	find := fmt.Sprintf(`[...document.querySelectorAll(%s)].find(e => e.getClientRects().length && e.textContent.includes(%s))`, quote(selector), quote(text))
	b.until("!!" + find)
	var at, before []float64
	for range 100 { // while it moves
		before = at
		if at = eval[[]float64](b, `(() => { const e = `+find+`; e.scrollIntoView({block: "nearest"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`); slices.Equal(at, before) {
			break
		}
		b.frames()
	}
	return at[0], at[1]
}

// frames waits until the page was painted twice.
func (b *tab) frames() {
	b.t.Helper()
	const js = `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) mouse(kind input.DispatchMouseEventType, x, y float64, more ...func(*input.DispatchMouseEventParams)) {
	b.t.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1}
	switch kind {
	case input.DispatchMouseEventTypeMouseMoved:
		p.ClickCount = 0
	case input.DispatchMouseEventTypeMousePressed:
		p.Buttons = 1
	}
	for _, f := range more {
		f(&p)
	}
	b.call(func() error { _, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, p); return err })
}

// click clicks with the mouse on a visible element.
func (b *tab) click(selector string) {
	b.t.Helper()
	x, y := b.point(selector)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, func(p *input.DispatchMouseEventParams) { p.Button = input.MouseButtonNone })
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
}

// drag moves the mouse with its button held.
func (b *tab) drag(from, to string, dy float64) {
	b.t.Helper()
	x, y := b.point(from)
	tx, ty := b.point(to)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, func(p *input.DispatchMouseEventParams) { p.Button = input.MouseButtonNone })
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	held := func(p *input.DispatchMouseEventParams) { p.Buttons = 1 }
	for i := 1; i <= 8; i++ {
		f := float64(i) / 8
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x+(tx-x)*f, y+(ty+dy-y)*f, held)
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(80 * time.Millisecond) // the browser asks the page where it can be dropped
	b.mouse(input.DispatchMouseEventTypeMouseMoved, tx, ty+dy, held)
	time.Sleep(80 * time.Millisecond)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, tx, ty+dy)
	time.Sleep(100 * time.Millisecond)
}

// codes are the browser's numbers of keys.
var codes = map[string]int64{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "Insert": 45, "End": 35, "PageDown": 34, "PageUp": 33, "Delete": 46, "Backspace": 8, "F6": 117, "F8": 119, " ": 32}

// keys presses keys, such as "Ctrl+z", "Alt+ArrowDown", "Enter".
func (b *tab) keys(list ...string) {
	b.t.Helper()
	for _, k := range list {
		var mods int64 // bits of the protocol: Alt 1, Ctrl 2, Shift 8
		for again := true; again; {
			again = false
			for name, m := range map[string]int64{"Ctrl+": 2, "Alt+": 1, "Shift+": 8} {
				if rest, ok := strings.CutPrefix(k, name); ok {
					k, mods, again = rest, mods|m, true
				}
			}
		}
		text := ""
		code := codes[k]
		if len([]rune(k)) == 1 {
			if mods&3 == 0 {
				text = k
			}
			if code == 0 {
				code = int64(strings.ToUpper(k)[0])
			}
		}
		if k == "Enter" {
			text = "\r"
		}
		kind := input.DispatchKeyEventTypeKeyDown
		if text == "" {
			kind = input.DispatchKeyEventTypeRawKeyDown
		}
		p := input.DispatchKeyEventParams{Type: kind, Key: k, Text: text, Modifiers: mods, WindowsVirtualKeyCode: code}
		if mods == 2 {
			if command := map[string]string{"c": "Copy", "x": "Cut", "v": "Paste", "a": "SelectAll"}[k]; command != "" {
				p.Commands = []string{command}
			}
		}
		b.call(func() error { _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); return err })
		p.Type, p.Text, p.Commands = input.DispatchKeyEventTypeKeyUp, "", nil
		b.call(func() error { _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); return err })
	}
}

// write types a text at the focus.
func (b *tab) write(text string) {
	b.t.Helper()
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// fill replaces the text of a field, and leaves it with Tab.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.keys("Ctrl+a")
	if text == "" {
		b.keys("Delete")
	}
	b.write(text)
	b.keys("Tab")
	b.settled()
}

// text returns the text of the open file on the server.
func (b *tab) text() string {
	b.t.Helper()
	b.settled()
	return eval[string](b, `window.studio.store.serverText()`)
}

// ids returns the IDs of the resources in order.
func (b *tab) ids() string {
	b.t.Helper()
	b.settled()
	return eval[string](b, `window.studio.store.resources.value.map(r => r.id).join(" ")`)
}

func (b *tab) mistakes() string {
	b.t.Helper()
	b.settled()
	return eval[string](b, `window.studio.store.doc.value.mistakes.map(m => m.message).join("; ")`)
}

func same(t *testing.T, what, want, have string) {
	t.Helper()
	if want != have {
		t.Fatalf("%s: want\n%s\nhave\n%s", what, want, have)
	}
}

// axe checks the accessibility of the page (WCAG 2.1 A and AA).
func (b *tab) axe(state string) {
	b.t.Helper()
	if !eval[bool](b, `!!window.axe`) {
		f, err := os.Open("testdata/axe.min.js.gz")
		if err != nil {
			b.t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			b.t.Fatal(err)
		}
		js, err := io.ReadAll(z)
		if err != nil {
			b.t.Fatal(err)
		}
		eval[bool](b, string(js)+"; true")
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + " " + n.failureSummary.replace(/\s+/g, " ").slice(0, 200)).join(" | ")).join("\n"))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	if found != "" {
		b.t.Errorf("%s: axe finds\n%s", state, found)
	}
}

// hidden returns the buttons and fields that are not wholly inside their bar.
const hidden = `[...document.querySelectorAll(".bar button, .bar input, .bar select, header button")].filter(e => {
	const r = e.getBoundingClientRect(), bar = e.closest(".bar, header").getBoundingClientRect();
	return r.width > 0 && (r.right > bar.right + 1 || r.right > innerWidth);
}).map(e => e.getAttribute("aria-label") || e.textContent || e.id).join(", ")`

// both checks a state of the page in both themes: with axe, and with screenshots in two widths.
func (b *tab) both(name string) {
	b.t.Helper()
	for _, dark := range []bool{false, true} {
		theme := map[bool]string{false: "light", true: "dark"}[dark]
		b.dark(dark)
		for _, width := range []int64{1000, 1600} {
			b.size(width, map[int64]int64{1000: 760, 1600: 1000}[width])
			time.Sleep(80 * time.Millisecond)
			b.shoot(fmt.Sprintf("studio-%s-%d-%s", name, width, theme))
			b.fits()
			if out := eval[string](b, hidden); out != "" {
				b.t.Errorf("%s, %s, %d: cut off at the right: %s", name, theme, width, out)
			}
			b.axe(fmt.Sprintf("%s, %s, %d", name, theme, width))
		}
	}
	b.dark(false)
}

// quiet fails if the console has messages, except those containing one of except.
func (b *tab) quiet(except ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, p := range b.problems {
		for _, e := range except {
			if strings.Contains(p, e) {
				continue next
			}
		}
		b.t.Errorf("in the browser: %s", p)
	}
}

// another opens a second tab of the same browser, with the same session.
func (b *tab) another(s *studio) *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	n := &tab{t: b.t, ctx: ctx}
	n.focus()
	n.size(1600, 1000)
	n.do(chromedp.Navigate("http://" + s.listen + "/"))
	n.until(`!!window.studio?.ready`)
	n.settled()
	return n
}

// awaited returns the result of a promise in JavaScript.
func awaited[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}
