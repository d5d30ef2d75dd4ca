package luadiff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator makes one program. Variables have a kind, so that most statements succeed; errors
// are made on purpose, below pcall.
type generator struct {
	*rand.Rand
	scopes    [][]variable
	names     int
	depth     int // of blocks
	rounds    int // how often the present statement runs, at most
	cost      int // of the present function
	bigTables bool
}

type variable struct {
	name    string
	kind    byte // i(nteger), s(tring), l(ist of integers), r(ecord with a, b, c), f(unction of two integers)
	cost    int  // of a call
	results int
	fixed   bool // loops count with it
}

const (
	mostRounds  = 3000 // of the innermost statement, calls included
	mostVisible = 40   // variables, of which Lua lets a function capture 60
)

// IsLong reports whether the program of a seed is one that the rewriter of ccm divides.
func IsLong(seed uint64) bool { return seed%8 == 7 }

// Generate returns the program of a seed: the same for the same seed. One in eight is so long
// that the rewriter of ccm divides it.
func Generate(seed uint64) Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x6c7561)), rounds: 1, scopes: [][]variable{nil}}
	n := 6 + g.IntN(40)
	if IsLong(seed) {
		n, g.bigTables = 100+g.IntN(150), true
	}
	p := Program{g.local('i'), g.local('i'), g.local('s'), g.local('l'), g.local('r')}
	for range n {
		if g.bigTables && g.IntN(20) == 0 {
			p = append(p, g.straight(40+g.IntN(100))...)
		}
		p = append(p, g.statement())
	}
	return append(p, g.show())
}

// straight returns assignments and calls that follow one another, which the rewriter of ccm moves into
// functions of their own if they have many constants.
func (g *generator) straight(n int) []*Stmt {
	var out []*Stmt
	for i := range n {
		switch t := g.target('i'); {
		case i%3 == 0:
			out = append(out, line("%s.%s = %d", g.any('r').name, g.pick("a", "b", "c"), g.IntN(10000)))
		case i%7 == 0:
			out = append(out, g.show())
		case t != "":
			out = append(out, line("%s = (%s + %d) %% 9973", t, g.integer(1), g.IntN(10000)))
		}
	}
	return out
}

func (g *generator) name() string { g.names++; return fmt.Sprintf("v%d", g.names) }

func (g *generator) declare(v variable) {
	top := len(g.scopes) - 1
	g.scopes[top] = append(g.scopes[top], v)
}

// visible returns the variables of a kind, of which inner ones hide outer ones.
func (g *generator) visible(kind byte) []variable {
	var out []variable
	seen := map[string]bool{}
	for _, scope := range slices.Backward(g.scopes) {
		for _, v := range slices.Backward(scope) {
			if !seen[v.name] && (v.kind == kind || kind == 0) {
				out = append(out, v)
			}
			seen[v.name] = true
		}
	}
	return out
}

func (g *generator) any(kind byte) variable {
	list := g.visible(kind)
	if len(list) == 0 {
		return variable{name: map[byte]string{'i': "7", 's': `("abc")`, 'l': "({3, 1, 2})", 'r': "({a = 1, b = 2, c = 3})"}[kind], kind: kind, fixed: true}
	}
	return list[g.IntN(len(list))]
}

