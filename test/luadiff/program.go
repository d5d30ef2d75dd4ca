// Package luadiff compares ccm with Lua 5.1: it generates programs, runs each in both, and
// shrinks those that print something else. Begin with [Generate], [Compare] and [Shrink].
//
// Every generated program ends, and uses nothing that differences.go lists.
package luadiff

import "strings"

// A Program is a list of statements, each on lines of its own.
type Program []*Stmt

// A Stmt is one statement: a text of one line, or Head, Body and End with maybe Mid and Else.
type Stmt struct {
	Head string
	Body []*Stmt
	Mid  string
	Else []*Stmt
	End  string
}

// prelude is the first line of every program. num prints a number with the digits that both
// engines agree on; place cuts the text off a message and keeps its position.
const prelude = `local function num(x) if x ~= x then return "nan" elseif x == 0 then return "0" elseif x == 1/0 then return "inf" elseif x == -1/0 then return "-inf" end return string.format("%.6g", x) end ` +
	`local function place(e) if type(e) ~= "string" then return type(e) end return e:match("^[%w./]+:%d+:") or "no place" end` + "\n"

// String returns the text of the program, which begins with the prelude.
func (p Program) String() string {
	var b strings.Builder
	b.WriteString(prelude)
	write(&b, p, "")
	return b.String()
}

func write(b *strings.Builder, list []*Stmt, indent string) {
	for _, s := range list {
		b.WriteString(indent + s.Head + "\n")
		if s.End == "" {
			continue
		}
		write(b, s.Body, indent+"  ")
		if s.Mid != "" {
			b.WriteString(indent + s.Mid + "\n")
			write(b, s.Else, indent+"  ")
		}
		b.WriteString(indent + s.End + "\n")
	}
}

// Count returns the number of statements.
func (p Program) Count() int {
	n := len(p)
	for _, s := range p {
		n += Program(s.Body).Count() + Program(s.Else).Count()
	}
	return n
}
