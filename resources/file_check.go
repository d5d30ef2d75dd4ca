package resources

import (
	"errors"

	"github.com/luaccm/ccm/runtime/resource"
)

// checkCommands finds mistakes in validate and validate_after.
func (f File) checkCommands() error {
	var errs []error
	for _, c := range []struct {
		name    string
		command resource.CheckCommand
		ofFile  bool
	}{{"validate", f.Validation(), true}, {"validate_after", f.ValidationAfter(), false}} {
		if !c.command.IsGiven() {
			continue
		}
		if f.Ensure != FilePresent {
			errs = append(errs, wrong(c.name, "goes only with ensure present"))
		} else if err := c.command.Err(c.ofFile); err != nil {
			errs = append(errs, wrong(c.name, "%w", err))
		}
	}
	return errors.Join(errs...)
}

// Validation returns validate.
func (f File) Validation() resource.CheckCommand { return f.Check }

// ValidationAfter returns validate_after.
func (f File) ValidationAfter() resource.CheckCommand { return f.CheckAfter }
