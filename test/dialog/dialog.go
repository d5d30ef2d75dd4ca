// Package dialog reads documents that show what is typed into a shell and what it answers, so that
// tests can type it in and compare.
//
// A block with the name of a file behind its language is that file. A block of the language console
// is a dialog: lines that begin with a prompt are typed in, lines that begin with > go on with the
// same command, and what follows is the answer. In an answer a line of ... stands for any lines, and
// ... in a line for any text.
package dialog

import (
	"regexp"
	"strings"
)

// A Block is a block of code of a document.
type Block struct {
	Language string
	File     string // the file that it is, "" if it is none
	Text     string
	start    int // where Text begins in the document
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

// A Command is typed in after a prompt, and answered.
type Command struct {
	Prompt string // what stands before $ in the document: "" or the name of a machine
	Line   string
	Want   string // the answer, with its line breaks
	start  int    // where Want begins in the document
}

var prompt = regexp.MustCompile(`^([a-z0-9]*)\$ `)

// Commands returns what a dialog has typed in.
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

// Answer returns an expression that the answer has to match, with a line break at its end.
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

// Answered returns the document with other answers: those of commands of the document, in order.
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
