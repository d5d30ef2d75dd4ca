package facts

import (
	"context"
	"errors"
	"io/fs"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherCPU(ctx context.Context, v *host.View) (any, error) {
	ctx = forGopsutil(ctx, v)
	info, err := cpu.InfoWithContext(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	count, err := cpu.CountsWithContext(ctx, true)
	if err != nil {
		return nil, err
	}
	branch := map[string]any{"count": int64(count)}
	model := ""
	for i := range info {
		info[i].Flags = orEmpty(info[i].Flags)
		if model == "" {
			model = info[i].ModelName
		}
	}
	put(branch, "model", model)
	branch["info"], err = plain(orEmpty(info))
	return branch, err
}

// orEmpty returns list, or an empty list instead of nil, which JSON would write as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
