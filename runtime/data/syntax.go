package data

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/yamlsyntax"
)

// parse reads all documents of s.
func (s *source) parse() ([]*yaml.Node, error) {
	docs, err := parseYAML(s.text, s.interruption)
	if s.interruption() != nil {
		return nil, s.interruption()
	}
	if err != nil {
		return nil, s.syntaxError(err)
	}
	if len(docs) == 0 {
		docs = []*yaml.Node{{}}
	}
	return docs, nil
}

func parseYAML(text string, check func() error) (docs []*yaml.Node, err error) {
	d := yamlsyntax.NewDecoder(text, check)
	for {
		doc, err := d.Decode()
		if errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, doc.Content[0])
	}
}

var (
	yamlLine      = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = lazyregexp.New(`^unknown anchor '(.*)' referenced$`)
)

// syntaxError gives an error of the YAML library a place. The library names a line at
// most, that of the problem or of something around it. So the text is parsed again,
// each time without one more line at its end: the line whose removal makes it valid is
// the faulty one.
func (s *source) syntaxError(err error) error {
	if at, ok := errors.AsType[*yamlsyntax.Error](err); ok {
		return diag.At(s.mapPosition(diag.Pos{File: s.file, Line: at.Line, Col: at.Column}),
			diag.Not("", "valid YAML: %s", at.Problem)).
			WithHint("%s", at.Hint)
	}
	m := yamlLine().FindStringSubmatch(err.Error())
	if m == nil {
		return diag.At(diag.Pos{File: s.file, Line: 1}, diag.Not("", "valid YAML: %w", err))
	}
	said, _ := strconv.Atoi(m[1])
	problem := m[2]
	if a := unknownAnchor().FindStringSubmatch(problem); a != nil {
		return s.unknownAnchor(a[1])
	}
	if at, ok := s.badCharacter(); ok {
		return diag.At(s.pos(at, 1), diag.Not("", "valid YAML: %s", problem))
	}
	line := s.faultyLine(said)
	fromParser := strings.HasPrefix(problem, "did not find expected") && said > 0
	if !fromParser && said > line && !strings.Contains(problem, "end of stream") {
		line = said
	}
	line = min(line, len(s.lines()))
	text := s.line(line)
	col := len(text) - len(strings.TrimLeft(text, " ")) + 1
	e := diag.At(diag.Pos{}, diag.Not("", "valid YAML: %s", problem))
	switch {
	case strings.HasPrefix(strings.TrimLeft(text, " "), "\t"):
		e = diag.At(diag.Pos{}, diag.Not("", "valid YAML: tab used for indentation")).WithHint("use spaces")
	case strings.HasPrefix(problem, "mapping values are not allowed"):
		if i := strings.LastIndex(text, ": "); i >= 0 && strings.Index(text, ": ") != i {
			col = i + 1
			e.WithHint("quote strings that contain a colon and a space")
		} else {
			e.WithHint("check the indentation of this line")
		}
	case strings.HasPrefix(problem, "found character that cannot start any token"):
		if i := strings.IndexAny(text, "@`%\t"); i >= 0 {
			col = i + 1
			e.WithHint("quote strings that begin with %q", text[i:i+1])
		}
	case strings.Contains(problem, "',' or"), strings.Contains(problem, "node content"):
		if i := unclosedBracket(text); i >= 0 {
			col = i + 1
			e = diag.At(diag.Pos{}, diag.Not("", "valid YAML: %q is not closed", text[i:i+1]))
		}
	case strings.Contains(problem, "end of stream"):
		if i := strings.IndexAny(text, `'"`); i >= 0 {
			col = i + 1
			e = diag.At(diag.Pos{}, diag.Not("", "valid YAML: %s is not closed", text[i:i+1]))
		}
	case strings.HasPrefix(problem, "found unknown escape"):
		if i := strings.IndexByte(text, '\\'); i >= 0 {
			col = i + 1
			e.WithHint("use single quotes, in which \\ is not special")
		}
	case strings.HasPrefix(problem, "did not find expected"):
		e.WithHint("check the indentation of this line")
	}
	e.Pos = s.mapPosition(diag.Pos{File: s.file, Line: line, Col: col})
	if s.place != nil {
		e.Hint = fmt.Sprintf("it renders as line %q", strings.TrimSpace(text))
	}
	return e
}

// unclosedBracket returns where the first bracket of a line stands that is not closed
// in it, or -1.
func unclosedBracket(line string) int {
	var open []int
	for i, c := range line {
		switch c {
		case '[', '{':
			open = append(open, i)
		case ']', '}':
			open = open[:max(0, len(open)-1)]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[0]
}

// maxReread bounds the bytes that are parsed again to find a faulty line.
const maxReread = 2 << 20

// faultyLine returns the first line that, with all lines after it, has to be removed for
// the text to be valid. It begins a few lines below the one that the library named.
func (s *source) faultyLine(said int) int {
	at := s.lines()
	last := len(at)
	if said > 0 {
		last = min(last, said+3)
	}
	for n, left := last, maxReread; n > max(0, last-200) && left > 0; n-- {
		left -= at[n-1]
		if _, err := parseYAML(s.text[:at[n-1]], s.interruption); err == nil {
			return n
		}
	}
	return max(said, 1)
}

// badCharacter returns where the first character stands that YAML does not
// allow.
func (s *source) badCharacter() (int, bool) {
	for i, r := range s.text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s.text[i:], "\uFFFD"),
			r < ' ' && r != '\t' && r != '\n' && r != '\r',
			r >= 0x7f && r <= 0x9f && r != 0x85:
			return i, true
		}
	}
	return 0, false
}

func (s *source) unknownAnchor(name string) error {
	e := diag.Errorf(diag.Pos{File: s.file, Line: 1}, "unknown anchor &%s", name)
	alias := regexp.MustCompile(`\*` + regexp.QuoteMeta(name) + `(?:[^0-9A-Za-z_-]|$)`)
	if at := alias.FindStringIndex(s.text); at != nil {
		e.Pos = s.pos(at[0], len(name)+1)
	}
	var anchors []string
	for _, m := range regexp.MustCompile(`(?:^|[\s,\[{])&([^\s,\]}]+)`).FindAllStringSubmatch(s.text, -1) {
		anchors = append(anchors, m[1])
	}
	if near := diag.Nearest(name, anchors); near != "" {
		e.WithHint("did you mean &%s?", near)
	}
	return e
}
