package facts

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherInit looks for the directories that the init systems say to look for
// (sd_booted(3)); else the name of process 1 has to do.
func gatherInit(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	for _, sign := range []struct{ dir, name string }{
		{"/run/systemd/system", "systemd"},
		{"/run/openrc", "openrc"},
		{"/run/runit", "runit"},
		{"/run/s6", "s6"},
	} {
		there, err := run.IsDirectory(sign.dir)
		if err != nil {
			return nil, err
		}
		if there {
			return sign.name, nil
		}
	}
	name, err := readText(run, "/proc/1/comm")
	return orAbsent(name), err
}
