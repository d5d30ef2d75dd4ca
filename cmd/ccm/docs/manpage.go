package docs

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage returns the manual page of a command in the language of groff_man(7). The library that
// comes with cobra reads Markdown for that, which costs each start of ccm a third of a millisecond.
func manPage(cmd *cobra.Command, date time.Time) []byte {
	var p manWriter
	p.printf(".TH %q 1 %q ccm ccm\n", strings.ToUpper(manName(cmd)), date.Format("2006-01-02"))
	p.section("NAME")
	p.printf("%s \\- %s\n", manLiteral(manName(cmd)), manText(cmd.Short))
	p.section("SYNOPSIS")
	p.printf(".B %s\n", manLiteral(cmd.UseLine()))
	p.section("DESCRIPTION")
	p.description(cmd.Long)
	cmd.InitDefaultHelpFlag()
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	var related []string
	if cmd.HasParent() {
		related = append(related, manName(cmd.Parent()))
	}
	for _, c := range documentedBelow(cmd) {
		related = append(related, manName(c))
	}
	if len(related) > 0 {
		p.section("SEE ALSO")
		for i, name := range related {
			if i > 0 {
				p.printf(",\n")
			}
			p.printf("\\fB%s\\fP(1)", manLiteral(name))
		}
		p.printf("\n")
	}
	return p.Bytes()
}

// manName returns the name of a command's page: the names of the command and its parents, with
// hyphens.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// documentedBelow returns the subcommands of a command that have a page.
func documentedBelow(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			list = append(list, c)
		}
	}
	return list
}

// A manWriter collects a page.
type manWriter struct{ bytes.Buffer }

func (p *manWriter) printf(format string, args ...any) { p.WriteString(fmt.Sprintf(format, args...)) }

func (p *manWriter) section(title string) { p.printf(".SH %s\n", title) }

// description writes paragraphs. Indented lines stay unchanged.
func (p *manWriter) description(text string) {
	example := false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !example:
			p.printf(".PP\n.RS 4\n.EX\n")
			example = true
		case !indented && example:
			p.printf(".EE\n.RE\n")
			example = false
		}
		switch {
		case line == "":
			p.printf(".PP\n")
		case example:
			p.printf("%s\n", manLiteral(line[2:]))
		default:
			p.printf("%s\n", manText(line))
		}
	}
	if example {
		p.printf(".EE\n.RE\n")
	}
}

// flags writes flags with their help.
func (p *manWriter) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		p.printf(".TP\n")
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			p.printf("\\fB\\-%s\\fP, ", f.Shorthand)
		}
		p.printf("\\fB\\-\\-%s\\fP", manLiteral(f.Name))
		switch {
		case f.Value.Type() == "bool":
		case f.NoOptDefVal != "":
			if value == "" {
				value = f.NoOptDefVal
			}
			p.printf("[=%s]", manLiteral(value))
		case value != "":
			p.printf("=%s", manLiteral(value))
		}
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		p.printf("\n%s\n", manText(usage))
	})
}

// manText escapes a text so that roff(7) finds no requests or escapes in it.
func manText(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, `\`, `\e`), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manLiteral escapes text to be typed literally: its hyphens are no hyphenation.
func manLiteral(text string) string { return strings.ReplaceAll(manText(text), "-", `\-`) }
