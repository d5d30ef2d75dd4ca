package facts

import (
	"context"
	"errors"
	"strings"

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
	line, err := readText(running(v), "/proc/cmdline")
	if line == "" || err != nil {
		return branch, err
	}
	branch["cmdline"], branch["parameters"] = line, kernelParameters(line)
	return branch, nil
}

// kernelParameters returns the parameters of a command line of the kernel by name, and "" for those without a value.
// Of a name that is given twice the last counts. Spaces in double quotes belong to a value.
func kernelParameters(line string) map[string]any {
	out := make(map[string]any)
	quoted := false
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted || r == '\n' || r == '\t'
	}) {
		name, val, _ := strings.Cut(strings.ReplaceAll(word, `"`, ""), "=")
		if name != "" {
			out[name] = val
		}
	}
	return out
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
