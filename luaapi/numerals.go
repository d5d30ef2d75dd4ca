package luaapi

import (
	"strings"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A text may be given as an integer, but 0644 and 1e15 may stand for another text than the one of their number. Lua
// passes on only the number, so these are looked for in the script, which is needed only where it has such numbers.
var (
	unusualNumeral = lazyregexp.New(`(^|[^\w.])(0[0-9xX]|[0-9]+[eE.])`)
	usualNumeral   = lazyregexp.New(`^(-?(0|[1-9][0-9]{0,14})|[^-0-9.].*|-[^0-9.].*)$`) // or no number at all
	// doubtfulNumeral matches what nobody would write for a number that remains one: a mode, a phone number, a hash.
	doubtfulNumeral = lazyregexp.New(`^-?(0[0-9]|[0-9.]+[eE])`)
)

// mayHaveNumerals reports whether a text may have numbers in an unusual notation.
func mayHaveNumerals(text string) bool { return unusualNumeral().MatchString(text) }

// markNumerals replaces such numbers in the properties of a declaration that are texts. The decoder refuses them.
func (dc *declarer) markNumerals(t *resource.Type, entries []schema.Entry, where *locator) {
	c := dc.source.chunkOf(where.node)
	if c == nil || !c.numerals {
		return
	}
	for i, e := range entries {
		if isNumeral(e.Val) {
			if f := t.Schema().Field(e.Key); f != nil && f.Scalar {
				entries[i].Val = where.numeral(c, f, e.Val, schema.Path{e.Key})
			}
			continue
		}
		if e.Val.Kind != schema.List {
			continue
		}
		for n, item := range e.Val.Items() {
			if !isNumeral(item) {
				continue
			}
			if f := t.Schema().Field(e.Key); f != nil && f.Elem != nil && f.Elem.Scalar {
				e.Val.Items()[n] = where.numeral(c, f.Elem, item, schema.Path{e.Key, n})
			}
		}
	}
}

func isNumeral(v schema.Value) bool { return v.Kind == schema.Int || v.Kind == schema.Float }

// numeral returns the value of the property at path: v, unless the script has a number in an unusual notation there.
func (p *locator) numeral(c *chunk, f *schema.Field, v schema.Value, path schema.Path) schema.Value {
	at := p.Locate(path, false)
	lines := strings.SplitN(syntax.WithoutShebang(c.text), "\n", at.Line+1)
	if at.File != c.name || at.Line > len(lines) || at.Col < 1 || at.Col-1+at.Len > len(lines[at.Line-1]) {
		return v
	}
	written := lines[at.Line-1][at.Col-1:][:at.Len]
	if strings.HasSuffix(lines[at.Line-1][:at.Col-1], "-") {
		written = "-" + written
	}
	if f.Kind == schema.Any && !doubtfulNumeral().MatchString(written) {
		return v
	}
	if written == "" || usualNumeral().MatchString(written) || strings.ContainsAny(written, "+*/^%( ") {
		return v
	}
	return schema.Value{Kind: schema.Opaque, X: schema.Numeral(written)}
}
