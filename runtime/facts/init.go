package facts

import (
	"context"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/host"
)

// initNames are the init systems by the name of their process 1.
var initNames = map[string]string{
	"systemd": "systemd", "openrc-init": "openrc", "runit": "runit", "runit-init": "runit",
	"s6-svscan": "s6", "dinit": "dinit", "launchd": "launchd", "upstart": "upstart",
}

// WithoutInit returns the reason why no services run on this machine: process 1 is not an init system, as in a container, or
// is that of another root, as in a chroot. It is "" where one runs, and where that is not known.
func WithoutInit() string { return withoutInit(thisMachine()) }

func withoutInit(v *host.View) string {
	name, err := readText(v, "/proc/1/comm")
	if err != nil {
		return ""
	}
	// sd_booted(3)
	booted, err := v.IsDirectory("/run/systemd/system")
	switch {
	case name == "systemd" && err == nil && !booted, inChroot(v):
		return "no init system runs here: process 1 has another root"
	case name == "" || name == "init" || initNames[name] != "":
		return ""
	}
	return "no init system runs here: process 1 is " + name
}

// inChroot reports whether process 1 has another root than this machine's view. Only a user who may trace it can see that.
func inChroot(v *host.View) bool {
	here, err := os.Stat(v.Root())
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Join(v.Root(), "proc/1/root/."))
	return err == nil && !os.SameFile(here, there)
}

// BootsWith returns the init system that a machine which is not running is going to boot with: the one whose program it
// has, "" if that is neither systemd nor OpenRC.
func BootsWith(v *host.View) (string, error) {
	for _, x := range []struct{ program, name string }{
		{"/usr/lib/systemd/systemd", "systemd"}, {"/lib/systemd/systemd", "systemd"},
		{"/sbin/openrc", "openrc"}, {"/usr/sbin/openrc", "openrc"}, {"/usr/bin/openrc", "openrc"},
	} {
		if there, err := v.Exists(x.program); there || err != nil {
			return x.name, err
		}
	}
	return "", nil
}

// gatherInit looks at process 1. Where its name is the one that every init system may have, the directory that an
// init system makes at boot (sd_booted(3)) says which it is. Such a directory alone says nothing: packages of init
// systems that are not running make it too, and containers may see that of the machine around them.
func gatherInit(_ context.Context, v *host.View) (any, error) {
	if v.CommandRoot() != "/" {
		name, err := BootsWith(v)
		return orAbsent(name), err
	}
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
