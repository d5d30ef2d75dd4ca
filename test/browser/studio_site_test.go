package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// wantedSite is the result of both ways of making the site: the resources in order. Its program, ccm-nginx, is one
// that no machine has, because what is installed would change what is offered and planned.
const wantedSite = "package#ccm-nginx file#/srv/hello file#/srv/hello/index.html file#/etc/ccm-nginx/hello.conf exec#ccm-nginx -t service#ccm-nginx group#web user#hello"

// checkSite fails unless the saved site has the wanted resources according to the command line, in both languages.
func checkSite(t *testing.T, s *studio) {
	t.Helper()
	text := s.read("site.yaml")
	for _, want := range []string{"ensure: directory", "<h1>hello</h1>", "refreshonly: true"} {
		if !strings.Contains(text, want) {
			t.Errorf("site.yaml lacks %s:\n%s", want, text)
		}
	}
	lua := s.ccm("convert", "site.yaml")
	s.write("other.lua", lua)
	s.ccm("lint", "other.lua")
	same(t, "the catalog of YAML and Lua", catalog(s, "site.yaml"), catalog(s, "other.lua"))
}

// catalog returns the declarations of a text without positions.
func catalog(s *studio, file string) string {
	s.t.Helper()
	out := s.ccm("catalog", "--output", "json", file)
	lines := strings.Split(out, "\n")
	for i, l := range lines {
		if strings.Contains(l, `"position"`) || strings.Contains(l, `"file"`) {
			if cut := strings.Index(l, `"position"`); cut >= 0 {
				if end := strings.Index(l[cut+12:], `",`); end >= 0 {
					lines[i] = l[:cut] + l[cut+12+end+2:]
				} else {
					lines[i] = l[:cut]
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// newSite starts a new site in YAML.
func (b *tab) newSite() {
	b.t.Helper()
	b.click("button|New site")
	b.until(`!!window.studio.store.doc.value`)
	b.settled()
}

// TestSiteByMouse makes a site of eight resources with the mouse; only names and values are typed.
func TestSiteByMouse(t *testing.T) {
	s := newStudio(t, nil)
	b := newPage(t, s)
	b.newSite()
	// by clicks
	b.click(".type|package")
	b.settled()
	b.fill("#f-name", "ccm-nginx")
	b.click(".type|service")
	b.settled()
	b.fill("#f-name", "ccm-nginx")
	// by dragging into the list
	b.drag(".type|file", ".row|ccm-nginx", 17)
	b.settled()
	b.fill("#f-name", "/srv/hello")
	b.choose("#f-ensure", "directory")
	b.fill("#f-mode", "0755")
	b.drag(".type|file", ".row|service", -17)
	b.settled()
	b.fill("#f-name", "/etc/ccm-nginx/hello.conf")
	b.fill("#f-content", "root /srv/hello;\n")
	b.drag(".type|file", ".row|hello.conf", -17)
	b.settled()
	b.fill("#f-name", "/srv/hello/index.html")
	b.fill("#f-content", "<h1>hello</h1>\n")
	b.drag(".type|exec", ".row|service", -17)
	b.settled()
	b.fill("#f-name", "ccm-nginx -t")
	b.fill("#f-command", "/usr/sbin/ccm-nginx -t")
	b.click(`[data-property=refreshonly] [role=radio]|yes`)
	b.settled()
	b.click(".row|service")
	b.click(".type|user")
	b.settled()
	b.fill("#f-name", "hello")
	b.drag(".palette .type|group", ".row|user", -17)
	b.settled()
	b.fill("#f-name", "web")
	same(t, "resources", wantedSite, b.ids())
	// dependencies: from the knob of a row to another row
	b.click(".row|ccm-nginx -t")
	b.drag(".row.now .knob", ".row|hello.conf", 0)
	b.click("dialog .choice|subscribe")
	b.click("dialog .main")
	b.settled()
	b.click(".row|service")
	b.fill("#f-subscribe", "file#/etc/ccm-nginx/hello.conf")
	b.settled()
	if edges := eval[int](b, `document.querySelectorAll(".edges .subscribe").length`); edges != 2 {
		t.Errorf("the gutter has %d arcs of subscribe, want 2", edges)
	}
	// a row is dragged, and undo moves it back
	b.drag(".row|service", ".row|package", -17)
	b.settled()
	if ids := b.ids(); !strings.HasPrefix(ids, "service#ccm-nginx") {
		t.Errorf("after the drag: %s", ids)
	}
	b.click(`button[aria-label=Undo]`)
	b.settled()
	same(t, "resources after undo", wantedSite, b.ids())
	same(t, "mistakes", "", b.mistakes())
	b.click(".top button|Save")
	b.until(`window.studio.store.doc.value.saved`)
	checkSite(t, s)
	b.quiet()
}

// choose selects an option.
func (b *tab) choose(selector, option string) {
	b.t.Helper()
	b.point(selector)
	eval[bool](b, `(() => { const e = document.querySelector(`+quote(selector)+`); e.value = `+quote(option)+`; e.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	b.settled()
}

// typeName writes into the focused field, and applies it.
func (b *tab) typeName(text string) {
	b.t.Helper()
	b.keys("Ctrl+a")
	b.write(text)
	b.keys("Enter")
	b.settled()
}

// to moves with Tab to the field of a property.
func (b *tab) to(property string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, `document.activeElement.id === `+quote("f-"+property)+` || document.activeElement.closest('[role=radiogroup]')?.id === `+quote("f-"+property)) {
			return
		}
		b.keys("Tab")
	}
	b.t.Fatalf("Tab does not come to %s", property)
}

// addByKeys adds a resource with the keyboard: the focus is in its name field.
func (b *tab) addByKeys(typ, name string) {
	b.t.Helper()
	for range 8 {
		if eval[bool](b, `document.activeElement.matches(".palette input")`) {
			break
		}
		b.keys("F6")
	}
	b.keys("Ctrl+a")
	b.write(typ)
	b.until(`document.querySelector(".palette .type b")?.textContent === ` + quote(typ))
	b.keys("ArrowDown")
	b.keys("Enter")
	b.settled()
	b.until(`document.activeElement.id === "f-name"`)
	b.typeName(name)
}

// TestSiteByKeyboard makes the same site with the keyboard only.
func TestSiteByKeyboard(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources: []\n"})
	b := newPage(t, s)
	b.addByKeys("package", "ccm-nginx")
	b.addByKeys("file", "/srv/hello")
	b.to("ensure")
	b.keys("ArrowDown", "ArrowDown", "ArrowDown")
	if v := eval[string](b, `document.activeElement.value`); v != "directory" {
		b.choose("#f-ensure", "directory") // how a select opens depends on the browser
	}
	b.to("mode")
	b.typeName("0755")
	b.addByKeys("file", "/srv/hello/index.html")
	b.to("content")
	b.write("<h1>hello</h1>\n")
	b.keys("Ctrl+Enter")
	b.addByKeys("service", "ccm-nginx")
	b.addByKeys("exec", "ccm-nginx -t")
	b.to("command")
	b.typeName("/usr/sbin/ccm-nginx -t")
	b.to("refreshonly")
	b.keys("ArrowRight")
	if !strings.Contains(b.text(), "refreshonly: true") {
		b.keys("ArrowRight")
	}
	b.settled()
	// Esc moves to the list; Alt and an arrow key move the row
	b.keys("Escape")
	b.until(`document.activeElement.matches(".rows")`)
	b.keys("Alt+ArrowUp")
	b.settled()
	b.keys("ArrowUp")
	b.addByKeys("file", "/etc/ccm-nginx/hello.conf")
	b.to("content")
	b.write("root /srv/hello;\n")
	b.keys("Ctrl+Enter")
	b.settled()
	b.keys("Escape", "End")
	b.addByKeys("group", "web")
	b.addByKeys("user", "hello")
	same(t, "resources", wantedSite, b.ids())
	// a dependency by R
	b.keys("Escape", "Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "r")
	b.until(`!!document.querySelector("dialog[open]")`)
	b.keys("ArrowDown", "Tab")
	b.write("hello.conf")
	b.until(`document.querySelectorAll("#link-to-list li").length === 1`)
	b.keys("ArrowDown", "Enter")
	b.keys("Tab", "Tab", "Enter")
	b.settled()
	if text := b.text(); !strings.Contains(text, "subscribe: [file#/etc/ccm-nginx/hello.conf]") {
		t.Errorf("no arrow was drawn:\n%s", text)
	}
	// copy, paste, undo
	b.until(`!document.querySelector("dialog[open]")`)
	b.keys("F6")
	for range 8 {
		if eval[bool](b, `document.activeElement.matches(".rows")`) {
			break
		}
		b.keys("F6")
	}
	b.keys("End", "Ctrl+d")
	b.settled()
	if n := eval[int](b, `window.studio.store.resources.value.length`); n != 9 {
		t.Errorf("Ctrl+D leads to %d resources, want 9", n)
	}
	b.keys("Delete")
	b.settled()
	same(t, "resources after Del", wantedSite, b.ids())
	b.keys("Ctrl+z", "Ctrl+z")
	b.settled()
	same(t, "resources after undo", wantedSite, b.ids())
	same(t, "mistakes", "", b.mistakes())
	b.keys("Ctrl+s")
	b.until(`window.studio.store.doc.value.saved`)
	checkSite(t, s)
	b.quiet()
}

// hostile are texts that must stay text in every field.
var hostile = []string{`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "\x1b]0;owned\x07\x1b[31mred", `javascript:alert(1)`, `"><svg onload=alert(1)>`, `{{constructor.constructor('alert(1)')()}}`, "${ 1 }", "a\u202eb", strings.Repeat("x", 900)}

func TestHostileContent(t *testing.T) {
	var y strings.Builder
	y.WriteString("ccm:\n  resources:\n")
	for _, h := range hostile {
		y.WriteString("    - exec:\n        - " + quote(h) + ":\n            command: " + quote(h) + "\n            description" + ": " + quote(h) + "\n            cwd: " + quote(h) + "\n            require: [" + quote("file#"+h) + "]\n")
	}
	s := newStudio(t, map[string]string{"site.yaml": y.String(), "<img src=x onerror=alert(1)>.yaml": "ccm:\n  resources: []\n", "javascript:alert(1).lua": "file '/x'\n"})
	b := newPage(t, s)
	eval[bool](b, `(window.studio.store.open("site.yaml"), true)`)
	b.settled()
	same(t, "resources", quote(len(hostile)), quote(eval[int](b, `window.studio.store.resources.value.length`)))
	eval[bool](b, `(window.alerts = 0, window.alert = () => window.alerts++, true)`)
	for i := range hostile {
		eval[bool](b, `(window.studio.store.choose(window.studio.store.resources.value[`+quote(i)+`]?.key ?? ""), true)`)
		b.painted()
	}
	b.click(".side [role=tab]|Files")
	b.until(`!!document.querySelector("[role=treeitem]")`)
	for _, view := range []string{"Plan", "Graph", "Facts", "History", "Design"} {
		b.click(".top [role=tab]|" + view)
		b.painted()
	}
	if n := eval[int](b, `window.alerts + document.querySelectorAll("img:not(.cm-widgetBuffer), iframe, object, embed, .frame script, [onerror], [onload]").length + [...document.querySelectorAll("a[href], form[action]")].length`); n != 0 {
		t.Errorf("%d things came to life", n)
	}
	// typed into fields
	b.click(".side [role=tab]|Types")
	eval[bool](b, `(window.studio.store.choose(window.studio.store.resources.value[0].key), true)`)
	for _, h := range hostile[:6] {
		b.fill("#f-command", h)
	}
	if n := eval[int](b, `window.alerts + document.querySelectorAll("img:not(.cm-widgetBuffer), iframe").length`); n != 0 {
		t.Errorf("%d things came to life when typed", n)
	}
}

// TestPolicy: the Content-Security-Policy forbids inline scripts and evaluation, and text cannot become markup.
func TestPolicy(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources: []\n"})
	b := newPage(t, s)
	if !eval[bool](b, `(() => { try { document.createElement("div").innerHTML = "<b>x</b>"; return false; } catch { return true; } })()`) {
		t.Error("a text can be made markup")
	}
	// the debugger's own evaluation is allowed, so the page does it itself
	eval[bool](b, `(setTimeout(() => { try { window.eval("1"); window.blocked = false; } catch { window.blocked = true; } }), true)`)
	b.until(`window.blocked !== undefined`)
	if !eval[bool](b, `window.blocked`) {
		t.Error("a text can be made code")
	}
	eval[bool](b, `(() => { const e = document.createElement("script"); e.textContent = ""; return true; })`+` && true`)
	if eval[bool](b, `(() => { try { const e = document.createElement("script"); e.text = "window.ran = true"; document.body.append(e); } catch { } return !!window.ran; })()`) {
		t.Error("a script in the page runs")
	}
}

// TestTwoTabs: an edit in one tab appears in the other at once, and concurrent edits are both kept.
func TestTwoTabs(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources:\n    - package:\n        - nginx:\n            ensure: present\n"})
	a := newPage(t, s)
	b := a.another(s)
	a.fill("#f-name", "apache2")
	b.until(`window.studio.store.resources.value[0].name === "apache2"`)
	if text := eval[string](b, `[...document.querySelectorAll(".source .cm-line")].map(e => e.textContent).join("\n")`); !strings.Contains(text, "apache2") {
		t.Errorf("the text of the other tab is\n%s", text)
	}
	// both type at the same time
	a.click(".source .cm-content")
	a.keys("Ctrl+Home")
	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	for range 12 {
		a.write("#a")
		b.write("#b")
	}
	a.settled()
	b.settled()
	for _, one := range []*tab{a, b} { // the other edit arrives as an event
		one.until(`window.studio.store.serverText().split("#a").length === 13 && window.studio.store.serverText().split("#b").length === 13`)
	}
	same(t, "the text of both tabs", a.text(), b.text())
	if text := a.text(); strings.Count(text, "#a") != 12 || strings.Count(text, "#b") != 12 {
		t.Errorf("something was lost:\n%s", text)
	}
	if shown := eval[string](b, `[...document.querySelectorAll(".source .cm-line")].map(e => e.textContent).join("\n")`); shown != b.text() {
		t.Errorf("the editor shows\n%s\nthe text is\n%s", shown, b.text())
	}
}

// TestServerDies: the program is killed during work, and started again at the same address.
func TestServerDies(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "ccm:\n  resources:\n    - package:\n        - nginx:\n            ensure: present\n"})
	b := newPage(t, s)
	b.fill("#f-name", "apache2") // answered, and in the journal
	s.kill()
	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	b.write("# typed while it was away")
	b.until(`!!document.querySelector(".offline")`)
	b.shoot("studio-offline")
	b.axe("offline")
	s.start()
	b.until(`!!document.querySelector(".offline input")`)
	b.click(".offline input")
	b.write(s.url)
	b.keys("Enter")
	b.until(`!document.querySelector(".offline")`)
	b.settled()
	text := b.text()
	for _, want := range []string{"apache2", "# typed while it was away"} {
		if !strings.Contains(text, want) {
			t.Errorf("lost: %s\n%s", want, text)
		}
	}
	b.keys("Ctrl+s")
	b.until(`window.studio.store.doc.value.saved`)
	same(t, "the file", text, s.read("site.yaml"))
	// the new address is opened in the same tab
	s.kill()
	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	b.write(" and again")
	b.until(`JSON.stringify(sessionStorage).includes("and again")`)
	s.start()
	b.do(chromedp.Navigate(s.url))
	b.until(`window.studio.store.serverText().includes("and again")`)
	// the page is reloaded before it could send the edit
	b.write(", and more")
	eval[bool](b, `(window.before = true, location.reload(), true)`)
	b.until(`!window.before && !!window.studio?.ready && window.studio.store.serverText().includes("and more")`)
}

// TestChangedOutside: another program writes the file. Studio overwrites nothing without asking.
func TestChangedOutside(t *testing.T) {
	base := "# one\n# two\n# three\n# four\n# five\nccm:\n  resources:\n    - package:\n        - nginx:\n            ensure: present\n"
	s := newStudio(t, map[string]string{"site.yaml": base})
	b := newPage(t, s)
	s.write("site.yaml", strings.Replace(base, "# two", "# TWO", 1))
	b.until(`window.studio.store.serverText().includes("# TWO")`) // without edits here it is taken over
	base = s.read("site.yaml")
	b.fill("#f-name", "apache2")
	s.write("site.yaml", strings.Replace(base, "# one", "# ONE", 1))
	b.until(`window.studio.store.doc.value.disk === "changed"`)
	b.keys("Ctrl+s")
	b.until(`!!document.querySelector("dialog[open]")`)
	b.click("dialog .main") // merge the changes of both
	b.until(`!document.querySelector("dialog[open]") && window.studio.store.doc.value.saved`)
	text := s.read("site.yaml")
	if !strings.Contains(text, "# ONE") || !strings.Contains(text, "apache2") {
		t.Errorf("the changes of both are not in\n%s", text)
	}
	// both change the same line
	b.fill("#f-name", "caddy") // before the file changes, which would be taken over without edits here
	s.write("site.yaml", strings.Replace(text, "apache2", "lighttpd", 1))
	b.until(`window.studio.store.doc.value.disk === "changed"`)
	b.keys("Ctrl+s")
	b.until(`!!document.querySelector("dialog[open] .chunk")`)
	b.both("conflict")
	if !eval[bool](b, `document.querySelector("dialog .main").disabled`) {
		t.Error("it can be saved before a side was chosen")
	}
	same(t, "the file while it is asked", strings.Replace(text, "apache2", "lighttpd", 1), s.read("site.yaml"))
	b.click("dialog label|On the disk")
	b.click("dialog .main")
	b.until(`!document.querySelector("dialog[open]") && window.studio.store.doc.value.saved`)
	if text := s.read("site.yaml"); !strings.Contains(text, "lighttpd") || strings.Contains(text, "caddy") {
		t.Errorf("the choice was another:\n%s", text)
	}
	// the file is removed
	if err := os.Remove(filepath.Join(s.dir, "site.yaml")); err != nil {
		t.Fatal(err)
	}
	b.until(`window.studio.store.doc.value.disk === "gone"`)
}

// TestTextAndForm: edits of the text appear in the form and the other way round, and they share one history for undo.
func TestTextAndForm(t *testing.T) {
	s := newStudio(t, map[string]string{"site.yaml": "# kept\nccm:\n  resources:\n    - file:\n        - /etc/motd: # kept too\n            content: \"hi\\n\"\n            owner: root\n            group: root\n            mode: \"0644\"\n"})
	b := newPage(t, s)
	first := b.text()
	b.fill("#f-owner", "daemon")
	b.click(".source .cm-content")
	b.keys("Ctrl+End")
	b.write("    - package:\n        - zsh:\n            ensure: present\n")
	b.settled()
	same(t, "resources", "file#/etc/motd package#zsh", b.ids())
	b.click(".row|motd")
	b.fill("#f-mode", "0600")
	want := strings.Replace(strings.Replace(first, "owner: root", "owner: daemon", 1), "0644", "0600", 1) + "    - package:\n        - zsh:\n            ensure: present\n"
	same(t, "text", want, b.text())
	b.keys("Ctrl+z")
	for range 6 {
		b.click(`button[aria-label=Undo]`)
		b.settled()
	}
	same(t, "text after undo", first, b.text())
	for range 6 {
		b.click(`button[aria-label=Redo]`)
		b.settled()
	}
	same(t, "text after redo", want, b.text())
	// the other language
	if lua := eval[string](b, `window.studio.store.doc.value.derived.text`); !strings.Contains(lua, `"zsh"`) {
		t.Errorf("the Lua is\n%s", lua)
	}
	// mistakes are shown at the field, in the row and in the footer
	b.fill("#f-mode", "0888")
	for _, where := range []string{`.field.wrong .err`, `.row .mark.err`, `.foot .err`, `.cm-lint-marker-error`} {
		b.until(`!!document.querySelector(` + quote(where) + `)`)
	}
	if say := eval[string](b, `document.querySelector(".field.wrong .err").textContent`); !strings.Contains(say, `mode: expected octal permissions such as "0644", got "0888"`) {
		t.Errorf("the mistake says %s", say)
	}
	b.both("mistake")
	b.quiet()
}
