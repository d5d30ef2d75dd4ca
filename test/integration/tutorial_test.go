//go:build integration

package integration

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTutorial types in docs/tutorial.md on two fresh machines, and compares the answers.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	first := boot(t, debian)
	second := bootAs(t, first.name+"-second", debian)
	for name, l := range map[string]*lab{"web1": first, "web2": second} {
		l.fromDebian("nginx", "curl")
		l.sh("hostname " + name + "; apt-get -qq install curl >/dev/null 2>&1; ln -s /opt/ccm/ccm /usr/local/bin/ccm")
	}

	copied := false
	for _, b := range blocks(t, string(text)) {
		if b.file != "" {
			first.write("/root/web/"+b.file, []byte(b.text))
			continue
		}
		for _, c := range b.commands() {
			l := first
			if c.second {
				l = second
			}
			if c.second && !copied {
				first.copyTo(second, "/root/web")
				copied = true
			}
			got := l.sh("cd \"$(cat /tmp/where 2>/dev/null || echo /root)\"\n{ " + c.line + "\n} 2>&1 || true\npwd >/tmp/where")
			require.Regexp(t, c.answer(), got+"\n", "$ %s", c.line)
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

// A block of code of a document: a file to write, or a dialog with a shell.
type block struct {
	file string
	text string
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+) ?(\\S*)\n(.*?)^```$")

// blocks returns the blocks of a document. All of them are files or dialogs.
func blocks(t *testing.T, document string) []block {
	t.Helper()
	var all []block
	for _, m := range fence.FindAllStringSubmatch(document, -1) {
		require.True(t, m[2] != "" || m[1] == "console", "what is to be done with this block?\n%s", m[0])
		all = append(all, block{file: m[2], text: m[3]})
	}
	require.NotEmpty(t, all)
	return all
}

// A dialog is a command that is typed in, and the answer.
type dialog struct {
	line   string
	want   string
	second bool // on the second machine
}

// commands returns what a block has typed in: lines after $ or web2$, and those after > that go
// on with the same command.
func (b block) commands() []dialog {
	var all []dialog
	for line := range strings.Lines(b.text) {
		command, typed := strings.CutPrefix(line, "$ ")
		elsewhere, second := strings.CutPrefix(line, "web2$ ")
		more, goesOn := strings.CutPrefix(line, ">")
		switch {
		case typed:
			all = append(all, dialog{line: command})
		case second:
			all = append(all, dialog{line: elsewhere, second: true})
		case goesOn && all[len(all)-1].want == "":
			all[len(all)-1].line += strings.TrimPrefix(more, " ")
		default:
			all[len(all)-1].want += line
		}
	}
	return all
}

// answer returns an expression for the answer. A line of ... stands for any lines, and ... in a
// line for any text.
func (d dialog) answer() string {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(d.want) {
		if line == "...\n" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "...")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		b.WriteString(strings.Join(parts, ".*") + `\n`)
	}
	b.WriteString(`\n?\z`)
	return b.String()
}
