package luadiff

import (
	"fmt"
	"slices"
	"strings"
)

// statement returns a random statement.
func (g *generator) statement() *Stmt {
	g.cost += g.rounds
	kind := g.IntN(28)
	if g.depth >= 4 && kind >= 9 && kind != 20 {
		kind = g.IntN(9)
	}
	switch kind {
	case 0, 1:
		return g.local("islr"[g.IntN(4)])
	case 2:
		if t := g.target('i'); t != "" {
			return line("%s = %s", t, g.wrapped())
		}
	case 3:
		if t := g.target('s'); t != "" {
			return line("%s = %s", t, g.text())
		}
	case 4, 5:
		return g.assignment()
	case 6, 7:
		return g.list()
	case 8:
		return line("%s.%s = %s", g.any('r').name, g.pick("a", "b", "c"), g.wrapped())
	case 9:
		return &Stmt{Head: "do", Body: g.in(2 + g.IntN(3)), End: "end"}
	case 10, 11:
		s := &Stmt{Head: "if " + g.condition() + " then", Body: g.in(1 + g.IntN(3)), End: "end"}
		if g.IntN(2) == 0 {
			s.Mid, s.Else = g.pick("else", "elseif "+g.condition()+" then"), g.in(1+g.IntN(3))
		}
		return s
	case 12, 13, 14:
		return g.loop()
	case 15, 16:
		return g.function()
	case 17, 18:
		return g.protected()
	case 19:
		return g.coroutineLoop()
	case 20, 21:
		return g.call()
	case 22:
		return g.object()
	case 23:
		return g.closures()
	case 24:
		return g.sort()
	case 26, 27:
		return g.chain()
	}
	return g.show()
}

// assignment assigns to several targets at once, which the right sides read.
func (g *generator) assignment() *Stmt {
	var to, values []string
	for range 2 + g.IntN(3) {
		t := g.target('i')
		switch g.IntN(6) {
		case 0:
			t = g.any('r').name + "." + g.pick("a", "b", "c")
		case 1:
			t = g.any('l').name + "[1]"
		}
		// Lua leaves open which of two assignments to one place is last, so there is one place of each kind.
		if t != "" && !slices.ContainsFunc(to, func(o string) bool {
			return o == t || o[len(o)-1] == ']' && t[len(t)-1] == ']' || strings.Contains(o, ".") && strings.Contains(t, ".")
		}) {
			to, values = append(to, t), append(values, g.wrapped())
		}
	}
	for _, t := range to {
		if g.IntN(2) == 0 && t[len(t)-1] != ']' {
			values[g.IntN(len(values))] = "(" + t + " or 0)"
		}
	}
	for i, t := range to { // parentheses would begin a call of the line before
		if t[0] == '(' {
			to[i] = "v1"
		}
	}
	if len(to) == 0 || len(slices.Compact(slices.Sorted(slices.Values(to)))) < len(to) {
		return g.show()
	}
	return line("%s = %s", strings.Join(to, ", "), strings.Join(values, ", "))
}

func (g *generator) list() *Stmt {
	l := g.any('l').name
	if l[0] == '(' {
		return g.local('l')
	}
	switch g.IntN(6) {
	case 0:
		return line("%s[#%s + 1] = %s", l, l, g.wrapped())
	case 1:
		return line("%s[#%s] = nil", l, l)
	case 2:
		return line("table.insert(%s, 1, %s)", l, g.wrapped())
	case 3:
		return line("print(table.remove(%s) or \"empty\", #%s)", l, l)
	case 4:
		return line("print(unpack(%s, 1, %d))", l, g.IntN(3))
	}
	return line("if #%s > 0 then %s[#%s] = %s end", l, l, l, g.wrapped())
}

func (g *generator) sort() *Stmt {
	l := g.any('l').name
	if g.IntN(2) == 0 {
		return line("table.sort(%s)", l)
	}
	return line("table.sort(%s, function(x, y) return x > y end)", l)
}

