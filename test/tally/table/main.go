// Table runs the tests that count their tries, and writes the counts into the table of test/reliability/counts.md. See
// package tally.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/luaccm/ccm/test/tally"
)

func main() {
	out := flag.String("out", "test/reliability/counts.md", "the `FILE` with the table")
	only := flag.String("run", "", "run only tests that match `PATTERN` (TEST/SUBTEST); keep other rows")
	kept := flag.String("counts", "", "add the counts to those in `FILE`, to run a long test in pieces")
	lab := flag.Bool("lab", false, "run the tests in throw-away systems too (root)")
	flag.Parse()
	if err := write(*out, *only, *kept, *lab); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// write runs the tests and updates the document. Failed tests are in the table, and also an error.
func write(out, only, kept string, lab bool) error {
	only, subtests, _ := strings.Cut(only, "/")
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	packages, err := counting("./...")
	if err != nil {
		return err
	}
	file, remove, err := countsFile(kept)
	if err != nil {
		return err
	}
	defer remove()

	var tests []string
	var failed error
	for _, p := range packages {
		for _, name := range p.tests {
			if slices.Contains(tests, name) {
				return fmt.Errorf("two tests that count have the name %s", name)
			}
			tests = append(tests, name)
		}
		run := slices.DeleteFunc(slices.Clone(p.tests), func(name string) bool { return !pattern.MatchString(name) })
		if len(run) > 0 && (lab || !strings.HasSuffix(p.path, "/integration")) {
			if err := p.run(run, subtests, file); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", p.path, err))
			}
		}
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	counts, err := sum(lines)
	if err != nil {
		return err
	}
	doc, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	text, err := update(string(doc), counts, tests)
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return errors.Join(failed, os.WriteFile(out, []byte(text), 0o644))
}

// countsFile returns the path of the file that the tests write to, and a function that removes it unless it is to be
// kept. The path is absolute, because tests of packages run in other directories.
func countsFile(kept string) (file string, remove func(), err error) {
	if kept == "" {
		f, err := os.CreateTemp("", "ccm-tally-")
		if err != nil {
			return "", nil, err
		}
		return f.Name(), func() { _ = os.Remove(f.Name()) }, f.Close()
	}
	if file, err = filepath.Abs(kept); err != nil {
		return "", nil, err
	}
	f, err := os.OpenFile(file, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, err
	}
	return file, func() {}, f.Close()
}

// A testPackage is a package with tests that count.
type testPackage struct {
	path  string
	tests []string
}

// run runs tests of the package, one after another, and shows the progress. subtests is a pattern of their subtests,
// "" for all. Parallel subtests mostly wait for commands.
func (p testPackage) run(tests []string, subtests, file string) error {
	pattern := "^(" + strings.Join(tests, "|") + ")$"
	if subtests != "" {
		pattern += "/" + subtests
	}
	args := []string{"test", "-tags", "integration", "-count=1", "-timeout", "2h", "-v", "-parallel", "4", "-run", pattern, p.path}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), tally.Variable+"="+file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// counting returns the packages with tests that call package tally in their own body.
func counting(pattern string) ([]testPackage, error) {
	list, err := exec.Command("go", "list", "-tags", "integration", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", pattern).Output()
	if err != nil {
		return nil, err
	}
	var found []testPackage
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var pkg struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		p := testPackage{path: pkg.ImportPath}
		for _, name := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && counts(fn) {
					p.tests = append(p.tests, fn.Name.Name)
				}
			}
		}
		if len(p.tests) > 0 {
			found = append(found, p)
		}
	}
}

// counts reports whether a function calls tally.Of.
func counts(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Of" {
			pkg, ok := sel.X.(*ast.Ident)
			found = found || ok && pkg.Name == "tally"
		}
		return !found
	})
	return found
}
