package facts

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// initNames are the init systems by the name of their process 1.
var initNames = map[string]string{
	"systemd": "systemd", "openrc-init": "openrc", "runit": "runit", "runit-init": "runit",
	"s6-svscan": "s6", "dinit": "dinit", "launchd": "launchd", "upstart": "upstart",
}

// gatherInit looks at process 1. Where its name is the one that every init system may have, the directory that an
// init system makes at boot (sd_booted(3)) says which it is. Such a directory alone says nothing: packages of init
// systems that are not running make it too, and containers may see that of the machine around them.
func gatherInit(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	name, err := readText(run, "/proc/1/comm")
	if err != nil {
		return nil, err
	}
	if known := initNames[name]; known != "" {
		return known, nil
	}
	if name != "" && name != "init" {
		return name, nil
	}
	signs := []struct{ dir, name string }{{"/run/systemd/system", "systemd"}, {"/run/openrc", "openrc"}}
	if name == "" { // process 1 is hidden from this user
		signs = append(signs, []struct{ dir, name string }{{"/run/runit", "runit"}, {"/run/s6", "s6"}}...)
	}
	for _, sign := range signs {
		there, err := run.IsDirectory(sign.dir)
		if err != nil {
			return nil, err
		}
		if there {
			return sign.name, nil
		}
	}
	return orAbsent(name), nil
}
