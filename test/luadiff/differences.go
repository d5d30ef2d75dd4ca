package luadiff

// A Difference is something that ccm documents as unlike Lua 5.1, and how programs avoid it.
type Difference struct{ Subject, Reason, Avoidance string }

// Differences lists all of them. docs/lua.md has each for users.
var Differences = []Difference{
	{"the text of a message of the engine", "those of functions of ccm have other words, and in a coroutine the name may be lacking", "place() prints the position alone"},
	{"the length of a list with holes", "any border is correct in Lua", "lists have no holes"},
	{"the order of pairs", "Lua does not define it", "sums alone come out of pairs"},
	{"the order in which operands are evaluated", "Lua does not define it", "calls with effects are whole right sides or arguments"},
	{"the sign of zero", "constants -0 and 0 are one in the engine", "num() prints 0"},
	{"the digits of a fraction in tostring", "fourteen digits would change values in files", "num() prints six digits"},
	{"the place in a message of assert", "assert throws its message unchanged, as Lua does from 5.2 on", "assert has no message"},
	{"%s of string.format for other values than strings and numbers", "takes any value, as in Lua 5.2", "%s gets what tostring returns"},
	{"assignment to a global", "a script shares no globals by accident", "all variables are local"},
	{"addresses of tables and functions", "they are different in each run", "never printed"},
}
