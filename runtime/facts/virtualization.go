package facts

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherVirtual(_ context.Context, v *host.View) (any, error) {
	m, err := readVirtual(running(v))
	if err != nil {
		return nil, err
	}
	return map[string]any{"system": m.system, "role": m.role, "container": m.container}, nil
}

// virtualization describes the virtualization of the machine as a guest, or as a host. Each value is
// "none" if there is none. The names are those of gopsutil, which itself is not used: it keeps its
// first answer for the whole process, and detects few guests.
type virtualization struct {
	system    string // kvm xen vmware vbox hyperv ...
	role      string // guest, host
	container string // docker podman lxc ...
}

func readVirtual(run *host.View) (virtualization, error) {
	m := virtualization{system: "none", role: "none", container: "none"}
	container, err := readContainer(run)
	if err != nil {
		return m, err
	}
	if container != "" {
		m.container, m.role = container, "guest"
	}
	system, role, err := readHypervisor(run)
	if err != nil {
		return m, err
	}
	if system != "" {
		m.system = system
		if m.role == "none" {
			m.role = role
		}
	}
	return m, nil
}

// readContainer looks for the marks of container managers.
func readContainer(run *host.View) (string, error) {
	// systemd stores the container manager's name here.
	if name, err := readText(run, "/run/systemd/container"); name != "" || err != nil {
		return name, err
	}
	for _, sign := range []struct{ path, name string }{
		{"/run/.containerenv", "podman"},
		{"/.dockerenv", "docker"},
	} {
		if there, err := run.Exists(sign.path); there || err != nil {
			return sign.name, err
		}
	}
	release, err := readText(run, "/proc/sys/kernel/osrelease")
	if err != nil {
		return "", err
	}
	if strings.Contains(strings.ToLower(release), "microsoft") {
		return "wsl", nil
	}
	// Only root may read this; for others the control groups have to do.
	environ, err := run.ReadFile("/proc/1/environ")
	if err != nil && !missing(err) && !errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	for text := range strings.SplitSeq(string(environ), "\x00") {
		if name, ok := strings.CutPrefix(text, "container="); ok && name != "" {
			return name, nil
		}
	}
	groups, err := readText(run, "/proc/self/cgroup")
	return containerOfGroups(groups), err
}

// containerOfGroups returns the manager of a container from the names of its control groups.
func containerOfGroups(groups string) string {
	for _, sign := range []struct{ part, name string }{
		{"/docker/", "docker"}, {"/docker-", "docker"},
		{"/libpod-", "podman"}, {"/libpod_parent", "podman"},
		{"/lxc/", "lxc"}, {"/lxc.payload", "lxc"},
		{"/kubepods", "kubernetes"},
	} {
		if strings.Contains(groups, sign.part) {
			return sign.name
		}
	}
	return ""
}

// readHypervisor reads signs of a hypervisor from the firmware, the kernel's clocks and, on arm, the device tree, and
// then the modules of a host.
func readHypervisor(run *host.View) (system, role string, err error) {
	xen, err := readText(run, "/proc/xen/capabilities")
	if err != nil {
		return "", "", err
	}
	if strings.Contains(xen, "control_d") {
		return "xen", "host", nil
	}
	var signs strings.Builder
	for _, name := range []string{
		"/sys/hypervisor/type",
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/product_name",
		"/sys/class/dmi/id/board_vendor",
		"/sys/class/dmi/id/bios_vendor",
		"/sys/devices/system/clocksource/clocksource0/available_clocksource",
		"/proc/device-tree/hypervisor/compatible",
	} {
		text, err := readText(run, name)
		if err != nil {
			return "", "", err
		}
		signs.WriteString(text + "\n")
	}
	if system := hypervisorOf(signs.String()); system != "" {
		return system, "guest", nil
	}
	modules, err := readText(run, "/proc/modules")
	return hostOf(modules), "host", err
}

// hypervisorOf returns the hypervisor for the names in signs. The order matters: some machines name
// the cloud as well as the hypervisor below it.
func hypervisorOf(signs string) string {
	if strings.Contains(signs, "Amazon EC2") && strings.Contains(signs, ".metal") {
		return ""
	}
	for _, sign := range []struct{ part, system string }{
		{"VMware", "vmware"},
		{"VirtualBox", "vbox"}, {"innotek GmbH", "vbox"},
		{"Parallels", "parallels"},
		{"BHYVE", "bhyve"},
		{"Apple Virtualization", "apple"},
		{"Virtual Machine", "hyperv"}, {"hyperv_clocksource", "hyperv"},
		{"Xen", "xen"}, {"xen", "xen"},
		{"KVM", "kvm"}, {"kvm", "kvm"}, {"QEMU", "kvm"},
		{"Amazon EC2", "kvm"}, {"Google Compute Engine", "kvm"}, {"OpenStack", "kvm"},
	} {
		if strings.Contains(signs, sign.part) {
			return sign.system
		}
	}
	return ""
}

// hostOf returns the hypervisor of a host from the text of /proc/modules.
func hostOf(modules string) string {
	for line := range strings.Lines(modules) {
		switch name, _, _ := strings.Cut(line, " "); name {
		case "kvm", "kvm_intel", "kvm_amd":
			return "kvm"
		case "vboxdrv":
			return "vbox"
		}
	}
	return ""
}
