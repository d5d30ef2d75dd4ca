package reference

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandPage returns the page of a command and of those below it.
func commandPage(cmd *cobra.Command) string {
	p := page{root: "../../"}
	p.printf("# %s", cmd.CommandPath())
	writeCommand(&p, cmd, "##")
	return p.String()
}

func writeCommand(p *page, cmd *cobra.Command, heading string) {
	p.printf("%s.", prose(strings.TrimSuffix(cmd.Short, ".")))
	if cmd.Runnable() {
		p.console(cmd.UseLine())
	}
	if len(cmd.Aliases) > 0 {
		p.printf("Also `%s`.", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.Long != "" {
		p.help(cmd.Long)
	}
	if cmd.Example != "" {
		p.console(cmd.Example)
	}
	cmd.InitDefaultHelpFlag()
	writeFlags(p, cmd.LocalFlags(), heading+" Flags")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			p.printf("%s `%s`", heading, sub.CommandPath())
			writeCommand(p, sub, heading+"#")
		}
	}
}

// writeFlags writes a table of flags.
func writeFlags(p *page, flags *pflag.FlagSet, heading string) {
	var b bytes.Buffer
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			name += "[=" + value + "]"
		} else if value != "" {
			name += " " + value
		}
		text := "`" + cell(name) + "`"
		if f.Shorthand != "" {
			text = "`-" + f.Shorthand + "`, " + text
		}
		b.WriteString("| " + text + " | " + cell(prose(usage)) + standard(f) + " |\n")
	})
	if b.Len() > 0 {
		p.printf("%s", heading)
		p.printf("| flag | effect |\n|---|---|\n%s", b.String())
	}
}

// standard returns the default of a flag, if it says anything.
func standard(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "[]", "<nil>", "0s":
		return ""
	}
	if strings.Contains(f.Usage, "(default ") {
		return ""
	}
	return " (default `" + cell(f.DefValue) + "`)"
}

// topicPage returns the page of a topic of ccm help.
func topicPage(cmd *cobra.Command) string {
	p := page{root: "../"}
	p.printf("# %s", prose(cmd.Short))
	p.help(cmd.Long)
	p.printf("`ccm help %s` prints this page.", cmd.Name())
	return p.String()
}

// help appends the text of ccm help, of which indented lines are code.
func (p *page) help(text string) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(part, "  ") {
			p.console(outdented(part))
			continue
		}
		p.printf("%s", prose(part))
	}
}

// outdented returns lines without the blanks that all of them begin with.
func outdented(text string) string {
	lines := strings.Split(text, "\n")
	least := len(text)
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			least = min(least, len(l)-len(strings.TrimLeft(l, " ")))
		}
	}
	for i, l := range lines {
		lines[i] = l[min(least, len(l)):]
	}
	return strings.Join(lines, "\n")
}
