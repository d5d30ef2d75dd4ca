// Package dialog reads documents with shell dialogs, so that tests can run the commands and compare the output.
//
// A block with a file name after its language is that file. A block with the language console is a dialog: a line
// that begins with a prompt is a command, lines that begin with > continue it, and the other lines are its output. In
// the output a line of ... stands for any lines, and ... within a line for any text.
package dialog

import (
	"regexp"
	"strings"
)

// A Block is a block of code in a document.
type Block struct {
	Language string
	File     string // name of the file, "" if it is none
	Text     string
	start    int // offset of Text in the document
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+) ?(\\S*)\n(.*?)^```$")

// Blocks returns the blocks of a document that have a language.
func Blocks(document string) []Block {
	var all []Block
	for _, m := range fence.FindAllStringSubmatchIndex(document, -1) {
		all = append(all, Block{Language: document[m[2]:m[3]], File: document[m[4]:m[5]], Text: document[m[6]:m[7]], start: m[6]})
	}
	return all
}

// IsDialog returns whether the block is a dialog with a shell.
func (b Block) IsDialog() bool { return b.File == "" && b.Language == "console" }

// A Command is a command with its expected output.
type Command struct {
	Prompt string // the text before $: "" or the name of a machine
	Line   string
	Want   string // expected output, with its line breaks
	start  int    // offset of Want in the document
}

var prompt = regexp.MustCompile(`^([a-z0-9]*)\$ `)

// Commands returns the commands of a dialog.
func (b Block) Commands() []Command {
	var all []Command
	at := b.start
	for line := range strings.Lines(b.Text) {
		at += len(line)
		last := len(all) - 1
		typed := prompt.FindStringSubmatch(line)
		more, goesOn := strings.CutPrefix(line, ">")
		switch {
		case typed != nil:
			all = append(all, Command{Prompt: typed[1], Line: line[len(typed[0]):], start: at})
		case goesOn && last >= 0 && all[last].Want == "":
			all[last].Line += strings.TrimPrefix(more, " ")
			all[last].start = at
		case last >= 0:
			all[last].Want += line
		}
	}
	return all
}

// Answer returns a regular expression for the output, which ends with a line break.
func (c Command) Answer() string {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(c.Want) {
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

// Answered returns a document with the output of commands replaced; they must be commands of the document, in order.
func Answered(document string, commands []Command, answers []string) string {
	var b strings.Builder
	at := 0
	for i, c := range commands {
		b.WriteString(document[at:c.start])
		b.WriteString(answers[i])
		at = c.start + len(c.Want)
	}
	b.WriteString(document[at:])
	return b.String()
}
