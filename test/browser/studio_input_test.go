package browser

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const motdSite = "# kept\nccm:\n  resources:\n    - file:\n        - /etc/motd:\n            content: hi\n            owner: root\n            group: root\n            mode: \"0644\"\n"

// compose shows text that an input method has not committed yet.
func (b *tab) compose(text string) {
	b.t.Helper()
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: int64(len([]rune(text))), SelectionEnd: int64(len([]rune(text)))})
		return err
	})
}

// TestInputMethod types with an input method, in a field and in the text: text that is not committed does not reach
// the site.
func TestInputMethod(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": motdSite})
	b := newPage(t, s)
	b.click("#f-content")
	b.keys("Ctrl+a")
	b.compose("に")
	b.compose("にほん")
	if text := eval[string](b, `window.studio.store.serverText()`); text != motdSite {
		t.Errorf("what is composed is in the text already:\n%s", text)
	}
	b.write("日本")
	b.keys("Tab")
	b.has("content: 日本\n")

	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	b.compose("# こ")
	b.painted()
	b.compose("# これ")
	b.write("# 此れ\n")
	b.has("mode: \"0644\"\n# 此れ\n", "# kept\n")
	same(t, "mistakes", "", b.mistakes())
	b.quiet()
}

// TestPasteLarge pastes one mebibyte into a field and into the text: all of it arrives, and undo removes it.
func TestPasteLarge(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": motdSite})
	b := newPage(t, s)
	line := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
	large := strings.Repeat("#"+line+"\n", 1<<20/65)
	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	b.paste(large)
	if text := b.text(); text != motdSite+large {
		t.Errorf("%d bytes arrived of %d", len(text), len(motdSite)+len(large))
	}
	same(t, "mistakes", "", b.mistakes())
	b.keys("Ctrl+z")
	same(t, "text after undo", motdSite, b.text())

	b.click("#f-content")
	b.keys("Ctrl+a")
	b.paste(strings.Repeat(line+"\n", 1<<20/64))
	b.click(".row|/etc/motd")
	b.settled()
	if n := eval[int](b, `window.studio.store.current.value.props.content.length`); n != 1<<20 {
		t.Errorf("the content has %d characters", n)
	}
	b.click(`button[aria-label=Undo]`)
	same(t, "text after undo", motdSite, b.text())
	b.quiet()
}

// paste pastes a text at the focus. If the page leaves the event to the browser, the text is set in the field: the
// browser's own command takes minutes for a mebibyte in a textarea.
func (b *tab) paste(text string) {
	b.t.Helper()
	eval[bool](b, `(() => {
		const data = new DataTransfer(), text = `+quote(text)+`, e = document.activeElement;
		data.setData("text/plain", text);
		if (e.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))) {
			e.setRangeText(text, e.selectionStart, e.selectionEnd, "end");
			e.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
		}
		return true;
	})()`)
}

// TestClipboard copies, cuts and pastes resources, in the same file and into a script.
func TestClipboard(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": motdSite, "other.lua": "package \"zsh\"\n"})
	b := newPage(t, s)
	b.open2("site.yaml")
	b.click(".row|/etc/motd")
	b.click(".row.now")
	copied := eval[string](b, `(() => {
		const data = new DataTransfer();
		document.activeElement.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
		return data.getData("text/plain");
	})()`)
	same(t, "what is copied", "- file:\n    - /etc/motd:\n        content: hi\n        owner: root\n        group: root\n        mode: \"0644\"\n", copied)
	b.paste(strings.Replace(copied, "motd", "issue", 1))
	same(t, "resources", "file#/etc/motd file#/etc/issue", b.ids())
	b.has("# kept\n")
	cut := eval[string](b, `(() => {
		const data = new DataTransfer();
		document.activeElement.dispatchEvent(new ClipboardEvent("cut", { clipboardData: data, bubbles: true, cancelable: true }));
		return data.getData("text/plain");
	})()`)
	if !strings.Contains(cut, "file") {
		t.Errorf("what is cut is %q", cut)
	}
	if n := len(strings.Fields(b.ids())); n != 1 {
		t.Errorf("%d resources are left", n)
	}
	b.keys("Ctrl+z")
	same(t, "resources after undo", "file#/etc/motd file#/etc/issue", b.ids())
	b.keys("Ctrl+d")
	if n := len(strings.Fields(b.ids())); n != 3 {
		t.Errorf("Ctrl+D: %d resources", n)
	}
	b.quiet()
}

// TestReducedMotion: with the preference for reduced motion nothing is animated.
func TestReducedMotion(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": motdSite})
	b := newPage(t, s)
	moving := `[...document.querySelectorAll("*")].filter(e => [null, "::before", "::after"].some(p => { const c = getComputedStyle(e, p); return c.transitionDuration.split(", ").some(d => parseFloat(d) > 0) || c.animationName !== "none" && parseFloat(c.animationDuration) > 0 || c.scrollBehavior === "smooth"; })).map(e => e.outerHTML.slice(0, 80)).join("\n")`
	if eval[string](b, moving) == "" {
		t.Error("nothing moves anyway: this test says nothing")
	}
	b.call(func() error {
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	})
	same(t, "what moves", "", eval[string](b, moving))
	b.quiet()
}

