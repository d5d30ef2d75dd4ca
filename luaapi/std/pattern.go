package std

import (
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
)

// Package regexp takes no context, and one search in a long text can take minutes. Therefore it
// gets a long text rune by rune, and each rune is an occasion to end. A short text is given as a
// whole, because that is faster and ends soon.

// A pattern is a regular expression that was compiled.
type pattern struct {
	*regexp.Regexp
	// cost is the maximum number of steps for one rune of the text: each instruction may keep the
	// offsets of all groups.
	cost int
	// looksBack says that a match depends on the text in front of it, as ^ and \b do.
	looksBack bool
	// literal is a text in every match, "" if none is known.
	literal string
	// lookbehind matches the pattern behind the first rune of a text, as group 1. It is nil until the
	// first use.
	lookbehind *regexp.Regexp
}

// Limits of patterns.
const (
	maxPatterns = 256      // that are kept
	maxPattern  = 64 << 10 // bytes of one
	maxCost     = 1 << 22
	// maxWork is the number of steps that may pass before the end of the evaluation is noticed.
	maxWork = 1 << 24
)

// patternArg returns argument 2, compiled.
func patternArg(c *call) *pattern {
	text := c.str(2)
	if p := c.patterns[text]; p != nil {
		return p
	}
	if len(text) > maxPattern {
		c.fail("the pattern %w", diag.MustBe("at most %d KiB", maxPattern>>10))
	}
	p := compilePattern(c, text)
	if c.patterns == nil {
		c.patterns = make(map[string]*pattern)
	}
	if len(c.patterns) >= maxPatterns {
		clear(c.patterns)
	}
	c.patterns[text] = p
	return p
}

func compilePattern(c *call, text string) *pattern {
	must := func(err error) {
		if err != nil {
			c.fail("%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	must(err)
	prog, err := syntax.Compile(tree.Simplify())
	must(err)
	p := &pattern{cost: len(prog.Inst) * (tree.MaxCap() + 1), literal: literalIn(tree)}
	if p.cost > maxCost {
		c.fail("the pattern has %d instructions times %d groups: %w", len(prog.Inst), tree.MaxCap()+1, diag.Expected("no more than %d", maxCost))
	}
	const back = syntax.EmptyBeginLine | syntax.EmptyBeginText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	for _, i := range prog.Inst {
		p.looksBack = p.looksBack || i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&back != 0
	}
	p.Regexp, err = regexp.Compile(text)
	must(err)
	return p
}

// literalIn returns the longest text that is known to be in every match.
func literalIn(tree *syntax.Regexp) (longest string) {
	switch tree.Op {
	case syntax.OpLiteral:
		// The replacement character also matches a byte that is not UTF-8.
		if text := string(tree.Rune); tree.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(text, utf8.RuneError) {
			return text
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range tree.Sub {
			if text := literalIn(sub); len(text) > len(longest) {
				longest = text
			}
		}
	}
	return longest
}

// candidates returns the lines of a text in which the pattern may match, with their numbers. Without the search for
// the literal, a run of 4,000 lines with match in one file takes 18 s of processor time instead of 3.5.
func (p *pattern) candidates(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for number := 1; text != ""; number++ {
			at := strings.Index(text, p.literal)
			if at < 0 {
				return
			}
			begin := strings.LastIndexByte(text[:at], '\n') + 1
			number += strings.Count(text[:begin], "\n")
			line, rest, _ := strings.Cut(text[begin:], "\n")
			if !yield(number, line) {
				return
			}
			text = rest
		}
	}
}

// isIn reports whether the pattern matches anywhere in a text.
func (p *pattern) isIn(c *call, text string) bool {
	if len(text) <= maxWork/p.cost {
		return p.MatchString(text)
	}
	return p.MatchReader(&runes{c: c, text: text, cost: p.cost})
}

// find returns the offsets of the first match from an offset on, and of the match's groups; nil if
// there is none.
func (p *pattern) find(c *call, text string, from int) []int {
	c.must(c.in.Context().Err())
	re, skip := p.Regexp, 0
	if from > 0 && p.looksBack {
		if p.lookbehind == nil {
			tree, err := syntax.Parse(p.String(), syntax.Perl) // String closes what the pattern leaves open, such as \Q
			c.must(err)
			p.lookbehind, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`)
			c.must(err)
		}
		_, size := utf8.DecodeLastRuneInString(text[:from])
		re, skip, from = p.lookbehind, 2, from-size
	}
	var at []int
	if rest := text[from:]; len(rest) <= maxWork/p.cost {
		at = re.FindStringSubmatchIndex(rest)
	} else {
		at = re.FindReaderSubmatchIndex(&runes{c: c, text: rest, cost: p.cost})
	}
	if at == nil {
		return nil
	}
	at = at[skip:]
	for i := range at {
		if at[i] >= 0 { // else the group took no part
			at[i] += from
		}
	}
	return at
}

// findAll returns the offsets of matches that do not overlap, at most most of them. An empty
// match does not follow another match directly.
func (p *pattern) findAll(c *call, text string, most int) (all [][]int) {
	last := -1 // the end of the previous match
	for from := 0; from <= len(text) && len(all) < most; {
		at := p.find(c, text, from)
		if at == nil {
			break
		}
		if at[0] < at[1] || at[0] != last {
			all = append(all, at)
		}
		last = at[1]
		if from < last {
			from = last
			continue
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		from += max(size, 1)
	}
	return all
}

// split cuts a text at the matches, into limit parts at most if limit is positive.
func (p *pattern) split(c *call, text string, limit int) []string {
	if text == "" && p.String() == "" {
		return nil
	}
	if limit < 1 {
		limit = maxItems + 2
	}
	var parts []string
	begin := 0
	for _, at := range p.findAll(c, text, limit) {
		// An empty match at either end divides nothing.
		if len(parts) < limit-1 && (at[0] < at[1] || at[0] > 0 && at[0] < len(text)) {
			parts = append(parts, text[begin:at[0]])
			begin = at[1]
		}
	}
	return append(parts, text[begin:])
}

// runes gives a text rune by rune, and throws when the evaluation has ended.
type runes struct {
	c    *call
	text string
	at   int
	cost int // of one rune
	work int
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (rune, int, error) {
	if r.work += r.cost; r.work >= maxWork {
		r.work = 0
		r.c.must(r.c.in.Context().Err())
	}
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	if b := r.text[r.at]; b < utf8.RuneSelf {
		r.at++
		return rune(b), 1, nil
	}
	v, size := utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return v, size, nil
}
