package report

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

func TestUnified(t *testing.T) {
	for _, x := range []struct {
		name string
		text resource.TextChange
		want string
	}{
		{"changed", resource.TextChange{Path: "/etc/motd", HaveExists: true, WantExists: true, Have: "a\nb\n", Want: "a\nc\n"},
			"diff --git a/etc/motd b/etc/motd\n--- a/etc/motd\n+++ b/etc/motd\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"created", resource.TextChange{Path: "/f", WantExists: true, Want: "a"},
			"diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"},
		{"removed", resource.TextChange{Path: "/f", HaveExists: true, Have: "a\n"},
			"diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"created empty", resource.TextChange{Path: "/f", WantExists: true}, "diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n"},
		{"blank in name", resource.TextChange{Path: "/a b", HaveExists: true, WantExists: true, Have: "x\n", Want: ""},
			"diff --git \"a/a b\" \"b/a b\"\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +0,0 @@\n-x\n"},
		{"odd name", resource.TextChange{Path: "/a\"\n", HaveExists: true, WantExists: true, Have: "x\n", Want: "y\n"},
			"diff --git \"a/a\\\"\\012\" \"b/a\\\"\\012\"\n--- \"a/a\\\"\\012\"\n+++ \"b/a\\\"\\012\"\n@@ -1 +1 @@\n-x\n+y\n"},
	} {
		got, ok := Unified(x.text)
		require.True(t, ok)
		require.Equal(t, x.want, got, x.name)
	}
	_, ok := Unified(resource.TextChange{Have: "a\x00b"})
	require.False(t, ok, "what holds NUL bytes is no text")
	_, ok = Unified(resource.TextChange{Want: "\xff\xfe"})
	require.False(t, ok)
}

// TestPatch applies diffs of random texts with patch(1) and with git-apply(1):
// the result is the new text, byte for byte.
func TestPatch(t *testing.T) {
	tools := map[string][]string{"patch": {"-p1", "-s", "--binary"}, "git": {"apply", "--unsafe-paths", "-p1", "-"}}
	rnd := rand.New(rand.NewPCG(5, 6))
	lines := []string{"one\n", "two\n", "zwölf\n", "crlf\r\n", "\n", "   \n", "\ttab\n", "--- a\n", "+++ b\n", "@@ -1 +1 @@\n", "\\ No newline at end of file\n", "\r\n", "lone\rcr\n", "last", "\f\n", "diff --git a/x b/x\n"}
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(8) {
			b.WriteString(lines[rnd.IntN(len(lines))])
		}
		return b.String()
	}
	for tool, args := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("%s is not installed", tool)
			continue
		}
		for i := range 60 {
			dir := t.TempDir()
			x := resource.TextChange{Path: fmt.Sprintf([]string{"/f%d", "/with blank %d", "/zwölf%d", "/quote\"%d"}[rnd.IntN(4)], i), Have: text(), Want: text(), HaveExists: rnd.IntN(4) > 0, WantExists: rnd.IntN(4) > 0}
			if !x.HaveExists {
				x.Have, x.WantExists = "", true
			}
			if !x.WantExists {
				x.Want = ""
			}
			file := filepath.Join(dir, x.Path)
			if x.HaveExists {
				require.NoError(t, os.WriteFile(file, []byte(x.Have), 0o600))
			}
			if x.HaveExists == x.WantExists && x.Have == x.Want {
				continue
			}
			diff, ok := Unified(x)
			require.True(t, ok)
			cmd := exec.Command(tool, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s\n%q\n%q\n%s", tool, out, x.Have, x.Want, diff)
			got, err := os.ReadFile(file)
			if !x.WantExists {
				require.ErrorIs(t, err, os.ErrNotExist)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, x.Want, string(got))
		}
	}
}

// The hunks of a text between long ends that stay are those that a diff of the whole has.
func TestHunksOfLongTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			if rnd.IntN(8) > 0 {
				fmt.Fprintf(&b, "line %d\n", i)
			}
		}
		return b.String()
	}
	for range 2000 {
		head, tail := text(rnd.IntN(10)), text(rnd.IntN(10))
		have, want := head+text(6)+tail, head+text(6)+tail
		if rnd.IntN(4) == 0 {
			have = strings.TrimSuffix(have, "\n")
		}
		if have == want {
			continue
		}
		whole, err := udiff.ToUnified("a", "b", have, udiff.Lines(have, want), udiff.DefaultContextLines)
		require.NoError(t, err)
		_, whole, _ = strings.Cut(whole, "+++ b\n")
		got, ok := hunksOf(have, want)
		require.True(t, ok)
		require.Equal(t, whole, got, "%q %q", have, want)
	}
	long := strings.Repeat("a line of many\n", 20_000)
	got, _ := hunksOf(long+"old\n"+long, long+"new\n"+long)
	require.Equal(t, "@@ -19998,7 +19998,7 @@\n a line of many\n a line of many\n a line of many\n-old\n+new\n a line of many\n a line of many\n a line of many\n", got)
	longer := long + "new\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hunksOf(long, longer)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<10), "bytes for a text of %d", len(long))
}

// The numbers of added and removed lines agree with the diff. They need no diff if one side is empty.
func TestLineCounts(t *testing.T) {
	texts := []string{"", "a", "a\n", "a\n\n", "\n", "a\nb", "a\nb\n", "+\n-\n@@\n", "\r\n", "a\x00", "\xff\n"}
	for _, have := range texts {
		for _, want := range texts {
			x := resource.TextChange{Path: "/f", Have: have, Want: want, HaveExists: true, WantExists: true}
			diff, isDiff := Unified(x)
			added, removed, ok := lineCounts(x)
			require.Equal(t, isDiff, ok, "%q %q", have, want)
			if !ok {
				continue
			}
			plus, minus := hunkLines(diff)
			require.Equal(t, []int{plus, minus}, []int{added, removed}, "%q %q", have, want)
		}
	}
}