// TestLintInPage: a lint warning is shown at its field, its row and in the text.
func TestLintInPage(t *testing.T) {
	s := newStudio(t, map[string]string{"site.lua": "local cfg = {}\nfile {\n  \"/etc/motd\",\n  content = cfg.text,\n  owner = \"root\", group = \"root\", mode = \"0644\",\n}\nlocal unused = 1\n"})
	b := newPage(t, s)
	b.until(`!!document.querySelector(".foot button.warn")`)
	said := s.failing("lint", "site.lua")
	for _, m := range strings.Split(b.mistakes(), "; ") {
		if !strings.Contains(said, m) {
			t.Errorf("the page says %q, the command line\n%s", m, said)
		}
	}
	b.until(`!!document.querySelector(".source .cm-lint-marker-warning")`)
	same(t, "errors", "", eval[string](b, `[...document.querySelectorAll(".source .cm-lint-marker-error, .row .mark.err")].map(e => e.outerHTML).join()`))
	b.quiet()
}

// failing runs a command of ccm that may have a nonzero exit status.
func (s *studio) failing(args ...string) string {
	s.t.Helper()
	out, _ := s.command(args...).CombinedOutput()
	return string(out)
}

// TestImportInPage imports resources of this machine.
func TestImportInPage(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "# kept\nccm:\n  resources: []\n"})
	b := newPage(t, s)
	b.click(".empty button|import from this machine")
	b.until(`!!document.querySelector("dialog[open]")`)
	b.click("dialog [role=radio]|Groups")
	b.click("#import-name")
	b.write("daemon")
	b.keys("Enter")
	b.until(`!!document.querySelector("dialog .ref")`)
	b.click("dialog button|Preview")
	b.until(`/daemon/.test(document.querySelector("dialog pre")?.textContent)`)
	b.click("dialog .main")
	b.until(`!document.querySelector("dialog[open]")`)
	same(t, "resources", "group#daemon", b.ids())
	same(t, "mistakes", "", b.mistakes())
	b.has("# kept\n")
	b.quiet()
}

// TestSpecsInPage runs specs that pass and specs that fail.
func TestSpecsInPage(t *testing.T) {
	spec := "describe(\"the site\", function()\n  it(\"has a message\", function()\n    assert.resource(catalog(\"site.lua\"), \"file#/etc/motd\", { content = \"hi\" })\n  end)\n  it(\"fails\", function() error(\"<b>not</b> so\") end)\nend)\n"
	s := newStudio(t, map[string]string{"site.lua": "file { \"/etc/motd\", content = \"hi\", owner = \"root\", group = \"root\", mode = \"0644\" }\n", "spec/site_spec.lua": spec})
	b := newPage(t, s)
	b.click(".top [role=tab]|Specs")
	b.click(".specs .main")
	b.until(`!!document.querySelector(".specs .verdict")`)
	same(t, "verdict", "1 of 2 fail", eval[string](b, `document.querySelector(".specs .verdict").textContent`))
	same(t, "outcomes", "success error", eval[string](b, `[...document.querySelectorAll(".specs .event b.o")].map(e => e.textContent).join(" ")`))
	if text := eval[string](b, `document.querySelector(".specs .event.failed").textContent`); !strings.Contains(text, "<b>not</b> so") || !strings.Contains(text, "site_spec.lua:5") {
		t.Errorf("the failure says %s", text)
	}
	s.write("spec/site_spec.lua", strings.Replace(spec, "error(", "print(", 1))
	b.click(".specs .main")
	b.until(`document.querySelector(".specs .verdict")?.textContent === "2 of 2 hold"`)
	b.quiet()
}

// TestAnotherUser: another user of the machine can read neither the token nor the texts, and all of their requests
// are refused.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	s := newStudio(t, map[string]string{"site.yaml": motdSite})
	b := newPage(t, s)
	b.fill("#f-content", "not for others")
	_, token, _ := strings.Cut(s.url, "#token=")
	look := exec.Command("sh", "-c", `tr '\\0' '\\n' < "/proc/$1/cmdline"; cat "/proc/$1/environ" "/proc/$1/fd/"*; cat $(find "$2" -type f); true`, "sh", fmt.Sprint(s.cmd.Process.Pid), s.state)
	look.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	look.Dir = "/"
	out, err := look.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "studio") || strings.Contains(text, token) || strings.Contains(text, "not for others") {
		t.Errorf("another user reads\n%s", text)
	}
	for _, path := range []string{"/api/session", "/api/state?file=site.yaml", "/api/events", "/api/files"} {
		answer, err := http.Get("http://" + s.listen + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode < 400 || strings.Contains(string(body), "motd") {
			t.Errorf("%s: %s\n%s", path, answer.Status, body)
		}
	}
}
