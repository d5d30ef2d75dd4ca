package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/site"
)

// A commandLine finds the places of properties among the arguments of a command, so that a message
// can point at an argument. It implements schema.Locator.
type commandLine struct {
	args  []string
	flags *pflag.FlagSet
	// words is the number of words in the name of the command. positional has the properties
	// whose values follow these words without a flag, in order.
	words      int
	positional []string

	text   string
	places map[string][]diag.Pos // by property, in the order of the arguments
}

var _ schema.Locator = (*commandLine)(nil)

// Locate implements schema.Locator.
func (c *commandLine) Locate(path schema.Path, _ bool) diag.Pos {
	c.read()
	whole := diag.Pos{File: site.CommandLine}
	if len(path) == 0 {
		return whole
	}
	name, _ := path[0].(string)
	at := c.places[name]
	if len(at) == 0 {
		return whole
	}
	if len(path) > 1 {
		if i, ok := path[1].(int); ok && i < len(at) {
			return at[i]
		}
	}
	return at[len(at)-1]
}

// source is the diag.Sources of the command line.
func (c *commandLine) source(file string) (string, bool) {
	c.read()
	return c.text, file == site.CommandLine
}

// read writes the command line as one line and notes the place of each property.
func (c *commandLine) read() {
	if c.places != nil {
		return
	}
	c.places = make(map[string][]diag.Pos)
	var b strings.Builder
	b.WriteString("ccm")
	write := func(arg, property string, secret bool) {
		b.WriteByte(' ')
		shown := shownArgument(arg, secret)
		pos := diag.Pos{File: site.CommandLine, Line: 1, Col: b.Len() + 1, Len: len(shown)}
		b.WriteString(shown)
		if property != "" {
			c.places[property] = append(c.places[property], pos)
		}
	}
	seen, ended := 0, false
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		if ended || len(arg) < 2 || arg[0] != '-' {
			property := ""
			if k := seen - c.words; k >= 0 && k < len(c.positional) {
				property = c.positional[k]
			}
			seen++
			write(arg, property, false)
			continue
		}
		if arg == "--" {
			ended = true
			write(arg, "", false)
			continue
		}
		flag, hasValue := c.flagOf(arg)
		property, secret := propertyOf(flag)
		if flag == nil || hasValue || flag.NoOptDefVal != "" || i+1 == len(c.args) {
			write(arg, property, secret && hasValue)
			continue
		}
		write(arg, "", false)
		i++
		write(c.args[i], property, secret)
	}
	c.text = b.String()
}

// flagOf returns the flag that an argument names, and whether its value is part
// of the argument.
func (c *commandLine) flagOf(arg string) (*pflag.Flag, bool) {
	name, _, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	if strings.HasPrefix(arg, "--") {
		return c.flags.Lookup(name), hasValue
	}
	return c.flags.ShorthandLookup(arg[1:2]), len(arg) > 2
}

// propertyOf returns the property of a flag; for a flag of no property, the flag's name with its
// dashes.
func propertyOf(flag *pflag.Flag) (property string, secret bool) {
	if flag == nil {
		return "", false
	}
	if p, ok := flag.Value.(*schema.Flag); ok {
		return p.Field.Name, p.Field.Secret
	}
	return "--" + flag.Name, false
}

// shownArgument returns an argument as a person would type it, and a long argument without its end.
func shownArgument(arg string, secret bool) string {
	if secret {
		return "(secret)"
	}
	const most = 60
	cut := arg
	if utf8.RuneCountInString(cut) > most {
		cut = string([]rune(cut)[:most]) + "..."
	}
	cut = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, cut)
	return shellquote.Join(cut)
}
