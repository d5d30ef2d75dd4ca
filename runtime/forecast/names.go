package forecast

import (
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// hasWord reports whether a text has a name as a whole word. With itself, a longer path that
// begins with the name does not count: it speaks of something in the directory.
func hasWord(text, name string, itself bool) bool {
	return len(name) > 1 && occurs(text, name, func(at int) bool {
		return !endsInName(text[:at]) && !beginsName(text[at+len(name):]) && !(itself && beginsBelow(text[at+len(name):]))
	})
}

// hasPath reports whether a text has a path. Without itself, a path below it counts too.
func hasPath(text, name string, itself bool) bool {
	return occurs(text, name, func(at int) bool {
		return !beginsName(text[at+len(name):]) && !(itself && beginsBelow(text[at+len(name):]))
	})
}

// beginsBelow reports whether a text continues a path with a name in that directory.
func beginsBelow(s string) bool { return len(s) > 1 && s[0] == '/' && isNameByte(s[1]) }

// occurs reports whether a text has a name at a position for which good is true.
func occurs(text, name string, good func(at int) bool) bool {
	for from := 0; from <= len(text); from++ {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		if from += at; good(from) {
			return true
		}
	}
	return false
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

func endsInName(s string) bool { return s != "" && isNameByte(s[len(s)-1]) }

func beginsName(s string) bool { return s != "" && isNameByte(s[0]) && s[0] != '.' }

// wordsOf returns the words of a text: its longest parts that consist of bytes of names.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c > 127 || !isNameByte(byte(c)) })
}

// A wordIndex finds the effects whose texts have a name, as hasWord and hasPath define it.
type wordIndex struct {
	effects []*incompleteEffect
	// by has the effects by the words in their texts, and by the parts of such a word that end
	// before a dot: conf and conf.d for conf.d.bak.
	by map[string][]*incompleteEffect
	// odd are effects with a word that is not indexed: their texts are always searched.
	odd []*incompleteEffect
}

// mostDots is the largest number of dots in a word that is indexed.
const mostDots = 32

func (x *wordIndex) add(e *incompleteEffect) {
	if x.by == nil {
		x.by = make(map[string][]*incompleteEffect)
	}
	x.effects = append(x.effects, e)
	for _, word := range wordsOf(e.text) {
		if strings.Count(word, ".") > mostDots {
			x.odd = append(x.odd, e)
			continue
		}
		for end := 1; end <= len(word); end++ {
			if end == len(word) || word[end] == '.' {
				x.put(word[:end], e)
			}
		}
	}
}

func (x *wordIndex) put(word string, e *incompleteEffect) {
	if list := x.by[word]; len(list) == 0 || list[len(list)-1] != e {
		x.by[word] = append(list, e)
	}
}

// find returns all effects whose texts may have a name, and few others.
func (x *wordIndex) find(name string) []*incompleteEffect {
	words := wordsOf(name)
	if len(words) == 0 {
		return x.effects
	}
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	if len(x.odd) > 0 {
		return slices.Concat(x.by[longest], x.odd)
	}
	return x.by[longest]
}

var nameParts = lazyregexp.New(`[a-z]{3,}[0-9]*`)

// piecesOf returns the telling parts of a package's name.
func piecesOf(pkg string) []string {
	return slices.DeleteFunc(nameParts().FindAllString(strings.ToLower(pkg), -1), func(p string) bool { return common[p] })
}

// partOf returns a part of a path, a unit or a user in the form in which it is compared with
// package names, "" if it is not compared.
func partOf(part string) string {
	part = strings.TrimSuffix(strings.ToLower(part), path.Ext(part))
	if len(part) < 3 || common[part] {
		return ""
	}
	return part
}

// sharesName reports whether a package shares a name with a part of a path, a unit or a user:
// openssh-server and sshd, postgresql-16 and postgresql.
func sharesName(pkg, part string) bool {
	part = partOf(part)
	if part == "" {
		return false
	}
	stem := strings.TrimSuffix(part, "d")
	return pkg == part || slices.ContainsFunc(piecesOf(pkg), func(p string) bool {
		return p == part || len(p) > 3 && strings.Contains(part, p) || len(stem) > 2 && strings.Contains(p, stem)
	})
}

// A pieceIndex finds packages by names that they share with a path, a unit or a user.
type pieceIndex struct {
	byName, byPiece map[string][]*incompleteEffect
	// pieces are the pieces of package names by each three bytes in them.
	pieces map[string][]string
}

func (x *pieceIndex) add(e *incompleteEffect) {
	if x.byName == nil {
		x.byName, x.byPiece = make(map[string][]*incompleteEffect), make(map[string][]*incompleteEffect)
		x.pieces = make(map[string][]string)
	}
	for _, name := range e.names {
		x.byName[name] = append(x.byName[name], e)
		for _, p := range piecesOf(name) {
			list := x.byPiece[p]
			if list == nil {
				for at := range len(p) - 2 {
					x.pieces[p[at:at+3]] = append(x.pieces[p[at:at+3]], p)
				}
			}
			x.byPiece[p] = append(list, e)
		}
	}
}

// find returns the packages that share a name with a part of a path, a unit or a user.
func (x *pieceIndex) find(part string) (lists [][]*incompleteEffect) {
	if part = partOf(part); part == "" || len(x.byName) == 0 {
		return nil
	}
	lists = append(lists, x.byName[part])
	stem := strings.TrimSuffix(part, "d")
	var few []string // the pieces that have the rarest three bytes of stem
	for at := range len(part) - 2 {
		with := x.pieces[part[at:at+3]]
		if at+3 <= len(stem) && (at == 0 || len(with) < len(few)) {
			few = with
		}
		for end := at + 3; end <= len(part) && len(with) > 0; end++ {
			if p := part[at:end]; p == part || end > at+3 {
				lists = append(lists, x.byPiece[p])
			}
		}
	}
	for _, p := range few {
		if strings.Contains(p, stem) {
			lists = append(lists, x.byPiece[p])
		}
	}
	return lists
}

// common are words in the names of packages and paths that do not tell which package they belong
// to.
var common = map[string]bool{
	"etc": true, "usr": true, "var": true, "lib": true, "bin": true, "sbin": true, "opt": true, "srv": true, "run": true, "tmp": true,
	"home": true, "root": true, "share": true, "local": true, "conf": true, "config": true, "common": true, "server": true, "client": true,
	"core": true, "base": true, "utils": true, "tools": true, "data": true, "doc": true, "dev": true, "full": true, "light": true,
	"extras": true, "default": true, "system": true, "systemd": true, "service": true, "log": true, "cache": true, "proc": true, "sys": true,
	"app": true, "www": true, "the": true, "demo": true, "backup": true, "mail": true, "proxy": true, "web": true, "node": true, "monitor": true,
}
