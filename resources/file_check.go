package resources

import (
	"errors"
	"strings"

	"github.com/kballard/go-shellquote"
)

// checkCommands finds mistakes in validate and validate_after.
func (f File) checkCommands() error {
	var errs []error
	for _, c := range []struct{ name, line string }{{"validate", f.Check}, {"validate_after", f.CheckAfter}} {
		if c.line == "" {
			continue
		}
		words, err := shellquote.Split(c.line)
		switch {
		case err != nil:
			errs = append(errs, wrong(c.name, "%s in %q", strings.ToLower(err.Error()), c.line))
		case len(words) == 0:
			errs = append(errs, wrong(c.name, "want a command, got %q", c.line))
		case f.Ensure != FilePresent:
			errs = append(errs, wrong(c.name, "goes only with ensure present"))
		case c.name == "validate" && !strings.Contains(c.line, checkPlaceholder):
			errs = append(errs, wrong(c.name, "want %%s in the command, for the file that it looks at, got %q", c.line))
		}
	}
	return errors.Join(errs...)
}

// checkPlaceholder stands in validate for the file to look at.
const checkPlaceholder = "%s"

// CheckOf returns the words of validate for a file.
func (f File) CheckOf(path string) []string {
	words, _ := shellquote.Split(f.Check)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, checkPlaceholder, path)
	}
	return words
}

// CheckAfterwards returns the words of validate_after.
func (f File) CheckAfterwards() []string {
	words, _ := shellquote.Split(f.CheckAfter)
	return words
}
