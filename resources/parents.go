package resources

import (
	"errors"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Parents is the part of a state about the directories above a missing path.
type Parents struct {
	// MissingParents are the missing directories, the uppermost first.
	MissingParents []string
	// BlockedParent is set if one of them is not a directory; nil otherwise.
	BlockedParent *host.ParentError
}

// LookAtParents returns the Parents of a path.
func LookAtParents(v *host.View, name string) (p Parents, err error) {
	p.MissingParents, err = host.MissingParents(v, name)
	if errors.As(err, &p.BlockedParent) {
		err = nil
	}
	return p, err
}

// parentError returns the reason why nothing can be made at the path, nil if it can. Made says
// that missing directories will be made.
func (p Parents) parentError(made bool) error {
	switch {
	case p.BlockedParent != nil:
		return p.BlockedParent
	case len(p.MissingParents) > 0 && !made:
		return &host.ParentError{Dir: p.MissingParents[len(p.MissingParents)-1], Missing: true}
	}
	return nil
}

// tellParents adds the directories to make to a decision.
func (p Parents) tellParents(d *resource.Decision) {
	if len(p.MissingParents) > 0 {
		d.Add("parents", "", strings.Join(p.MissingParents, ", ")+" (mode 0755)")
	}
}

// effects returns the effects at a path and above it.
func (p Parents) effects(own overlay.PathEffect) (list []overlay.PathEffect) {
	for _, dir := range p.MissingParents {
		list = append(list, overlay.PathEffect{Path: dir, Kind: safepath.Directory})
	}
	return append(list, own)
}
