package term

import (
	"os"
	"time"

	"golang.org/x/term"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
)

// The library for lines can ask the terminal at every key where its cursor is,
// and then waits for the answer without end, and loses keys that come together
// with it. It need not know, save to see how high a menu can be. So it asks only
// then, and only a terminal that answers.

// probe is the setting that has the library ask.
const probe = "cursor-position-probe"

// patience is how long a terminal may take to answer. What is slower is taken for
// one that does not.
const patience = time.Second

// answers says whether a terminal answers.
type answers uint8

const (
	notAsked answers = iota
	answersYes
	answersNo
)

// probeIfMenu has the library ask while a menu is open.
func (t *editor) probeIfMenu() {
	menu := t.shell.Keymap.Local() != ""
	if menu && t.answers == notAsked {
		t.answers = t.ask6n()
	}
	_ = t.shell.Config.Set(probe, menu && t.answers == answersYes)
}

var positionReport = lazyregexp.New(`\x1b\[[0-9]+;[0-9]+R`)

// ask6n asks the terminal where its cursor is. What a person types meanwhile is
// not lost.
func (t *editor) ask6n() answers {
	in := int(os.Stdin.Fd())
	state, err := term.MakeRaw(in)
	if err != nil {
		return answersNo
	}
	defer func() { _ = term.Restore(in, state) }()
	_, _ = t.term.options.Stdout.Print(terminal.AskPosition)
	typed := ""
	defer func() { t.shell.Keys.Feed(false, []rune(typed)...) }()
	buf := make([]byte, 1024)
	for end := time.Now().Add(patience); readable(in, time.Until(end)); {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			break
		}
		typed += string(buf[:n])
		if at := positionReport().FindStringIndex(typed); at != nil {
			typed = typed[:at[0]] + typed[at[1]:]
			return answersYes
		}
	}
	return answersNo
}
