package facts

import (
	"context"
	"errors"

	ghost "github.com/shirou/gopsutil/v4/host"
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherKernel(ctx context.Context, v *host.View) (any, error) {
	k, err := readKernel(ctx, v)
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	put(branch, "name", k.name)
	put(branch, "release", k.release)
	put(branch, "version", k.version)
	put(branch, "machine", k.machine)
	return branch, nil
}

// kernel is the result of uname(1).
type kernel struct{ name, release, version, machine string }

// readKernel reads /proc/sys/kernel. The machine, and without /proc the name and the release, come from uname(2).
func readKernel(ctx context.Context, v *host.View) (kernel, error) {
	run := running(v)
	name, err1 := readText(run, "/proc/sys/kernel/ostype")
	release, err2 := readText(run, "/proc/sys/kernel/osrelease")
	version, err3 := readText(run, "/proc/sys/kernel/version")
	machine, err4 := ghost.KernelArch()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return kernel{}, err
	}
	if name == "" {
		var uts unix.Utsname
		if err := unix.Uname(&uts); err != nil {
			return kernel{}, err
		}
		name = unix.ByteSliceToString(uts.Sysname[:])
	}
	if release == "" {
		var err error
		if release, err = ghost.KernelVersionWithContext(ctx); err != nil {
			return kernel{}, err
		}
	}
	return kernel{name, release, version, machine}, nil
}
