package template

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// maxDepth is the maximum depth of templates that read templates.
const maxDepth = 20

// enterTemplate counts the nesting of templates, to stop a template that reads itself.
func (e *Env) enterTemplate(what string) (leave func(), err error) {
	if e.depth >= maxDepth {
		return nil, diag.Exceeds("nesting of templates", "%d levels, at %s", maxDepth, what)
	}
	e.depth++
	return func() { e.depth-- }, nil
}

// template is the function template(text) of expressions. A text that ends in
// .templ or .jet is the path of a file.
func (e *Env) template(text string) (any, error) {
	switch {
	case strings.HasSuffix(text, ".jet"):
		return e.jet(text)
	case !strings.HasSuffix(text, ".templ"):
		leave, err := e.enterTemplate("template(...)")
		if err != nil {
			return nil, err
		}
		defer leave()
		val, err := e.Expand(text)
		return val, inTemplate("", text, err)
	}
	path := e.files.path(text)
	leave, err := e.enterTemplate(path)
	if err != nil {
		return nil, err
	}
	defer leave()
	body, err := e.files.open("template", path)
	if err != nil {
		return nil, err
	}
	val, err := e.Expand(body)
	return val, inTemplate(path, body, err)
}

// userFiles are the files that expressions may read.
type userFiles struct {
	dir        string                       // the start of relative paths
	fileReader func(string) ([]byte, error) // Options.ReadFile, nil if there are none
}

// readFile is the function file(path) of expressions.
func (f userFiles) readFile(path string) (string, error) {
	return f.open("file", f.path(path))
}

// path returns the path of a file, which may be given relative to the directory of the
// manifest.
func (f userFiles) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.dir, path)
}

// open reads a file of the user. What is the calling function, for messages.
func (f userFiles) open(what, path string) (string, error) {
	body, err := f.fileReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", what, diag.None("file %s", path))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(body), nil
}

// inTemplate gives an error in a template its position in the file; for a text without a file, its
// line.
func inTemplate(file, text string, err error) error {
	te, ok := errors.AsType[*Error](err)
	if !ok || !te.Err.Pos.IsZero() {
		return err
	}
	before := text[:min(te.Offset, len(text))]
	line := strings.Count(before, "\n") + 1
	c := *te.Err
	if file == "" {
		if line > 1 {
			c.Err = fmt.Errorf("line %d of the template: %w", line, c.Err)
		}
		return &c
	}
	c.Pos = diag.Pos{File: file, Line: line, Col: len(before) - strings.LastIndexByte(before, '\n'), Len: te.Length}
	return &c
}
