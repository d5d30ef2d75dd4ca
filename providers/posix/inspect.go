package posix

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

var _ resource.Inspector[resources.File, resources.FileState] = files{}

// Inspect implements resource.Inspector: it sets also the fields that Status leaves empty for a
// desired state, and no comparison.
func (files) Inspect(ctx context.Context, v *host.View, want resources.File) (have resources.FileState, err error) {
	info, err := v.Lstat(want.Name)
	if err != nil || info.Kind == safepath.Missing {
		return have, err
	}
	have = resources.FileState{
		Kind: info.Kind, UID: info.UID, GID: info.GID, Mode: info.Mode, Size: info.Size, MTime: info.MTime,
		Owner: v.UserName(info.UID), Group: v.GroupName(info.GID),
	}
	switch info.Kind {
	case safepath.Symlink:
		have.Target, err = v.Readlink(want.Name)
	case safepath.Regular:
		if have.Capabilities, err = host.Capabilities(v, want.Name); err == nil {
			have.Checksum, err = v.Sum(ctx, want.Name)
		}
	}
	return have, err
}
