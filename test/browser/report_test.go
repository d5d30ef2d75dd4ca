package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// site is a script of n resources below root: groups of a directory, its files and a command that they refresh, and one command
// that fails with a dependent. Names contain HTML.
func site(n int, root string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "file.defaults { owner = %q, group = %q, mode = \"0644\" }\n", fmt.Sprint(os.Getuid()), fmt.Sprint(os.Getgid()))
	fmt.Fprintf(&b, `exec { "broken </script><img src=x onerror=alert(1)>", command = { "sh", "-c", "echo out; echo '<b>err' >&2; exit 3" } }
file { "%[1]s/etc/after", content = "x", require = "exec#broken </script><img src=x onerror=alert(1)>" }
file { "%[1]s/etc/after that", content = "x", require = "file#%[1]s/etc/after" }
`, root)
	for k, left := 0, n-3; left > 0; k++ {
		fmt.Fprintf(&b, "file { \"%s/etc/app%d\", ensure = \"directory\", mode = \"0755\" }\n", root, k)
		left--
		var files []string
		for i := 0; i < 12 && left > 1; i++ {
			name := fmt.Sprintf("%s/etc/app%d/%02d <b>.conf", root, k, i)
			fmt.Fprintf(&b, "file { %q, content = \"listen %d\\nname </pre><script>alert(%d)</script>\\n\", require = \"file#%s/etc/app%d\" }\n", name, i, i, root, k)
			files = append(files, fmt.Sprintf("%q", "file#"+name))
			left--
		}
		if left > 0 {
			fmt.Fprintf(&b, "exec { \"reload %d\", command = \"true\", refreshonly = true, subscribe = { %s } }\n", k, strings.Join(files, ", "))
			left--
		}
	}
	return b.String()
}

// newReport runs a site of n resources twice, so that most are stable the second time, and returns its page.
// The test runs in parallel with others.
func newReport(t *testing.T, n int) string {
	t.Helper()
	t.Parallel()
	bin, err := ccm()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command(bin, append(args, "--state-dir", filepath.Join(dir, "state"))...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 4 {
			t.Fatalf("%v\n%.3000s", err, out)
		}
	}
	for _, d := range []string{"root/etc", "root/usr"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site(n, filepath.Join(dir, "root"))), 0o644); err != nil {
		t.Fatal(err)
	}
	run("run", "-q", "site.lua")
	if err := os.WriteFile(filepath.Join(dir, "root/etc/app0/00 <b>.conf"), []byte("old <i>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("run", "-q", "site.lua", "--report", "out.html")
	return filepath.Join(dir, "out.html")
}

const shown = `[...document.querySelectorAll(".event")].filter(d => d.checkVisibility()).length`

func TestReport(t *testing.T) {
	for _, n := range []int{20, 300, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			findChromium(t)
			if n > 300 {
				nightly(t)
			}
			page := newReport(t, n)
			b := newTab(t)
			for _, width := range []int64{1400, 800, 400} {
				b.size(width, 1000)
				b.open(page)
				b.fits()
				if said := eval[string](b, `[...document.querySelectorAll(".event.changed .story")].filter(d => d.checkVisibility()).map(d => d.textContent).join()`); !strings.Contains(said, "Updated the file") {
					t.Errorf("with a width of %d the rows say %q", width, said)
				}
				for _, dark := range []bool{false, true} {
					b.dark(dark)
					b.shoot(fmt.Sprintf("report-%d-%d-%s", n, width, map[bool]string{true: "dark", false: "light"}[dark]))
				}
			}
			b.dark(false)
			b.size(1400, 1000)
			b.open(page)
			expect := func(want int, what string) {
				t.Helper()
				if got := eval[int](b, shown); got != want {
					t.Errorf("%s: %d resources are shown, want %d", what, got, want)
				}
			}
			if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "1 failed. ccm run -q site.lua") {
				t.Errorf("the title is %q", title)
			}
			// Failed, two skipped, changed, and refreshed.
			expect(5, "stable ones are hidden at first")
			b.do(chromedp.Click(chromedp.CSS(".pick label.stable")))
			expect(n, "all outcomes are chosen")
			b.press("/")
			if at := eval[string](b, "document.activeElement.id + document.activeElement.value"); at != "q" {
				t.Errorf("/ puts the cursor into %q", at)
			}
			b.do(chromedp.KeyEvent("AFTER that"))
			expect(1, "a search for a name")
			b.do(chromedp.KeyEvent("\x1b"))
			expect(n, "Escape empties the search")
			b.do(chromedp.KeyEvent("old <i>"))
			expect(1, "a search in diffs")
			b.do(chromedp.KeyEvent("\x1b"))
			b.do(chromedp.Click(chromedp.CSS(".pick label.failed")))
			expect(n-1, "failures are not chosen")
			// A link shows its resource even if the filter hides it.
			b.do(chromedp.Click(chromedp.CSS(".failure p:last-child a")))
			b.until(`document.querySelector(".event.failed").open && document.querySelector(".event.failed").checkVisibility()`)
			if n := eval[int](b, `document.querySelectorAll(".failure p a").length`); n != 3 {
				t.Errorf("the failure has %d links, want two skipped and the details", n)
			}
			// A stack lists its resources.
			stack := eval[int](b, `(() => { const a = document.querySelector(".draw a[data-members]"); a.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})); return a.dataset.members.split(" ").length })()`)
			if listed := eval[int](b, `document.querySelectorAll("#members a").length`); listed != stack || stack < 3 {
				t.Errorf("a stack of %d lists %d", stack, listed)
			}
			b.shoot(fmt.Sprintf("report-%d-used", n))
			b.clean()
			if n := eval[int](b, `document.querySelectorAll("img, iframe, object, link").length + document.scripts.length`); n != 1 {
				t.Errorf("the page has %d elements that could load something, want its own script", n)
			}
			pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
			if err != nil || len(pdf) < 1000 {
				t.Errorf("printing: %v, %d bytes", err, len(pdf))
			}
			if dir := os.Getenv("CCM_SHOTS"); dir != "" {
				_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("report-%d.pdf", n)), pdf, 0o644)
			}
		})
	}
}

// Without JavaScript everything is visible, and no control is shown that would not work.
func TestReportWithoutJavaScript(t *testing.T) {
	findChromium(t)
	page := newReport(t, 30)
	b := newTab(t)
	b.withoutJavaScript()
	b.open(page)
	if got := eval[int](b, shown); got != 30 {
		t.Errorf("%d resources are shown, want all", got)
	}
	if eval[bool](b, `document.querySelector(".find").checkVisibility()`) {
		t.Error("the search is shown, which needs JavaScript")
	}
	if !eval[bool](b, `document.querySelector(".event.failed").open`) {
		t.Error("the failure is not open")
	}
	b.shoot("report-no-javascript")
}
