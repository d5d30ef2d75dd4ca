//go:build integration

package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/dialog"
)

// TestTutorial types in docs/tutorial.md on two fresh machines on which the package of ccm was
// installed, and compares the answers.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	first := boot(t, debian)
	second := bootAs(t, first.name+"-second", debian)
	for name, l := range map[string]*lab{"web1": first, "web2": second} {
		l.fromDebian("nginx", "curl")
		l.sh("hostname " + name)
		l.offer(installsDeb, newerVersion)
		l.sh(installsDeb.install)
	}

	copied := false
	for _, b := range dialog.Blocks(string(text)) {
		if b.File != "" {
			first.write("/root/web/"+b.File, []byte(b.Text))
			continue
		}
		require.True(t, b.IsDialog(), "what is to be done with this block?\n%s", b.Text)
		for _, c := range b.Commands() {
			l := first
			if c.Prompt == "web2" {
				l = second
				if !copied {
					first.copyTo(second, "/root/web")
					copied = true
				}
			}
			got := l.sh("cd \"$(cat /tmp/where 2>/dev/null || echo /root)\"\n{ " + c.Line + "\n} 2>&1 || true\npwd >/tmp/where")
			require.Regexp(t, c.Answer(), got+"\n", "$ %s", c.Line)
		}
	}
	require.True(t, copied, "the tutorial has no second machine")
}

// copyTo copies a directory of small text files from one lab to another.
func (l *lab) copyTo(other *lab, dir string) {
	l.t.Helper()
	other.sh("mkdir -p " + dir)
	for name := range strings.Lines(l.sh("ls " + dir)) {
		path := dir + "/" + strings.TrimSpace(name)
		other.write(path, []byte(l.sh("cat "+path)+"\n"))
	}
}
