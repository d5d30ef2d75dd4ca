package facts

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"

	ghost "github.com/shirou/gopsutil/v4/host"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// gatherHost fills gopsutil's description of a host, in which text that is not
// known is empty. gopsutil's own function is not used: it fails where something
// is merely missing, runs lsb_release, and looks outside the root.
func gatherHost(ctx context.Context, v *host.View) (any, error) {
	run := running(v)
	info := ghost.InfoStat{OS: runtime.GOOS}
	var err error
	if info.Hostname, err = NodeName(v); err != nil {
		return nil, err
	}
	release, err := readRelease(installed(v))
	if err != nil {
		return nil, err
	}
	if release != nil {
		info.PlatformFamily = family(release)
		if info.Platform, info.PlatformVersion, err = platform(installed(v), release); err != nil {
			return nil, err
		}
	}
	k, err := readKernel(ctx, v)
	if err != nil {
		return nil, err
	}
	info.KernelVersion, info.KernelArch = k.release, k.machine
	m, err := readVirtual(run)
	if err != nil {
		return nil, err
	}
	info.VirtualizationSystem, info.VirtualizationRole = m.gopsutil()
	if info.HostID, err = ghost.HostIDWithContext(forGopsutil(ctx, v)); err != nil {
		return nil, err
	}
	if info.Uptime, info.BootTime, info.Procs, err = readProc(run); err != nil {
		return nil, err
	}
	val, err := plain(info)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(val.(map[string]any), func(_ string, val any) bool { return val == int64(0) })
	return map[string]any{"info": val}, nil
}

// gopsutil returns the pair in the form of gopsutil: a container hides the hypervisor, and none is
// "".
func (m virtualization) gopsutil() (system, role string) {
	switch {
	case m.container != "none":
		return m.container, "guest"
	case m.system != "none":
		return m.system, m.role
	}
	return "", ""
}

// readProc returns the uptime in seconds, the time of the boot and the number of processes; 0 for
// values that /proc does not have.
func readProc(run *host.View) (uptime, boot, procs uint64, err error) {
	if uptime, err = readUptime(run); err != nil {
		return 0, 0, 0, err
	}
	if boot, err = readBootTime(run); err != nil {
		return 0, 0, 0, err
	}
	names, err := run.ReadDir("/proc")
	if missing(err) {
		return uptime, boot, 0, nil
	}
	for _, name := range names {
		if _, err := strconv.ParseUint(name, 10, 32); err == nil {
			procs++
		}
	}
	return uptime, boot, procs, err
}

// readUptime returns the seconds since the machine was started, 0 if the kernel does not say.
func readUptime(run *host.View) (uint64, error) {
	text, err := readText(run, "/proc/uptime")
	if text == "" || err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseFloat(strings.Fields(text)[0], 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/uptime: %w", diag.Expected("seconds").Got("%q", text))
	}
	return uint64(seconds), nil
}

// readBootTime returns when the machine was started, in seconds since 1970, 0 if the kernel does not say.
func readBootTime(run *host.View) (uint64, error) {
	text, err := readText(run, "/proc/stat")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if num, ok := strings.CutPrefix(line, "btime "); ok {
			boot, err := strconv.ParseUint(strings.TrimSpace(num), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("/proc/stat: %w", diag.Expected("seconds").Got("%q", line))
			}
			return boot, nil
		}
	}
	return 0, nil
}
