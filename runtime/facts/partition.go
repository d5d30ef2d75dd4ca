package facts

import (
	"context"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherPartition(ctx context.Context, v *host.View) (any, error) {
	parts, err := disk.PartitionsWithContext(forGopsutil(ctx, v), false)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	usage := []*disk.UsageStat{}
	for i := range parts {
		parts[i].Opts = orEmpty(parts[i].Opts)
		// A mount that is out of reach has no usage; the others have theirs.
		if u, err := disk.UsageWithContext(ctx, filepath.Join(running(v).Root(), parts[i].Mountpoint)); err == nil {
			u.Path = parts[i].Mountpoint
			usage = append(usage, u)
		}
	}
	branch := make(map[string]any)
	if branch["partitions"], err = plain(orEmpty(parts)); err != nil {
		return nil, err
	}
	branch["usage"], err = plain(usage)
	return branch, err
}
