package luadata

import "slices"

// Keywords are the reserved words of Lua 5.1 (Reference Manual, section 2.1), and goto of LuaJIT and Lua 5.2, in order.
var Keywords = []string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
	"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
}

// IsName reports whether a text is a name: of a variable, or of a field without brackets.
func IsName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != "" && !slices.Contains(Keywords, s)
}
