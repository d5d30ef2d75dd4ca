package textedit

import (
	"slices"
	"strings"

	edit "github.com/luaccm/ccm/runtime/textedit/splice"
)

// itemOf returns the position in the list of a key that a path means. It reports false for other keys and paths.
func itemOf(text string, key tomlItem, path Path) (n int, isItem bool) {
	last := len(path) - 1
	if key.header || !slices.Equal(key.path, path[:last]) || key.value >= len(text) || text[key.value] != '[' {
		return 0, false
	}
	return position(path[last], len(listItems(text, key)))
}

// listItems returns the ranges of the items in the list of a key, without commas and comments.
func listItems(text string, key tomlItem) (items []span) {
	for at := skipBlanks(text, key.value+1); at < key.to && text[at] != ']'; at = skipBlanks(text, at) {
		if text[at] == ',' {
			at++
			continue
		}
		it := span{from: at}
		for depth := 0; at < key.to && (depth > 0 || strings.IndexByte(",]# \t\r\n", text[at]) < 0); {
			switch text[at] {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			case '"', '\'':
				at = stringEnd(text, at)
				continue
			case '#':
				at = edit.LineEnd(text, at)
				continue
			}
			at++
		}
		it.to = at
		items = append(items, it)
	}
	return items
}

// skipBlanks returns the offset behind white space and comments.
func skipBlanks(text string, at int) int {
	for at < len(text) && strings.IndexByte("# \t\r\n", text[at]) >= 0 {
		if text[at] == '#' {
			at = edit.LineEnd(text, at)
		} else {
			at++
		}
	}
	return at
}

// stringEnd returns the offset behind the string that begins at an offset.
func stringEnd(text string, at int) int {
	quote := text[at : at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(text[at:], long) {
		quote = long
	}
	for at += len(quote); at < len(text) && !strings.HasPrefix(text[at:], quote); at++ {
		if quote[0] == '"' && text[at] == '\\' {
			at++
		}
	}
	at += len(quote)
	for len(quote) == 3 && at < len(text) && text[at] == quote[0] { // quotes at the end of the string
		at++
	}
	return min(at, len(text))
}

// setItem returns the splices that write item n of the list of a key. A new one comes on a line of its own if the last
// one has one.
func setItem(text string, key tomlItem, n int, written string) []splice {
	items, closing := listItems(text, key), key.to-1
	line := edit.LineStart(text, closing)
	switch ownLine := strings.TrimSpace(text[line:closing]) == "" && line > key.value; {
	case n < len(items):
		return []splice{replace(items[n].from, items[n].to, written)}
	case n == 0 && ownLine:
		return []splice{replace(line, line, text[line:closing]+"  "+written+",\n")}
	case n == 0:
		return []splice{replace(closing, closing, written)}
	default:
		last := items[n-1]
		indent := text[edit.LineStart(text, last.from):last.from]
		if strings.TrimSpace(indent) != "" {
			return []splice{replace(last.to, last.to, ", "+written)}
		}
		if !ownLine {
			return []splice{replace(last.to, last.to, ",\n"+indent+written)}
		}
		if text[skipBlanks(text, last.to)] == ',' {
			return []splice{replace(line, line, indent+written+",\n")}
		}
		return []splice{replace(last.to, last.to, ","), replace(line, line, indent+written+"\n")}
	}
}

// removeItem returns the splices that remove item n from the list of a key, with its line if it has one.
func removeItem(text string, key tomlItem, n int) []splice {
	items, closing := listItems(text, key), key.to-1
	it, isLast := items[n], n == len(items)-1
	to, comma := it.to, skipBlanks(text, it.to)
	hasComma := text[comma] == ','
	if hasComma {
		to = comma + 1
	}
	if len(items) == 1 && strings.Trim(text[key.value+1:it.from]+text[to:closing], " \t\r\n") == "" {
		return []splice{replace(key.value+1, closing, "")}
	}
	from, end := edit.LineStart(text, it.from), edit.LineEnd(text, to)
	rest := strings.TrimSpace(text[to:end])
	alone := strings.TrimSpace(text[from:it.from]) == "" && (rest == "" || rest[0] == '#')
	switch {
	case alone && isLast && !hasComma && n > 0: // the item before it has no comma either
		before := skipBlanks(text, items[n-1].to)
		return []splice{replace(before, before+1, ""), replace(from, end, "")}
	case alone:
		return []splice{replace(from, end, "")}
	case !isLast && rest != "":
		return []splice{replace(it.from, len(text)-len(strings.TrimLeft(text[to:], " \t")), "")}
	case !isLast:
		return []splice{replace(len(strings.TrimRight(text[:it.from], " \t")), to, "")}
	case n > 0:
		return []splice{replace(items[n-1].to, it.to, "")}
	}
	return []splice{replace(it.from, to, "")}
}
