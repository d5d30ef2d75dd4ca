package website

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// browser returns the path of Chromium. Without one the test is skipped, unless CCM_BROWSER is
// required.
func browser(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CCM_BROWSER") == "required" {
		t.Fatal("there is no Chromium, and CCM_BROWSER is required")
	}
	t.Skip("there is no Chromium")
	return ""
}

// show loads a page in Chromium and returns its title, once scripts have done with it.
func show(t *testing.T, chromium, page string) string {
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=60000", "--enable-logging=stderr",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", "file://"+page)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	require.NoError(t, cmd.Run(), log.String())
	require.NotContains(t, log.String(), "CONSOLE")
	title := regexp.MustCompile(`<title>(.*?)</title>`).FindStringSubmatch(out.String())
	require.NotNil(t, title)
	return html.UnescapeString(title[1])
}

// write writes the files of the site to a directory, and an addition at the end of each page. It
// returns the pages that are worth a look.
func write(t *testing.T, addition string) (dir string, pages []string) {
	dir = t.TempDir()
	size := make(map[string]int)
	files, err := Build(Documentation())
	require.NoError(t, err)
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, bytes.Replace(f.Data, []byte("</body>"), []byte(addition+"</body>"), 1), 0o644))
		if strings.HasSuffix(f.Name, suffix) {
			pages = append(pages, f.Name)
			size[f.Name] = len(f.Data)
		}
	}
	return dir, withoutLike(pages, size)
}

// withoutLike leaves out pages that are made alike: of each such folder the largest are kept.
func withoutLike(pages []string, size map[string]int) []string {
	const most = 5
	slices.SortStableFunc(pages, func(a, b string) int { return size[b] - size[a] })
	kept := make(map[string]int)
	return slices.DeleteFunc(pages, func(name string) bool {
		dir := path.Dir(name)
		kept[dir]++
		return strings.HasPrefix(dir, "reference/") && kept[dir] > most
	})
}

// searcher presses keys, searches, and notes what it sees in the title.
const searcher = `<script>
addEventListener("load", function () {
  var seen = {};
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
  seen.focus = document.activeElement.id;
  var input = document.getElementById("search"), list = document.getElementById("results");
  input.value = "Pending REFRESH";
  input.dispatchEvent(new Event("input"));
  var wait = setInterval(function () {
    if (!list.querySelector("li")) { return; }
    clearInterval(wait);
    seen.first = list.querySelector("a").href.replace(/.*001./, "");
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
    seen.chosen = list.querySelectorAll("a.chosen").length;
    input.value = "zzqx";
    input.dispatchEvent(new Event("input"));
    seen.none = list.textContent;
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    seen.closed = list.hidden && document.activeElement.id !== "search";
    document.title = JSON.stringify(seen);
  }, 10);
});
</script>`

// TestSearch: in Chromium a slash begins a search that finds sections, Escape ends it, and
// nothing is written to the console.
func TestSearch(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	dir, _ := write(t, searcher)
	want := `{"focus":"search","first":"reference/events.html#pending-refresh","chosen":1,"none":"Nothing has all of these words.","closed":true}`
	require.JSONEq(t, want, show(t, chromium, filepath.Join(dir, "reference/types/kv.html")))
}

// frames shows each page in a frame as wide as a telephone, a few at a time, and notes in the
// title which of them are wider. PAGES is a list of JSON.
const frames = `<!DOCTYPE html><title></title><body><script>
var pages = PAGES, wide = [], begun = 0, shown = 0, frames = [];
function next(f) { if (begun < pages.length) { f.page = pages[begun++]; f.src = f.page; } }
addEventListener("message", function (e) {
  var f = frames.find(function (f) { return f.contentWindow === e.source; });
  if (e.data.width > e.data.room || e.data.room !== 400) { wide.push([f.page, e.data.width, e.data.room]); }
  if (++shown === pages.length) { document.title = JSON.stringify({ shown: shown, wide: wide }); }
  next(f);
});
for (var i = 0; i < 6; i++) {
  var f = document.createElement("iframe");
  f.style = "width: 400px; height: 900px";
  document.body.appendChild(f);
  frames.push(f);
  next(f);
}
</script>`

// TestTelephone: on a screen of 400 pixels no page has to be moved sideways. Of the pages of types
// and commands the largest are shown.
func TestTelephone(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	dir, pages := write(t, `<script>addEventListener("load", function () {
  parent.postMessage({ width: document.documentElement.scrollWidth, room: innerWidth }, "*");
});</script>`)
	list, err := json.Marshal(pages)
	require.NoError(t, err)
	name := filepath.Join(dir, "frames.html")
	require.NoError(t, os.WriteFile(name, []byte(strings.Replace(frames, "PAGES", string(list), 1)), 0o644))
	require.Equal(t, fmt.Sprintf(`{"shown":%d,"wide":[]}`, len(pages)), show(t, chromium, name))
}
