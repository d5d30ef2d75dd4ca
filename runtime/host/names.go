package host

import (
	"context"

	"github.com/luaccm/ccm/runtime/safepath"
)

// How many names of directories a call may read.
type (
	NameLimit         = safepath.NameLimit
	TooManyNamesError = safepath.TooManyNamesError
)

// MaxNames is the NameLimit of a call of a script.
const MaxNames = safepath.MaxNames

// Names is ReadDir for a directory that may be of any size. It ends with ctx, and gives a
// [TooManyNamesError] when there are more names than l allows.
func (v *View) Names(ctx context.Context, name string, l NameLimit) ([]string, error) {
	return v.readDir(name, &safepath.NameReader{Ctx: ctx, Limit: l})
}
