package facts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVirtual(t *testing.T) {
	const dmi, clocks = "/sys/class/dmi/id/", "/sys/devices/system/clocksource/clocksource0/available_clocksource"
	for name, c := range map[string]struct {
		files                   map[string]string
		system, role, container string
		info                    [2]string // virtualizationSystem and virtualizationRole
	}{
		"metal":                        {map[string]string{clocks: "tsc hpet acpi_pm\n", dmi + "sys_vendor": "Dell Inc.\n"}, "none", "none", "none", [2]string{"", ""}},
		"qemu with kvm":                {map[string]string{dmi + "sys_vendor": "QEMU\n"}, "kvm", "guest", "none", [2]string{"kvm", "guest"}},
		"firecracker, by its clock":    {map[string]string{clocks: "tsc kvm-clock\n"}, "kvm", "guest", "none", [2]string{"kvm", "guest"}},
		"arm, by the device tree":      {map[string]string{"/proc/device-tree/hypervisor/compatible": "linux,kvm\x00"}, "kvm", "guest", "none", [2]string{"kvm", "guest"}},
		"vmware":                       {map[string]string{dmi + "product_name": "VMware Virtual Platform\n"}, "vmware", "guest", "none", [2]string{"vmware", "guest"}},
		"virtualbox":                   {map[string]string{dmi + "product_name": "VirtualBox\n", clocks: "kvm-clock tsc\n"}, "vbox", "guest", "none", [2]string{"vbox", "guest"}},
		"hyper-v":                      {map[string]string{dmi + "sys_vendor": "Microsoft Corporation\n", dmi + "product_name": "Virtual Machine\n"}, "hyperv", "guest", "none", [2]string{"hyperv", "guest"}},
		"xen guest":                    {map[string]string{"/sys/hypervisor/type": "xen\n"}, "xen", "guest", "none", [2]string{"xen", "guest"}},
		"xen host":                     {map[string]string{"/sys/hypervisor/type": "xen\n", "/proc/xen/capabilities": "control_d\n"}, "xen", "host", "none", [2]string{"xen", "host"}},
		"ec2":                          {map[string]string{dmi + "sys_vendor": "Amazon EC2\n", dmi + "product_name": "m5.large\n"}, "kvm", "guest", "none", [2]string{"kvm", "guest"}},
		"ec2 metal":                    {map[string]string{dmi + "sys_vendor": "Amazon EC2\n", dmi + "product_name": "m5.metal\n"}, "none", "none", "none", [2]string{"", ""}},
		"kvm host":                     {map[string]string{"/proc/modules": "ext4 1 0\nkvm_intel 4 0 - Live\nkvm 9 1 kvm_intel, Live\n"}, "kvm", "host", "none", [2]string{"kvm", "host"}},
		"kvm guest that is a host too": {map[string]string{dmi + "sys_vendor": "QEMU\n", "/proc/modules": "kvm 9 0\n"}, "kvm", "guest", "none", [2]string{"kvm", "guest"}},
		"docker in a guest":            {map[string]string{"/.dockerenv": "", clocks: "kvm-clock\n"}, "kvm", "guest", "docker", [2]string{"docker", "guest"}},
		"docker on a kvm host":         {map[string]string{"/.dockerenv": "", "/proc/modules": "kvm 9 0\n"}, "kvm", "guest", "docker", [2]string{"docker", "guest"}},
		"podman":                       {map[string]string{"/run/.containerenv": "engine=\"podman\"\n"}, "none", "guest", "podman", [2]string{"podman", "guest"}},
		"systemd in a container":       {map[string]string{"/run/systemd/container": "systemd-nspawn\n"}, "none", "guest", "systemd-nspawn", [2]string{"systemd-nspawn", "guest"}},
		"lxc, by process 1":            {map[string]string{"/proc/1/environ": "TERM=x\x00container=lxc\x00"}, "none", "guest", "lxc", [2]string{"lxc", "guest"}},
		"docker, by its groups":        {map[string]string{"/proc/self/cgroup": "12:pids:/docker/0123\n"}, "none", "guest", "docker", [2]string{"docker", "guest"}},
		"the docker daemon's machine":  {map[string]string{"/proc/self/cgroup": "0::/system.slice/docker.service\n"}, "none", "none", "none", [2]string{"", ""}},
		"kubernetes":                   {map[string]string{"/proc/self/cgroup": "0::/kubepods.slice/kubepods-burstable.slice\n"}, "none", "guest", "kubernetes", [2]string{"kubernetes", "guest"}},
		"wsl":                          {map[string]string{"/proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}, "none", "guest", "wsl", [2]string{"wsl", "guest"}},
	} {
		t.Run(name, func(t *testing.T) {
			// The root has its own /proc, so no fact comes from this machine.
			v := rootWith(t, c.files, map[string]string{"/proc/uptime": "1.0 1.0\n", "/etc/os-release": "ID=debian\n"})
			require.Equal(t, map[string]any{"system": c.system, "role": c.role, "container": c.container}, get(t, v, "virtual"))
			require.Equal(t, c.info[0], get(t, v, "host.info.virtualizationSystem"))
			require.Equal(t, c.info[1], get(t, v, "host.info.virtualizationRole"))
		})
	}
}

func TestInit(t *testing.T) {
	for _, c := range []struct {
		comm, want string
		dirs       []string
	}{
		{"systemd", "systemd", nil},
		{"init", "systemd", []string{"/run/systemd/system/x"}},
		{"init", "openrc", []string{"/run/openrc/softlevel"}}, // of busybox or sysvinit
		{"openrc-init", "openrc", nil},
		{"runit-init", "runit", nil},
		{"s6-svscan", "s6", nil},
		{"init", "init", []string{"/run/runit/x"}},               // the package runit is installed
		{"busybox", "busybox", []string{"/run/runit/x"}},         // the same
		{"bash", "bash", []string{"/run/systemd/system/x"}},      // a container that sees the directory of its machine
		{"systemd", "systemd", []string{"/run/openrc/x"}},        // openrc is installed
		{"", "runit", []string{"/run/runit/x"}},                  // process 1 is hidden from this user
		{"busybox", "busybox", []string{"/run/systemd/private"}}, // the directory of a systemd that is not running
	} {
		files := map[string]string{"/proc/uptime": "1.0 1.0\n"}
		if c.comm != "" {
			files["/proc/1/comm"] = c.comm + "\n"
		}
		for _, dir := range c.dirs {
			files[dir] = ""
		}
		require.Equal(t, c.want, get(t, rootWith(t, files), "init"), "%v", c)
	}
	requireAbsent(t, rootWith(t, map[string]string{"/proc/uptime": "1.0 1.0\n"}), "init")
}