func (g *generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// in makes the statements of a block.
func (g *generator) in(n int, vars ...variable) []*Stmt {
	g.scopes = append(g.scopes, vars)
	g.depth++
	var out []*Stmt
	for range n {
		out = append(out, g.statement())
	}
	g.depth--
	g.scopes = g.scopes[:len(g.scopes)-1]
	return out
}

func line(format string, args ...any) *Stmt { return &Stmt{Head: fmt.Sprintf(format, args...)} }

// local declares a variable of a kind. Some take the name of another one.
func (g *generator) local(kind byte) *Stmt {
	value := g.value(kind)
	v := variable{name: g.name(), kind: kind}
	if same := g.visible(kind); len(same) > 0 && (len(g.visible(0)) >= mostVisible || g.IntN(6) == 0) {
		v = same[g.IntN(len(same))]
		if len(g.visible(0)) >= mostVisible && !v.fixed {
			return line("%s = %s", v.name, value)
		}
		v.fixed = false
	}
	g.declare(v)
	return line("local %s = %s", v.name, value)
}

func (g *generator) value(kind byte) string {
	switch kind {
	case 'i':
		return g.wrapped()
	case 's':
		return g.text()
	case 'l':
		items := []string{}
		n := g.IntN(6)
		if g.bigTables && g.IntN(10) == 0 {
			n = 40 + g.IntN(300)
		}
		for range n {
			items = append(items, g.item())
		}
		return "{" + strings.Join(items, ", ") + "}"
	default:
		return fmt.Sprintf("{a = %s, b = %s, c = %s}", g.integer(1), g.integer(1), g.integer(1))
	}
}

// item returns an integer for a list, which has no holes: a variable may be a parameter without an argument.
func (g *generator) item() string { return "(" + g.integer(1) + " or 0)" }

// wrapped returns an integer that stays small in loops.
func (g *generator) wrapped() string { return fmt.Sprintf("(%s) %% 9973", g.integer(3)) }

func (g *generator) integer(depth int) string {
	if depth <= 0 || g.IntN(4) == 0 {
		if g.IntN(3) == 0 {
			return fmt.Sprint(g.IntN(1000))
		}
		return g.any('i').name
	}
	a, b := g.integer(depth-1), g.integer(depth-1)
	switch g.IntN(12) {
	case 0:
		return "#" + g.any('l').name
	case 1:
		return "#" + g.any('s').name
	case 2:
		return fmt.Sprintf("(%s[%s] or %s)", g.any('l').name, a, b)
	case 3:
		return g.any('r').name + "." + g.pick("a", "b", "c")
	case 4:
		return fmt.Sprintf("((%s * %s + 0) %% 1009)", a, b)
	case 5:
		return fmt.Sprintf("math.%s(%s, %s)", g.pick("max", "min"), a, b)
	case 6:
		return fmt.Sprintf("(%s and %s or %s)", g.condition(), a, b)
	case 7:
		return fmt.Sprintf("math.floor(%s / %d + 0)", a, 1+g.IntN(9))
	case 8:
		return "(-(" + a + ") + 0)" // not -0
	default:
		return fmt.Sprintf("(%s %s %s)", a, g.pick("+", "-"), b)
	}
}

func (g *generator) condition() string {
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("not (%s == %s)", g.any('s').name, g.any('s').name)
	case 1:
		return fmt.Sprintf("(%s < %s and %s ~= %s)", g.integer(1), g.integer(1), g.integer(1), g.integer(0))
	default:
		return fmt.Sprintf("%s %s %s", g.integer(1), g.pick("<", "<=", ">", ">=", "==", "~="), g.integer(1))
	}
}

var words = []string{"abc", "key = value", "  trim me  ", "a,b,,c", "x1y22z333", "[one] (two)", "%d", "", "Hello World", "aaa.bbb", "q\\\"z"}

func (g *generator) text() string {
	s := g.any('s').name
	switch g.IntN(10) {
	case 0, 1:
		return fmt.Sprintf("(%s .. %s .. %s):sub(1, 40)", s, g.integer(1), g.any('s').name)
	case 2:
		return fmt.Sprintf("%s:%s()", s, g.pick("upper", "lower", "reverse"))
	case 3:
		return fmt.Sprintf("%s:sub(%d, %d)", s, g.IntN(9)-4, g.IntN(12)-4)
	case 4:
		return fmt.Sprintf("%s:rep(%d):sub(1, 30)", s, g.IntN(4))
	case 5:
		if g.IntN(6) == 0 {
			return fmt.Sprintf(`(string.format("%%%s%ds", tostring(%s)))`, g.pick("", "-"), 1+g.IntN(9), g.integer(2))
		}
		return fmt.Sprintf(`(string.format("%%%s%d%s", %s))`, g.pick("", "-", "0", "+", " "), 1+g.IntN(9), g.pick("d", "i", ".2f", ".3d", "g"), g.integer(2))
	case 6:
		return fmt.Sprintf(`(%s:gsub("%s", "%s")):sub(1, 40)`, s, g.pattern(), g.pick("", "x", "<%0>", "%%"))
	case 7:
		return fmt.Sprintf(`(%s:match("%s") or "none") .. ""`, s, g.pattern())
	default:
		return fmt.Sprintf("%q", words[g.IntN(len(words))])
	}
}

// pattern returns a valid pattern with at most one capture.
func (g *generator) pattern() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "^"))
	capture := g.IntN(5)
	n := 1 + g.IntN(4)
	for i := range n {
		if capture == 0 && i == n-1 {
			b.WriteString("(")
		}
		b.WriteString(g.pick("a", "b", ".", "%a", "%d", "%s", "%w", "%p", "%u", "%S", "%W", "[abc]", "[^a-y]", "[%d%s]", "%%", "%."))
		b.WriteString(g.pick("", "", "", "*", "+", "-", "?"))
		if capture == 0 && i == n-1 {
			b.WriteString(")")
		}
	}
	b.WriteString(g.pick("", "", "", "", "$"))
	return b.String()
}

// show prints a few variables.
func (g *generator) show() *Stmt {
	l := g.any('l').name
	return line("print(%s, %s, #%s, table.concat(%s, \" \"), %s.%s, num(%s / 7))", g.any('i').name, g.any('s').name, l, l,
		g.any('r').name, g.pick("a", "b", "c"), g.integer(1))
}

// target returns a variable that can be assigned to, "" if there is none.
func (g *generator) target(kind byte) string {
	list := slices.DeleteFunc(g.visible(kind), func(v variable) bool { return v.fixed })
	if len(list) == 0 {
		return ""
	}
	return list[g.IntN(len(list))].name
}