func (g *generator) loop() *Stmt {
	n := 1 + g.IntN(5)
	if g.rounds*n > mostRounds/10 {
		return g.show()
	}
	g.rounds *= n
	defer func() { g.rounds /= n }()
	name := g.name()
	counter := variable{name: name, kind: 'i', fixed: true}
	body := func(vars ...variable) []*Stmt {
		list := g.in(1+g.IntN(4), vars...)
		if g.IntN(5) == 0 {
			list = append(list, &Stmt{Head: "if " + g.condition() + " then", Body: []*Stmt{line("break")}, End: "end"})
		}
		return list
	}
	switch g.IntN(5) {
	case 0:
		return &Stmt{Head: fmt.Sprintf("for %s = %d, 1, -1 do", name, n), Body: body(counter), End: "end"}
	case 1:
		return &Stmt{Head: fmt.Sprintf("for %s = 1, %d do", name, n), Body: body(counter), End: "end"}
	case 2:
		key := variable{name: g.name(), kind: 'i', fixed: true}
		return &Stmt{Head: fmt.Sprintf("for %s, %s in ipairs {%s, %s} do", key.name, name, g.item(), g.item()), Body: body(key, variable{name: name, kind: 'i'}), End: "end"}
	case 3:
		return &Stmt{Head: "do", Body: []*Stmt{line("local %s = 0", name), {Head: fmt.Sprintf("while %s < %d do", name, n),
			Body: append([]*Stmt{line("%s = %s + 1", name, name)}, body(counter)...), End: "end"}}, End: "end"}
	default: // no other variable takes the name of the counter, which the condition would see then
		inner := g.name()
		return &Stmt{Head: "do", Body: []*Stmt{line("local %s = 0", name), {Head: "repeat",
			Body: append([]*Stmt{line("%s = %s + 1", name, name), line("local %s = %s", inner, name)}, g.in(1+g.IntN(3), variable{name: inner, kind: 'i'})...),
			End:  fmt.Sprintf("until %s >= %d or %s %% 5 == 4", name, n, inner)}}, End: "end"}
	}
}

// body returns the statements of a function, and what a call of it costs.
func (g *generator) body(n int, vars ...variable) ([]*Stmt, int) {
	rounds, cost := g.rounds, g.cost
	g.rounds, g.cost = 1, 0
	list := g.in(n, vars...)
	made := g.cost + 1
	g.rounds, g.cost = rounds, cost
	return list, made
}

func (g *generator) function() *Stmt {
	v := variable{name: g.name(), kind: 'f', results: g.IntN(4), fixed: true}
	a, b := variable{name: g.name(), kind: 'i'}, variable{name: g.name(), kind: 'i'}
	parameters := a.name + ", " + b.name
	head := "local function %s(%s)"
	switch g.IntN(4) {
	case 0:
		head = "local %s = function(%s)"
	case 1: // the outer variable of the same name
		if old := g.visible('f'); len(old) > 0 {
			v.name = old[0].name
			head = "local %s = function(%s)"
		}
	}
	vararg := g.IntN(3) == 0
	if vararg {
		parameters = "..."
	}
	body, cost := g.body(1+g.IntN(4), a, b)
	if vararg {
		body = append([]*Stmt{line("local %s, %s = (...) or select(\"#\", ...), (select(2, ...))", a.name, b.name)}, body...)
	}
	var results []string
	for range v.results {
		results = append(results, g.integer(1))
	}
	if vararg && g.IntN(2) == 0 {
		results = append(results, "...")
	}
	if len(results) > 0 {
		body = append(body, line("return %s", strings.Join(results, ", ")))
	}
	v.cost = cost
	g.declare(v)
	return &Stmt{Head: fmt.Sprintf(head, v.name, parameters), Body: body, End: "end"}
}

