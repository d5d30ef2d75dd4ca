package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

// A Command is run by a line that begins with a dot.
type Command struct {
	Name    string
	Aliases []string
	Args    string // in the form of the help: [PATH]
	Doc     string // one line for users
	Detail  string // further lines for .help NAME
	Takes   Arg    // the kind of argument, for completion
	Words   []string
	// Run runs the command. Its output goes where the answers go.
	Run func(ctx context.Context, d *Dialog, arg string) error
}

// An Arg is a kind of argument of a command.
type Arg uint8

// The kinds of arguments.
const (
	ArgNone Arg = iota
	ArgLua
	ArgResource
	ArgFact
	ArgType
	ArgFile
	ArgCommand
)

// synopsis returns the usage of the command.
func (c *Command) synopsis() string { return strings.TrimSpace("." + c.Name + " " + c.Args) }

// isCommand reports whether a line is a command. No statement of Lua begins
// with a dot and a letter; the backslash is a habit from another prompt.
func isCommand(line string) bool {
	_, _, ok := splitCommand(line)
	return ok
}

var (
	// commandLine matches a line with a command, or only what begins one.
	commandLine = lazyregexp.New(`(?s)^[.\\](?:([A-Za-z_[:^ascii:]][-\w[:^ascii:]]*)([\t-\r ].*)?)?$`)
	// topicName matches what looks like the name of a documented topic.
	topicName = lazyregexp.New(`^[\w.:[:^ascii:]]+$`)
)

// splitCommand returns the name of the command at the beginning of a line, and the text behind it.
func splitCommand(line string) (name, arg string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	parts := commandLine().FindStringSubmatch(line)
	if parts == nil {
		return "", "", false
	}
	return parts[1], strings.TrimLeft(parts[2], " \t"), true
}

// isQuestion reports whether a line asks for documentation: ?name or name?.
func isQuestion(line string) bool {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "?") {
		return true
	}
	name, ok := strings.CutSuffix(line, "?")
	return ok && isTopic(name)
}

// isTopic reports whether a text looks like the name of a documented topic.
func isTopic(name string) bool {
	return topicName().MatchString(name)
}

// findCommand returns the command of that name or alias, or nil.
func findCommand(list []Command, name string) *Command {
	for i := range list {
		if c := &list[i]; c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// run runs a command.
func (d *Dialog) run(ctx context.Context, name, arg string) error {
	c := findCommand(d.commands, name)
	if c == nil {
		var names []string
		for _, c := range d.commands {
			names = append(names, "."+c.Name)
		}
		e := unknown("command ."+name, "."+name, names)
		if e.Hint == "" {
			e.Hint = "list the commands with .help"
		}
		return e
	}
	if arg != "" && c.Args == "" {
		return fmt.Errorf(".%s: %w", c.Name, diag.Unexpected("argument %q", arg))
	}
	if arg == "" && c.Args != "" && !strings.HasPrefix(c.Args, "[") {
		return fmt.Errorf("usage: %s", c.synopsis())
	}
	return c.Run(ctx, d, arg)
}

// unknown is the error about a name that is not there.
func unknown(what, name string, known []string) *diag.Error {
	e := diag.At(diag.Pos{}, diag.None("such %s", what))
	e.Hint = diag.DidYouMean(name, known)
	return e
}

// help prints all commands, or the help of one command.
func (d *Dialog) help(name string) error {
	if name == "" {
		width := 0
		for _, c := range d.commands {
			width = max(width, len(c.synopsis()))
		}
		for _, c := range d.commands {
			d.printf("  %-*s  %s\n", width, c.synopsis(), c.Doc)
		}
		d.printf("\n")
		for _, f := range d.env.opts.Functions {
			name, _, _ := strings.Cut(f.Signature, "(")
			d.printf("  %-*s  %s\n", width, name+"()", words.Shorten(words.FirstSentence(f.Doc), terminal.TextWidth-width-4))
		}
		d.print(helpFooter)
		return nil
	}
	if c := findCommand(d.commands, strings.TrimPrefix(name, ".")); c != nil {
		d.printf("%s\n%s\n", c.synopsis(), terminal.Wrap(c.Doc, "  ", terminal.TextWidth))
		if c.Detail != "" {
			d.print(indent(c.Detail, "  "))
		}
		return nil
	}
	return d.explain(name)
}

const helpFooter = `  EXPRESSION            print its value; _ is the last value, _1 the one before
  file { "/etc/motd" }  declare a resource; .apply asks before it changes anything
  ?NAME                 describe NAME: a type, a function, a fact or a variable

Tab completes. An incomplete line continues on the next one. Ctrl-C discards the
input, or stops a running command. Ctrl-R searches the history. Ctrl-D quits.`

// habitHint suggests how to leave or to get help after an input that other prompts understand. It
// returns "" for another text, or if the name is a variable.
func (d *Dialog) habitHint(text string) string {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	name := strings.TrimSuffix(word, "()")
	if _, taken := d.env.console.Global(name); taken {
		return ""
	}
	switch rest = strings.TrimSpace(rest); {
	case name == "help" && rest == "":
		return ".help lists the commands, ?NAME describes a name"
	case name == "help" && isTopic(rest):
		return "?" + rest + " describes it, .help lists the commands"
	case (name == "exit" || name == "quit") && rest == "":
		return "use .quit or Ctrl-D"
	}
	return ""
}

// explain prints the documentation of a topic: a command, a type, a property, a fact, a function or
// a variable.
func (d *Dialog) explain(name string) error {
	d.env.document()
	name = strings.TrimSpace(name)
	if name == "" {
		return d.help("")
	}
	if cmd, ok := strings.CutPrefix(name, "."); ok {
		return d.help(cmd)
	}
	name = strings.TrimPrefix(name, "std.") // std.line and line are one type, std.str and str one library
	typ, _, _ := strings.Cut(name, ".")
	if d.env.registry.Type(typ) != nil {
		if text, ok := d.env.opts.Reference(name); ok {
			d.print(text)
			return nil
		}
	}
	if branch, ok := strings.CutPrefix(name, "facts."); ok {
		text, err := factText(d.env.facts, branch)
		if err == nil {
			d.print(text)
		}
		return err
	}
	t, known := d.manual.topic(strings.ReplaceAll(name, ":", "."))
	if known {
		d.print(d.manual.topicText(t))
		return nil
	}
	v, _ := d.env.follow(splitName(name))
	if v == nil {
		return d.noTopic(name)
	}
	if fn, ok := v.(*lua.LFunction); ok {
		d.print(d.manual.functionText(name, fn))
		return nil
	}
	d.print(d.printer.show(v))
	return nil
}

// noTopic is the error about a name that nothing is known of.
func (d *Dialog) noTopic(name string) error {
	known := append(d.env.console.GlobalNames(), d.env.registry.TypeNames()...)
	for _, t := range d.manual.topics() {
		known = append(known, t.name)
	}
	return unknown("documentation of "+name, name, known)
}
