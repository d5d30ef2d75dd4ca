package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const twoResources = "ccm:\n  resources:\n    - exec:\n        - certificate:\n            command: openssl req\n            creates: /etc/web.crt\n    - package:\n        - nginx:\n            ensure: present\n"

// answersAfter delays each answer to the page, as a busy machine does.
func (b *tab) answersAfter(ms int) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const ask = window.asksAtOnce ??= window.fetch;
		window.fetch = async (...a) => { const answer = await ask(...a); await new Promise(r => setTimeout(r, %d)); return answer; };
		return true;
	})()`, ms))
}

// enter writes into a field and leaves it, without waiting.
func (b *tab) enter(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.keys("Ctrl+a")
	b.write(text)
	b.keys("Tab")
}

// has fails unless the text of the file contains all of these.
func (b *tab) has(want ...string) {
	b.t.Helper()
	text := b.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.t.Errorf("the text lacks %s:\n%s", w, text)
		}
	}
}

// TestTypedAtOnce types into a field as soon as it exists, before it is painted.
func TestTypedAtOnce(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": twoResources})
	b := newPage(t, s)
	eval[bool](b, `(() => {
		new MutationObserver((_, seen) => {
			const field = document.querySelector("#f-umask");
			if (!field) return;
			seen.disconnect();
			field.focus();
			document.execCommand("insertText", false, "077");
		}).observe(document.querySelector(".form"), { childList: true, subtree: true });
		document.querySelector(".more").click();
		return true;
	})()`)
	b.until(`document.activeElement.id === "f-umask"`)
	b.keys("Tab")
	b.has(`umask: "077"`)
	b.quiet()
}

// TestTypingAhead edits several fields before the first answer, in a slow browser.
func TestTypingAhead(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": twoResources})
	b := newPage(t, s)
	b.slow(6)
	b.answersAfter(700)
	b.enter("#f-name", "key")
	b.enter("#f-command", "openssl genrsa")
	b.enter("#f-creates", "/etc/web.key")
	b.click(".more")
	b.click("#f-umask")
	b.write("077")
	b.drag(".row.now .knob", ".row|nginx", 0) // without leaving the field
	b.click("dialog .main")
	b.until(`!document.querySelector("dialog[open]")`)
	b.has("- key:", "command: openssl genrsa", "creates: /etc/web.key", `umask: "077"`, "require: [package#nginx]")
	same(t, "resources", "exec#key package#nginx", b.ids())

	// typing goes on in a field after it was applied
	b.click("#f-creates")
	b.keys("Ctrl+a")
	b.write("/etc/a")
	b.keys("Enter")
	b.write("b")
	b.keys("Enter")
	b.write("c")
	b.keys("Tab")
	b.has("creates: /etc/abc")

	// each item of a list is added to the ones before
	b.enter("#f-environment", "A=1")
	b.click("[data-property=environment] button|add")
	b.write("B=2")
	b.keys("Enter")
	b.has("environment: [A=1, B=2]")
	b.quiet()
}

// TestQuickClicks clicks faster than the studio answers.
func TestQuickClicks(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources:\n    - file:\n        - /etc/motd:\n            owner: root\n            group: root\n            mode: \"0000\"\n    - package:\n        - nginx:\n            ensure: present\n        - curl:\n            ensure: present\n"})
	b := newPage(t, s)
	b.answersAfter(500)
	for _, what := range []string{"owner may read", "owner may write", "group may read", "others may read"} {
		b.click(fmt.Sprintf(`[aria-label=%q]`, what))
	}
	b.has(`mode: "0644"`)

	// a row is clicked while the edit of the field before is pending
	b.click("#f-owner")
	b.keys("Ctrl+a")
	b.write("daemon")
	b.click(".row|nginx")
	b.has("owner: daemon")
	if name := eval[string](b, `window.studio.store.current.value.name`); name != "nginx" {
		t.Errorf("the answer chose %s again", name)
	}

	// keys of the list: each works on the result of the one before
	b.click(".row|motd")
	b.click(".row.now")
	b.keys("Alt+ArrowDown", "Alt+ArrowDown")
	same(t, "resources", "package#nginx package#curl file#/etc/motd", b.ids())
	b.keys("Home")
	b.keys("Delete", "Delete")
	same(t, "resources", "file#/etc/motd", b.ids())
	b.quiet()
}

// TestFormBeginsAtName: the form of another resource starts at its name, wherever the last form was scrolled; a
// filter without matches says so, with a way to clear it.
func TestFormBeginsAtName(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources:\n    - exec:\n        - a:\n            command: date\n    - service:\n        - nginx:\n            enable: true\n"})
	b := newPage(t, s)
	b.click(".row|date")
	b.click(".form .more")
	b.until(`(e => { e.scrollTop = 1e6; return e.scrollTop > 100; })(document.querySelector(".form > .scroll"))`)
	b.click(".row|nginx")
	b.until(`document.querySelector("#f-name").value === "nginx" && document.querySelector(".form > .scroll").scrollTop === 0`)

	b.click("#filter")
	b.write("nothing like this")
	b.until(`document.querySelector(".list .empty")?.textContent.includes("Nothing matches")`)
	b.click(".list .empty .link")
	b.until(`document.querySelectorAll(".row").length === 2 && document.querySelector("#filter").value === ""`)
	b.quiet()
}

// TestPressedButton: the element under a pressed mouse button stays the same when an answer arrives before the
// release.
func TestPressedButton(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources:\n    - exec:\n        - first:\n            command: /bin/true\n"})
	b := newPage(t, s)
	b.click("#f-name")
	b.keys("Ctrl+a")
	b.write(strings.Repeat("long ", 60))
	x, y := b.point(`[data-property=refreshonly] [role=radio]|yes`)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, func(p *input.DispatchMouseEventParams) { p.Button = input.MouseButtonNone })
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	b.until(`window.studio.store.waiting.value > 0`)
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`new Promise(r => setTimeout(() => r(true), 300))`, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatal(err)
	}
	if eval[int](b, `window.studio.store.waiting.value`) != 1 {
		t.Error("the page changes while the button is held")
	}
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
	b.has("refreshonly: true", "long long")
	b.quiet()
}

// TestReloadWithEdits: after a reload the pending edits and the text in a field are still there.
func TestReloadWithEdits(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": twoResources})
	b := newPage(t, s)
	eval[bool](b, `(window.fetch = () => new Promise(() => {}), true)`) // no request is answered
	b.enter("#f-command", "/bin/one")
	b.enter("#f-creates", "/etc/two")
	b.click(".more")
	b.click("#f-cwd")
	b.write("/srv")
	eval[bool](b, `(location.reload(), true)`)
	b.until(`!!window.studio?.ready && window.studio.store.serverText().includes("cwd: /srv")`)
	b.has("command: /bin/one", "creates: /etc/two", "cwd: /srv")
}