func (g *generator) call() *Stmt {
	list := slices.DeleteFunc(g.visible('f'), func(v variable) bool { return v.cost*g.rounds+g.cost > mostRounds })
	if len(list) == 0 {
		return g.show()
	}
	f := list[g.IntN(len(list))]
	g.cost += f.cost * g.rounds
	args := g.pick(g.integer(2)+", "+g.integer(2), "1", "", "unpack{1, 2, 3}")
	if args != "" && g.IntN(3) > 0 {
		args = g.integer(2) + ", " + g.integer(1)
	}
	call := fmt.Sprintf("%s(%s)", f.name, args)
	switch g.IntN(4) {
	case 0:
		return line("print(select(\"#\", pcall(%s, %s)))", f.name, g.integer(1))
	case 1:
		if t, u := g.target('i'), g.target('i'); t != "" && t != u {
			return line("%s, %s = ((%s) or 1) %% 97, %s", t, u, call, g.wrapped())
		}
	case 2:
		return line("print((select(2, pcall(function() return select(\"#\", %s), (%s) end))) ~= nil)", call, g.integer(1))
	}
	return line("pcall(%s, %s)", f.name, g.integer(1)+", "+g.integer(1))
}

// failure returns a statement that fails, always or on a condition.
func (g *generator) failure() *Stmt {
	e := g.pick(`error("failed")`, `error("failed", 0)`, `error("failed", 2)`, `error({code = 1})`, `error()`, `assert(nil)`,
		`local x = nil; x.y = 1`, `local x; local y = x.z`, `local x; x()`, `local x = {} + 1`, `local x = {} .. "a"`, `local x = {} < {}`, `local x = #nil`,
		`local x = 1 < "1"`, `local x = {[nil] = 1}`, `string.rep()`, `("x"):bad()`, `setmetatable(1, {})`)
	if e == `local x = #nil` || e == `local x = {[nil] = 1}` {
		e = "local n; " + strings.Replace(e, "nil", "n", 1)
	}
	if g.IntN(3) == 0 {
		return line("do %s end", e)
	}
	return line("if %s then %s end", g.condition(), e)
}

// protected makes a call that may fail, with closures made in it that live on.
func (g *generator) protected() *Stmt {
	n, f := g.name(), g.name()
	body, cost := g.body(1 + g.IntN(3))
	if cost*g.rounds+g.cost > mostRounds {
		return g.show()
	}
	g.cost += cost * g.rounds
	inner := []*Stmt{line("local own = %s", g.wrapped()), line("%s = function() own = own + 1; %s = %s + 1; return own end", f, n, n)}
	body = slices.Concat(inner, body, []*Stmt{g.failure(), line("return own, %s", g.integer(1))})
	head, end := "local ok, e, more = pcall(function()", "end)"
	if g.IntN(3) == 0 {
		head, end = "local ok, e, more = xpcall(function()", "end, function(m) return m end)"
	}
	call := &Stmt{Head: head, Body: body, End: end}
	after := line("print(ok, ok and e or place(e), more, %s, %s and %s(), %s and %s(), %s)", n, f, f, f, f, n)
	return &Stmt{Head: "do", Body: []*Stmt{line("local %s, %s = 0", n, f), line("local function inc() %s = %s + 1 end", n, n), call, line("inc()"), after}, End: "end"}
}

func (g *generator) coroutineLoop() *Stmt {
	co, a := g.name(), variable{name: g.name(), kind: 'i'}
	first, cost := g.body(1+g.IntN(2), a)
	second, more := g.body(1+g.IntN(2), a)
	if (cost+3*more)*g.rounds+g.cost > mostRounds {
		return g.show()
	}
	g.cost += (cost + 3*more) * g.rounds
	loop := &Stmt{Head: "for i = 1, 3 do", Body: append(second,
		line("local x, y = coroutine.yield(%s, i)", g.pick("i", "i * 2", a.name)), line("print(x, y)"), line("%s = x", a.name)), End: "end"}
	body := append(first, loop)
	if g.IntN(2) == 0 {
		body = append(body, g.failure())
	}
	make := &Stmt{Head: fmt.Sprintf("local %s = coroutine.create(function(%s)", co, a.name), Body: append(body, line("return %s", g.pick("\"done\"", "coroutine.yield(1)"))), End: "end)"}
	resume := &Stmt{Head: "for i = 1, 6 do", Body: []*Stmt{line("local ok, x, y = coroutine.resume(%s, i)", co),
		line("print(ok, ok and x or \"failed\", ok and y, coroutine.status(%s))", co)}, End: "end"}
	return &Stmt{Head: "do", Body: []*Stmt{make, resume}, End: "end"}
}

