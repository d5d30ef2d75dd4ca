package term

import (
	"os"
	"strings"
	"unicode/utf8"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"github.com/luaccm/ccm/runtime/terminal"
)

// complete returns the completions at the cursor, in the form of the library readline.
func (t *editor) complete(line []rune, cursor int) readline.Completions {
	if t.question != "" {
		return readline.Completions{}
	}
	before := string(line[:min(cursor, len(line))])
	c := t.term.dialog.Complete(string(line), len(before))
	if len(c.Items) == 0 {
		return readline.Completions{}
	}
	// The library replaces the word before the cursor, up to a blank, and counts the word's bytes as
	// characters.
	from := strings.LastIndexAny(before[:c.Start], " \t\n") + 1
	if i := strings.LastIndexFunc(before[from:], func(r rune) bool { return r >= 0x80 }); i >= 0 {
		_, size := utf8.DecodeRuneInString(before[from+i:])
		if from += i + size; from > c.Start || from == len(before) {
			return readline.Completions{}
		}
	}
	t.probeIfMenu()
	if t.answers == answersNo {
		// The room for a menu is unknown, so the menu must fit the screen.
		_, height, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil || height <= 0 {
			height = 24
		}
		c.Items = c.Items[:min(len(c.Items), max(1, height-8))]
	}
	values := make([]readline.Completion, 0, len(c.Items))
	docs := make(map[string]int)
	for _, item := range c.Items {
		if terminal.Line(item.Text) != item.Text {
			continue // cannot be typed, such as some names of files
		}
		group := item.Group
		if !t.color {
			group = "" // otherwise the library colors it
		}
		// The library would join items with equal descriptions to one item with several names.
		doc := terminal.Line(item.Doc)
		if doc != "" {
			docs[doc]++
			doc += strings.Repeat(" ", docs[doc]-1)
		}
		values = append(values, readline.Completion{
			Value: before[from:c.Start] + item.Text, Display: strings.TrimSuffix(item.Text, " = "), Description: doc, Tag: group,
		})
	}
	out := readline.CompleteRaw(values).NoSort().DisplayList()
	out.PREFIX = before[from:]
	return out
}
