package resources

import (
	"errors"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// checkCommands returns the mistakes in validate and validate_after.
func (f File) checkCommands() error {
	var errs []error
	for _, c := range []struct {
		name    string
		command resource.CheckCommand
		ofFile  bool
	}{{"validate", f.Validation(), true}, {"validate_after", f.ValidationAfter(), false}} {
		switch {
		case !c.command.IsGiven():
			continue
		case f.Ensure == FileAbsent && c.ofFile:
			err := wrong(c.name, "checks a content, which requires ensure present")
			err.Hint = "use validate_after, which checks the machine after the removal"
			errs = append(errs, err)
			continue
		case f.Ensure != FilePresent && c.ofFile:
			errs = append(errs, wrong(c.name, "requires ensure present"))
			continue
		case f.Ensure != FilePresent && f.Ensure != FileAbsent:
			errs = append(errs, wrong(c.name, "requires ensure present or absent"))
			continue
		case f.Force:
			errs = append(errs, wrong(c.name, "%w: a directory cannot be restored", diag.Conflicting("", "force")))
			continue
		}
		if err := c.command.Err(c.ofFile); err != nil {
			errs = append(errs, wrong(c.name, "%w", err))
		}
	}
	return errors.Join(errs...)
}

// Validation returns validate, the field Check, as a command that can be asked about.
func (f File) Validation() resource.CheckCommand { return f.Check }

// ValidationAfter is the same for validate_after, the field CheckAfter.
func (f File) ValidationAfter() resource.CheckCommand { return f.CheckAfter }
