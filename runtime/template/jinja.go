package template

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// Jinja renders a Jinja template. As in Jinja, a line break at the end of the template is dropped;
// an unknown name is an error, except in default and is defined. Read reads included templates,
// relative to this one. An error of check, which is called from time to time and may be nil, ends
// the rendering.
func Jinja(file, text string, vars map[string]any, read func(path string) ([]byte, error), check func() error) (string, error) {
	if err := checkJinja(text); err != nil {
		return "", jinjaError(file, text, err)
	}
	r := &rendering{file: file, text: text, readFile: read}
	if check == nil {
		check = func() error { return nil }
	}
	return r.renderUntil(check, vars)
}

// checkJinja returns an error if a template, or an expression or block in it, is too long.
func checkJinja(text string) error {
	if err := CheckTemplate(text); err != nil {
		return err
	}
	if err := checkActions(text, "{{", "}}"); err != nil {
		return err
	}
	return checkActions(text, "{%", "%}")
}

// render renders the template.
func (r *rendering) render(vars map[string]any) (_ string, err error) {
	defer func() { // the library does not recover panics of called functions
		if p := recover(); p != nil {
			err = r.panicError(p)
		}
	}()
	c := config.New()
	c.StrictUndefined = true
	t, err := exec.NewTemplate(r.file, c, includeLoader{r, filepath.Dir(r.file)}, r.environment())
	if err != nil {
		return "", jinjaError(r.file, r.text, err)
	}
	r.instrument(t.Root())
	out := new(limitedBuffer)
	if err := t.Execute(out, exec.NewContext(vars)); err != nil {
		return "", jinjaError(r.file, r.text, err)
	}
	return out.String(), nil
}

// An includeLoader loads a template and the templates that it includes, whose paths are
// relative to its directory.
type includeLoader struct {
	*rendering
	dir string
}

// Read implements loaders.Loader.
func (b includeLoader) Read(path string) (io.Reader, error) {
	b.step()
	if b.reads++; b.reads > maxReads {
		return nil, diag.Exceeds("", "%d nested includes: does a template include itself?", maxReads)
	}
	if b.reads == 1 {
		return strings.NewReader(b.text), nil
	}
	if path == b.file {
		return strings.NewReader(begins + b.text), nil
	}
	if b.rendering.readFile == nil {
		return nil, diag.SubjectCannot("this template", "include others")
	}
	if !filepath.IsAbs(path) { // a template that is extended
		path = filepath.Join(b.dir, path)
	}
	text, err := b.rendering.readFile(path)
	if err == nil {
		err = checkJinja(string(text))
	}
	return strings.NewReader(begins + string(text)), err
}

// Resolve implements loaders.Loader.
func (b includeLoader) Resolve(path string) (string, error) {
	if path == b.file || filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Join(b.dir, path), nil
}

// Inherit implements loaders.Loader.
func (b includeLoader) Inherit(from string) (loaders.Loader, error) {
	if from != "" && from != b.file {
		b.dir = filepath.Dir(from)
	}
	return b, nil
}

var (
	jinjaPlace = lazyregexp.New(`\.?\s*\(Line: (\d+) Col: (\d+), near "[^"]*"\)`)
	jinjaLine  = lazyregexp.New(`\bat line (\d+): `)
	jinjaName  = lazyregexp.New(`Unable to evaluate name "([^"]*)"`)
	// jinjaFrame matches what the library puts before an error for each block and file around its place.
	jinjaFrame = lazyregexp.New(`(?s)Unable to (?:execute|parse) controlStructure(?: "[^"]*")?(?: at line \d+)?: |` +
		`[A-Z]\w*ControlStructure\((?:Filename=('[^']*') )?[^()]*\): |` +
		`unable to load template '[^']*': |failed to reader template '[^']*': |failed to parse template '.*': `)
)

// jinjaError gives an error of the library its place.
func jinjaError(file, text string, err error) error {
	msg := err.Error()
	msg = strings.TrimPrefix(msg, "unable to execute template: ")
	msg = strings.NewReplacer(watchedLeft, "", watchedRight, "", "unable to evaluate parameters: ", "").Replace(msg)
	msg = strings.TrimPrefix(msg, fmt.Sprintf("failed to parse template '%s': ", text))
	pos := diag.Pos{File: file}
	place, line := jinjaPlace().FindStringSubmatchIndex(msg), jinjaLine().FindStringSubmatchIndex(msg)
	switch {
	case line != nil && (place == nil || line[0] < place[0]): // a place behind the line is in an included file
		pos.Line, _ = strconv.Atoi(msg[line[2]:line[3]])
		msg = jinjaPlace().ReplaceAllString(msg[line[1]:], " (line $1)")
	case place != nil:
		pos.Line, _ = strconv.Atoi(msg[place[2]:place[3]])
		pos.Col, _ = strconv.Atoi(msg[place[4]:place[5]])
		msg = strings.TrimSpace(msg[:place[0]] + msg[place[1]:])
	}
	return diag.Errorf(pos, "%s", strings.TrimSuffix(unknownName(withoutFrames(msg)), "."))
}

// withoutFrames returns a message without the blocks around its place. Included files are named, each once in a row.
func withoutFrames(msg string) string {
	last := ""
	return jinjaFrame().ReplaceAllStringFunc(msg, func(frame string) string {
		file := jinjaFrame().FindStringSubmatch(frame)[1]
		if file == "" || file == last {
			return ""
		}
		last = file
		return "include " + file + ": "
	})
}

// unknownName returns a message of the library or, if its reason is an unknown name, the name.
func unknownName(msg string) string {
	if m := jinjaName().FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("unknown name %q", m[1])
	}
	return msg
}
