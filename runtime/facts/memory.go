package facts

import (
	"context"
	"errors"
	"io/fs"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherMemory(ctx context.Context, v *host.View) (any, error) {
	ctx = forGopsutil(ctx, v)
	virtual, err := mem.VirtualMemoryWithContext(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	branch := map[string]any{
		"total": int64(virtual.Total), "available": int64(virtual.Available),
		"used": int64(virtual.Used), "free": int64(virtual.Free),
	}
	if branch["virtual"], err = plain(virtual); err != nil {
		return nil, err
	}
	limit, err := memoryLimit(running(v))
	if err != nil {
		return nil, err
	}
	if limit != 0 {
		branch["limit"] = limit
	}
	branch["swap"], err = swap(ctx)
	return branch, err
}

// swap looks at swap space. Values that the kernel does not tell are absent.
func swap(ctx context.Context) (map[string]any, error) {
	branch := make(map[string]any)
	info, err := mem.SwapMemoryWithContext(ctx)
	if err == nil {
		branch["info"], err = plain(info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	devices, err := mem.SwapDevicesWithContext(ctx)
	if err == nil {
		branch["devices"], err = plain(orEmpty(devices))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return branch, nil
}
