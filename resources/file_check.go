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
			err := wrong(c.name, "looks at a content, and with ensure absent there is none")
			err.Hint = "validate_after looks at the machine once the file is gone"
			errs = append(errs, err)
			continue
		case f.Ensure != FilePresent && c.ofFile:
			errs = append(errs, wrong(c.name, "goes only with ensure present"))
			continue
		case f.Ensure != FilePresent && f.Ensure != FileAbsent:
			errs = append(errs, wrong(c.name, "goes only with ensure present and absent"))
			continue
		case f.Force:
			errs = append(errs, wrong(c.name, "%w: a directory could not be put back", diag.Conflicting("", "force")))
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
