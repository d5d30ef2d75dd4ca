package term

import (
	"os"
	"time"

	"golang.org/x/term"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
)

// The library readline can ask the terminal for the place of the cursor at every key; it then waits
// for the answer without a limit, and loses keys that arrive with the answer. The place is needed
// only for the height of a menu. Therefore the terminal is asked only then, and only if it is known
// to answer.

// probe is the setting that has the library ask.
const probe = "cursor-position-probe"

// answerTimeout is the time limit for an answer of the terminal. A slower terminal counts as one
// without answers.
const answerTimeout = time.Second

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
		t.answers = t.askPosition()
	}
	_ = t.shell.Config.Set(probe, menu && t.answers == answersYes)
}

var positionReport = lazyregexp.New(`\x1b\[[0-9]+;[0-9]+R`)

// askPosition asks the terminal for the place of the cursor. Keys that are typed meanwhile are not
// lost.
func (t *editor) askPosition() answers {
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
	for end := time.Now().Add(answerTimeout); readable(in, time.Until(end)); {
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