// object makes a table with a metatable and uses its events.
func (g *generator) object() *Stmt {
	events := fmt.Sprintf("{__add = function(x, y) return %s end, __concat = function(x, y) return \"joined\" end, __index = function(t, k) return k .. %d end, "+
		"__newindex = function(t, k, v) rawset(t, k, v * 2) end, __call = function(self, ...) return select(\"#\", ...), ... end, __eq = function(x, y) return x.v == y.v end, "+
		"__lt = function(x, y) return x.v < y.v end, __le = function(x, y) return x.v <= y.v end, __unm = function(x) return -x.v + 0 end, __tostring = function(x) return \"object \" .. x.v end}",
		g.integer(2), g.IntN(100))
	return &Stmt{Head: "do", Body: []*Stmt{line("local mt = %s", events),
		line("local o, p = setmetatable({v = %s}, mt), setmetatable({v = %s}, mt)", g.wrapped(), g.wrapped()), line("o.w = %s", g.wrapped()),
		line("print(o + 1, 1 + o, o .. \"x\", \"x\" .. o, o.missing, #o.gone, o.w, rawget(o, \"none\"))"), line("print(o(1, nil, %s), (o()))", g.integer(1)),
		line("print(o == p, o ~= p, o < p, o <= p, o > p, -o, tostring(o))")}, End: "end"}
}

// closures collects closures that capture the variables of a loop.
func (g *generator) closures() *Stmt {
	fs := g.name()
	return &Stmt{Head: "do", Body: []*Stmt{line("local %s = {}", fs),
		{Head: "for i = 1, 3 do", Body: []*Stmt{line("local x = %s", g.wrapped()),
			line("%s[#%s + 1] = function(d) x, i = x + d, i + x; return x, i end", fs, fs),
			line("%s[#%s + 1] = function() return x, i end", fs, fs),
			{Head: "if " + g.condition() + " then", Body: []*Stmt{line("break")}, End: "end"}}, End: "end"},
		{Head: fmt.Sprintf("for j, f in ipairs(%s) do", fs), Body: []*Stmt{line("print(j, f(%s))", g.integer(1))}, End: "end"}}, End: "end"}
}

// chain assigns conditions over fields that may be missing to variables, which are read in them, and goes through a table
// with next.
func (g *generator) chain() *Stmt {
	x, y := g.name(), g.name()
	var value func(depth int) string
	value = func(depth int) string {
		v := g.pick(x, y)
		if depth == 0 {
			return g.pick(v+".t", v+".no", v+".none", v+".f(false)", v+".f("+y+")", v, "nil", "false", g.integer(0), "("+v+".f())", "select(2, 1, "+v+".no)")
		}
		switch g.IntN(4) {
		case 0:
			return "not (" + value(depth-1) + ")"
		case 1:
			return "(" + value(depth-1) + ")"
		}
		return value(depth-1) + g.pick(" and ", " or ") + value(depth-1)
	}
	node := "{t = {f = f, no = false}, no = false, f = f}"
	assignment := line("%s = %s", x, value(1+g.IntN(3)))
	if g.IntN(3) == 0 {
		assignment = line("%s, %s = %s, %s", x, y, value(g.IntN(3)), value(g.IntN(3)))
	}
	show := line("print(kindOf(%s), kindOf(%s))", x, y)
	next := &Stmt{Head: g.pick("for k in next, {5} do", "for k, v in next, {5} do", "for k, v in next, {5}, nil do", "for k in pairs({5}), {5} do"), Body: []*Stmt{line("print(k)")}, End: "end"}
	return &Stmt{Head: "do", Body: []*Stmt{line("local function f(...) return ... end"), line("local %s, %s = %s, %s", x, y, node, node),
		line("local function kindOf(v) return type(v) == \"table\" and (v.t and \"node\" or \"leaf\") or type(v) == \"function\" and \"function\" or v end"),
		assignment, show, next}, End: "end"}
}
