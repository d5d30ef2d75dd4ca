package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/diag"
)

// A configReader reads values from the nodes of a file, and collects mistakes.
type configReader struct {
	file     string
	mistakes diag.List
}

// yamlMistake is the error of a text that is no YAML.
func yamlMistake(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	pos := diag.Pos{File: file}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				pos.Line, text = line, what
			}
		}
	}
	return diag.Errorf(pos, "%s", text)
}

func (r *configReader) at(n *yaml.Node) diag.Pos {
	return diag.Pos{File: r.file, Line: n.Line, Col: n.Column}
}

func (r *configReader) mistake(n *yaml.Node, format string, args ...any) *diag.Error {
	e := diag.Errorf(r.at(n), format, args...)
	r.mistakes.Add(e)
	return e
}

// addMistake adds err to the mistakes, unless it is nil.
func (r *configReader) addMistake(n *yaml.Node, err error) {
	if err != nil {
		r.mistakes.Add(&diag.Error{Pos: r.at(n), Err: err})
	}
}

// resolve follows an alias.
func (r *configReader) resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// mapping calls, for each key of a mapping, the function that reads its value.
func (r *configReader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) {
	n = r.resolve(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.mistake(n, "%w", diag.Expected("keys and values for %s", what))
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			r.mistake(key, "%w", diag.Expected("a key"))
			continue
		}
		take := keys[key.Value]
		switch {
		case take == nil:
			e := diag.At(r.at(key), diag.Unknown("key", key.Value, names(keys)))
			if e.Hint == "" {
				e.Hint = "keys of " + what + ": " + strings.Join(names(keys), ", ")
			}
			r.mistakes.Add(e)
		case seen[key.Value]:
			r.mistake(key, "duplicate key %q", key.Value)
		default:
			before := len(r.mistakes)
			take(value)
			for _, e := range r.mistakes[before:] { // a mistake in a value is reported with its key, but not one deeper in it
				if e.Pos == r.at(value) && r.resolve(value).Kind == yaml.ScalarNode {
					e.Err = fmt.Errorf("%s: %w", key.Value, e.Err)
				}
			}
		}
		seen[key.Value] = true
	}
}

// text reads a text; a missing one is "".
func (r *configReader) text(n *yaml.Node) string {
	x := r.resolve(n)
	if x.Kind != yaml.ScalarNode {
		r.mistake(n, "%w", diag.Expected("a string"))
		return ""
	}
	if isNull(x) {
		return ""
	}
	if strings.ContainsFunc(x.Value, unicode.IsControl) {
		r.mistake(n, "%w", diag.Expected("a string without control characters"))
	}
	return x.Value
}

func (r *configReader) texts(n *yaml.Node) (list []string) {
	if n = r.resolve(n); isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.mistake(n, "%w", diag.Expected("a list"))
		return nil
	}
	for _, item := range n.Content {
		list = append(list, r.text(item))
	}
	return list
}

// path reads an absolute path.
func (r *configReader) path(n *yaml.Node) string {
	name := r.text(n)
	if !filepath.IsAbs(name) {
		r.mistake(n, "%w", diag.Expected("an absolute path").Got("%q", name))
		return name
	}
	return filepath.Clean(name)
}

func (r *configReader) boolean(n *yaml.Node) (val bool) {
	if x := r.resolve(n); x.Tag != "!!bool" || x.Decode(&val) != nil {
		r.mistake(n, "%w", diag.Expected("true or false"))
	}
	return val
}

func (r *configReader) port(n *yaml.Node) int {
	text := r.text(n)
	if text == "" {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		r.mistake(n, "%w", diag.Expected("a port, or 0 for none").Got("%q", text))
	}
	return port
}

// count reads a number from 1 to most.
func (r *configReader) count(n *yaml.Node, most int) int {
	text := r.text(n)
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > most {
		r.mistake(n, "%w", diag.Expected("a number between 1 and %d", most).Got("%q", text))
	}
	return count
}

func (r *configReader) choice(n *yaml.Node, among ...string) string {
	text := r.text(n)
	if !slices.Contains(among, text) {
		shown := slices.DeleteFunc(slices.Clone(among), func(s string) bool { return s == "" })
		e := r.mistake(n, "%w", diag.Expected("%s", strings.Join(shown, ", ")).Got("%q", text))
		if near := diag.Nearest(text, shown); near != "" {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return text
}

// timeOfDay reads a time of day such as 03:00, as a duration after midnight. A missing one is nil.
func (r *configReader) timeOfDay(n *yaml.Node) *time.Duration {
	text := r.text(n)
	if text == "" {
		return nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		r.mistake(n, "%w", diag.Expected("a time of day such as 03:00").Got("%q", text))
		return nil
	}
	return new(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
}

// duration reads a duration such as 90s, 5m, 1h30m or 1d. A missing one is 0.
func (r *configReader) duration(n *yaml.Node, least time.Duration) time.Duration {
	text := r.text(n)
	if text == "" {
		if least == MinInterval {
			return DefaultInterval
		}
		return 0
	}
	d, ok := parseDuration(text)
	switch {
	case !ok:
		r.mistake(n, "%w", diag.Expected("a time such as 30s, 5m, 1h30m or 1d").Got("%q", text))
	case d < least:
		r.mistake(n, "%w", diag.MustBe("at least %s", least).Got("%q", text))
	}
	return d
}

// parseDuration reads the durations of package time, and days and weeks.
func parseDuration(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	units := map[byte]time.Duration{'d': day, 'D': day, 'w': 7 * day, 'W': 7 * day}
	var sum time.Duration
	rest := text
	for {
		at := strings.IndexAny(rest, "dDwW")
		if at < 0 {
			break
		}
		count, err := strconv.ParseFloat(rest[:at], 64)
		if err != nil || count < 0 || count > 100_000 || strings.ContainsAny(rest[:at], "xXpPeEinfINF_") {
			return 0, false
		}
		sum += time.Duration(count * float64(units[rest[at]]))
		if rest = rest[at+1:]; rest == "" {
			return sum, sum >= 0
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || sum+d < 0 {
		return 0, false
	}
	return sum + d, true
}
