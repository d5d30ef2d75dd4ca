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
	case f.Ensure == FileExisting && len(missing) == 3:
		errs = append(errs, wrong("ensure", "existing needs owner, group or mode: nothing else is managed"))
	case (f.Ensure == FilePresent || f.Ensure == FileDirectory) && len(missing) > 0:
		errs = append(errs, fmt.Errorf("%s required unless ensure is absent or existing", isAre(missing)))
	}
	if f.mode().IsSpecial() && !f.SpecialBits {
		err := wrong("mode", "%w", diag.MustBe("at most 0777").Got("%q: setuid, setgid and sticky are not set by mistake", f.Mode))
		err.Hint = "special_bits = true allows it"
		errs = append(errs, err)
	}
	switch {
	case f.Ensure == FileExisting && f.Content != nil:
		errs = append(errs, wrong("content", "the content of what exists already is left alone"))
	case f.Ensure == FileExisting && f.Source != nil:
		errs = append(errs, wrong("source", "the content of what exists already is left alone"))
	case f.Content != nil && f.Source != nil:
		errs = append(errs, wrong("source", "cannot be given together with content"))
	case f.Ensure == FileDirectory && f.Content != nil:
		errs = append(errs, wrong("content", "a directory has no content"))
	case f.Ensure == FileDirectory && f.Source != nil:
		errs = append(errs, wrong("source", "a directory has no content"))
	case f.Source != nil && *f.Source == "":
		errs = append(errs, wrong("source", "%w", diag.Expected("a path").Got("an empty string")))
	case f.Decrypt != nil && f.Source == nil:
		errs = append(errs, wrong("decrypt", "goes with source"))
	case f.Decrypt != nil && *f.Decrypt && fetch.IsURL(*f.Source):
		errs = append(errs, wrong("decrypt", "what is behind a URL is not decrypted: keep the file in the site"))
	case f.Checksum != "" && f.Source == nil:
		errs = append(errs, wrong("checksum", "goes with source"))
	case f.ContentOnce && f.Content == nil && f.Source == nil:
		errs = append(errs, wrong("content_once", "needs content or source"))
	}
	if err := f.checkCommands(); err != nil {
		errs = append(errs, err)
	}
	if f.Links == LinksReplace && f.Ensure != FilePresent {
		errs = append(errs, wrong("links", "replace goes with ensure present: %w", diag.Expected("refuse or follow")))
	}
	if f.Links == LinksFollow && f.Ensure == FileAbsent {
		errs = append(errs, wrong("links", "with ensure absent the link itself is removed: follow goes with the others"))
	}
	if f.Force && f.Ensure != FileAbsent {
		errs = append(errs, wrong("force", "goes only with ensure absent"))
	}
	if f.Parents && (f.Ensure == FileAbsent || f.Ensure == FileExisting) {
		errs = append(errs, wrong("parents", "goes with ensure present and directory"))
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
