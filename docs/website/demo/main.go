// Command demo records the plan and two runs of a small site as an SVG for the README and the documentation. Start it
// as root in the root of the repository (make demo):
//
//	go run ./docs/website/demo docs/website/demo.svg
//
// It builds ccm and runs it on a pseudo-terminal. The same program gives the same picture: ccm works below a temporary
// directory (--root, which the picture does not show), and durations are left out.
package main

import (
	_ "embed" // for the site
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

//go:embed site.lua
var site string

// machine is the files before the first run.
var machine = map[string]string{
	"root/etc/hosts":          "127.0.0.1 localhost\n",
	"root/etc/myapp/app.conf": "port = 80\nworkers = 4\n",
	"site.lua":                site,
}

// commands are what is recorded.
var commands = []string{"cat site.lua", "ccm plan site.lua --diff full", "ccm run site.lua", "ccm run site.lua"}

// The size of the terminal.
const columns, rows = 80, 60

// duration is how long a run took, as the last line of a report has it.
var duration = lazyregexp.New(` \([0-9][0-9.msµ]*\)`)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: demo FILE")
	}
	dir, err := os.MkdirTemp("", "ccm-demo")
	if err == nil {
		var picture string
		if picture, err = demo(dir); err == nil {
			err = os.WriteFile(os.Args[1], []byte(picture), 0o644)
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// demo builds ccm in a directory, records it there, and returns the picture.
func demo(dir string) (string, error) {
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "bin", "ccm"), "github.com/luaccm/ccm/cmd/ccm")
	if output, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("go build: %w", err), errors.New(string(output)))
	}
	steps, err := record(dir)
	return svg(steps), err
}

// A step is a command and what it prints.
type step struct {
	command string
	lines   [][]run
}

// A run is text of one color.
type run struct {
	text  string
	color vt10x.Color
}

// record runs the commands in a directory that has bin/ccm. It fails if one of them fails.
func record(dir string) (steps []step, err error) {
	for name, text := range machine {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	for _, command := range commands {
		output, err := onTerminal(dir, command)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", command, err), errors.New(output))
		}
		steps = append(steps, step{command, screen(duration().ReplaceAllString(output, ""))})
	}
	return steps, nil
}

// onTerminal returns what a command writes to a terminal.
func onTerminal(dir, command string) (string, error) {
	line := command
	if rest, ok := strings.CutPrefix(command, "ccm "); ok {
		line = "bin/ccm --color always " + rest + " --root root --state-dir state"
	}
	cmd := exec.Command("sh", "-c", "umask 022; "+line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		return "", err
	}
	defer terminal.Close()
	output, err := io.ReadAll(terminal)
	if errors.Is(err, syscall.EIO) { // which is how the end of a pseudo-terminal is reported
		err = nil
	}
	return string(output), errors.Join(err, cmd.Wait())
}

// screen returns the lines of a terminal after some output.
func screen(output string) (lines [][]run) {
	term := vt10x.New(vt10x.WithSize(columns, rows))
	_, _ = io.WriteString(term, output)
	for y := range term.Cursor().Y {
		var line []run
		for x := range columns {
			glyph := term.Cell(x, y)
			if last := len(line) - 1; last >= 0 && line[last].color == glyph.FG {
				line[last].text += string(glyph.Char)
			} else {
				line = append(line, run{string(glyph.Char), glyph.FG})
			}
		}
		if last := len(line) - 1; last >= 0 {
			line[last].text = strings.TrimRight(line[last].text, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
