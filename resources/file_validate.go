package resources

import (
	"errors"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// Validate implements resource.Spec.
func (f File) Validate() error {
	var errs []error
	if err := checkPath("name", f.Name); err != nil {
		errs = append(errs, err)
	}
	switch missing := f.missing(); {
	case f.Ensure == FileExisting && len(missing) == 3 && f.Capabilities == nil:
		errs = append(errs, wrong("ensure", "existing requires owner, group, mode or capabilities"))
	case (f.Ensure == FilePresent || f.Ensure == FileDirectory) && len(missing) > 0:
		errs = append(errs, fmt.Errorf("%s required, except with ensure = \"absent\" or \"existing\"", isAre(missing)))
	}
	if f.mode().IsSpecial() && !f.SpecialBits {
		err := wrong("mode", "%w", diag.MustBe("at most 0777").Got("%q, whose first digit is setuid, setgid and sticky", f.Mode))
		err.Hint = "special_bits = true allows it"
		errs = append(errs, err)
	}
	switch {
	case f.Capabilities == nil:
	case f.Ensure == FileDirectory:
		errs = append(errs, wrong("capabilities", "a directory cannot have capabilities"))
	case f.Ensure == FileAbsent:
		errs = append(errs, wrong("capabilities", "requires ensure present or existing"))
	}
	switch {
	case f.Ensure == FileExisting && f.Content != nil:
		errs = append(errs, wrong("content", "existing does not manage the content"))
	case f.Ensure == FileExisting && f.Source != nil:
		errs = append(errs, wrong("source", "existing does not manage the content"))
	case f.Content != nil && f.Source != nil:
		errs = append(errs, wrong("source", "%w", diag.Conflicting("", "content")))
	case f.Ensure == FileDirectory && f.Content != nil:
		errs = append(errs, wrong("content", "a directory cannot have content"))
	case f.Ensure == FileDirectory && f.Source != nil:
		errs = append(errs, wrong("source", "a directory cannot have content"))
	case f.Source != nil && *f.Source == "":
		errs = append(errs, wrong("source", "%w", diag.Expected("a path").Got("an empty string")))
	case f.Decrypt != nil && f.Source == nil:
		errs = append(errs, wrong("decrypt", "requires source"))
	case f.Decrypt != nil && *f.Decrypt && fetch.IsURL(*f.Source):
		errs = append(errs, wrong("decrypt", "URLs cannot be decrypted: store the file in the site"))
	case f.Checksum != "" && f.Source == nil:
		errs = append(errs, wrong("checksum", "requires source"))
	case f.ContentOnce && f.Content == nil && f.Source == nil:
		errs = append(errs, wrong("content_once", "requires content or source"))
	}
	if err := f.checkCommands(); err != nil {
		errs = append(errs, err)
	}
	if f.Links == LinksReplace && f.Ensure != FilePresent {
		errs = append(errs, wrong("links", "replace requires ensure present: %w", diag.Expected("refuse or follow")))
	}
	if f.Links == LinksFollow && f.Ensure == FileAbsent {
		errs = append(errs, wrong("links", "ensure absent removes the link itself, so links cannot be follow"))
	}
	if f.Force && f.Ensure != FileAbsent {
		errs = append(errs, wrong("force", "requires ensure absent"))
	}
	if f.Parents && (f.Ensure == FileAbsent || f.Ensure == FileExisting) {
		errs = append(errs, wrong("parents", "requires ensure present or directory"))
	}
	if f.Ensure == FileAbsent && f.Name == "/" {
		errs = append(errs, wrong("ensure", "/ cannot be removed"))
	}
	return errors.Join(errs...)
}

// missing lists the missing attributes.
func (f File) missing() (names []string) {
	if f.Owner == "" {
		names = append(names, "owner")
	}
	if f.Group == "" {
		names = append(names, "group")
	}
	if f.Mode == nil {
		names = append(names, "mode")
	}
	return names
}

// isAre formats "a is", "a and b are" or "a, b and c are".
func isAre(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0] + " is"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}
