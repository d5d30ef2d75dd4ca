package browser

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// newWebsite returns the output directory of ccm docs build. The test runs in parallel with others.
func newWebsite(t *testing.T) string {
	t.Helper()
	t.Parallel()
	bin, err := ccm()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command(bin, "docs", "build", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// A slash starts the search for sections, arrow keys choose one, Escape ends the search.
func TestWebsiteSearch(t *testing.T) {
	findChromium(t)
	dir := newWebsite(t)
	b := newTab(t)
	b.open(filepath.Join(dir, "reference/types/kv.html"))
	b.press("/")
	if at := eval[string](b, "document.activeElement.id + document.activeElement.value"); at != "search" {
		t.Errorf("/ puts the cursor into %q", at)
	}
	b.do(chromedp.KeyEvent("Pending REFRESH"))
	b.until(`document.querySelector("#results li a") !== null`)
	b.shoot("docs-search")
	first := eval[string](b, `document.querySelector("#results a").href`)
	if !strings.HasSuffix(first, "/reference/events.html#pending-refresh") {
		t.Errorf("the first result is %s", first)
	}
	// A word that no page has, and what means the same.
	b.do(chromedp.KeyEvent(kb.Escape))
	b.press("/")
	b.do(chromedp.KeyEvent("lineinfile"))
	b.until(`document.querySelector("#results a") !== null && document.querySelector("#results a").href.endsWith("/reference/types/line.html")`)
	// A misspelled word.
	b.do(chromedp.KeyEvent(kb.Escape))
	b.press("/")
	b.do(chromedp.KeyEvent("vagarnt"))
	b.until(`document.querySelector("#results a") !== null && document.querySelector("#results a").href.endsWith("/recipes/pipelines.html#run-in-vagrant")`)
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	if n := eval[int](b, `document.querySelectorAll("#results a.chosen").length`); n != 1 {
		t.Errorf("an arrow chooses %d results", n)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `document.getElementById("results").hidden && document.activeElement.id !== "search"`) {
		t.Error("Escape does not end the search")
	}
	b.press("/")
	b.do(chromedp.KeyEvent("zzqx"))
	b.until(`!document.getElementById("results").hidden && document.getElementById("results").textContent === "Nothing has all of these words."`)
	b.clean()
}

// On a screen of 400 pixels no page scrolls sideways, and the console is empty.
func TestWebsiteOnTelephone(t *testing.T) {
	findChromium(t)
	dir := newWebsite(t)
	b := newTab(t)
	b.size(400, 900)
	shown := 0
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		shown++
		b.open(path)
		if over := eval[int](b, wider); over > 0 {
			t.Errorf("%s is %d pixels too wide", strings.TrimPrefix(path, dir), over)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if shown < 50 {
		t.Errorf("%d pages were shown", shown)
	}
	b.clean()
}

// Pages are readable in light and dark, wide and narrow; CCM_SHOTS saves screenshots.
func TestWebsiteLooks(t *testing.T) {
	findChromium(t)
	dir := newWebsite(t)
	b := newTab(t)
	for _, width := range []int64{1400, 400} {
		b.size(width, 1000)
		for _, page := range []string{"index", "tutorial", "reference/types/file"} {
			b.open(filepath.Join(dir, page+".html"))
			var colours [2]string
			for i, dark := range []bool{false, true} {
				b.dark(dark)
				colours[i] = eval[string](b, `getComputedStyle(document.body).color + " on " + getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor`)
				b.shoot(fmt.Sprintf("docs-%s-%d-%v", filepath.Base(page), width, dark))
			}
			if colours[0] == colours[1] {
				t.Errorf("%s has the same colours in the dark: %s", page, colours[0])
			}
		}
	}
	b.clean()
}

// A button copies a block of code, of a console only the commands. The first page shows the recording.
func TestWebsiteCopy(t *testing.T) {
	findChromium(t)
	dir := newWebsite(t)
	b := newTab(t)
	b.open(filepath.Join(dir, "manifests.html"))
	// Tests have no clipboard.
	b.do(chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = function (text) { window.copied = text; return Promise.resolve(); }; undefined`))
	for _, c := range [][2]string{{"yaml", "data:\n"}, {"console", "ccm run site.yaml --fact os.family=debian --fact hostname=web2\ncat /etc/app/app.conf\n"}} {
		b.do(chromedp.Evaluate[chromedp.Void](`window.block = document.querySelector(".code:has(.language-` + c[0] + `)"); block.querySelector("button").click(); undefined`))
		b.until(`block.querySelector("button").textContent === "Copied"`)
		copied := eval[string](b, "window.copied")
		if !strings.HasPrefix(copied, c[1]) || c[0] == "console" && copied != c[1] {
			t.Errorf("of a block of %s is copied: %q", c[0], copied)
		}
	}
	b.open(filepath.Join(dir, "index.html"))
	b.until(`document.querySelector("img").complete`)
	if width := eval[int](b, `document.querySelector("img").naturalWidth`); width != 704 {
		t.Errorf("the recording is %d pixels wide", width)
	}
	b.clean()
}
