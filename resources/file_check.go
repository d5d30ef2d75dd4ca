package resources

import (
	"errors"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// checkCommands finds mistakes in validate and validate_after.
func (f File) checkCommands() error {
	var errs []error
	for _, c := range []struct {
		name    string
		command []string
	}{{"validate", f.Check}, {"validate_after", f.CheckAfter}} {
		if !asks(c.command) {
			continue
		}
		line := strings.Join(c.command, " ")
		words, err := wordsOf(c.command)
		switch {
		case err != nil:
			errs = append(errs, wrong(c.name, "%s in %q", strings.ToLower(err.Error()), line))
		case len(words) == 0 || words[0] == "":
			errs = append(errs, wrong(c.name, "want a command, got %q", line))
		case f.Ensure != FilePresent:
			errs = append(errs, wrong(c.name, "goes only with ensure present"))
		case c.name == "validate" && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, checkPlaceholder) }):
			errs = append(errs, wrong(c.name, "want %%s in the command, for the file that it looks at, got %q", line))
		}
	}
	return errors.Join(errs...)
}

// checkPlaceholder stands in validate for the file to look at.
const checkPlaceholder = "%s"

// asks reports whether a property holds a command.
func asks(command []string) bool { return len(command) > 1 || len(command) == 1 && command[0] != "" }

// wordsOf returns the words of a command, which is a line or a list of words.
func wordsOf(command []string) ([]string, error) {
	if len(command) == 1 {
		return shellquote.Split(command[0])
	}
	return slices.Clone(command), nil
}

// IsChecked reports whether validate is asked.
func (f File) IsChecked() bool { return asks(f.Check) }

// IsCheckedAfterwards reports whether validate_after is asked.
func (f File) IsCheckedAfterwards() bool { return asks(f.CheckAfter) }

// CheckOf returns the words of validate for a file.
func (f File) CheckOf(path string) []string {
	words, _ := wordsOf(f.Check)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, checkPlaceholder, path)
	}
	return words
}

// CheckAfterwards returns the words of validate_after.
func (f File) CheckAfterwards() []string {
	words, _ := wordsOf(f.CheckAfter)
	return words
}
