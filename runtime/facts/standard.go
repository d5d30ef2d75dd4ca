package facts

import "time"

// Standard returns the gatherers that ship with ccm, in order of name.
// docs/facts.md describes every fact of theirs.
//
// host, network, partition, cpu and memory have the layout that Choria CCM
// gives them, with the names of gopsutil's JSON; cpu and memory hold a few short
// names besides. The other branches are the short ones. Costly are those that
// grow with the machine: with its processors, interfaces and mounts.
func Standard() []Gatherer {
	return []Gatherer{
		{Name: "block_devices", Costly: true, Doc: "Disks, partitions and other block devices, by name.", Gather: gatherBlockDevices},
		{Name: "boot", Volatile: []string{"time"}, Doc: "The last start of the machine.", Gather: gatherBoot},
		{Name: "cloud", Doc: "The cloud of the machine, according to its firmware.", Gather: gatherCloud},
		{Name: "cpu", Costly: true, Volatile: []string{"info.*.mhz"}, Doc: "The processors: their number, model, and details of each.", Gather: gatherCPU},
		{Name: "dmi", Doc: "The hardware according to its firmware: manufacturer, product, chassis, BIOS.", Gather: gatherDMI},
		{Name: "domain", Doc: "The DNS domain of the machine; absent without a domain.", Gather: gatherDomain},
		{Name: "fqdn", Doc: "The fully qualified name of the machine.", Gather: gatherFQDN},
		{Name: "host", Volatile: []string{"info.uptime", "info.bootTime", "info.procs"}, Doc: "The machine in Choria CCM's layout: name, platform, kernel, uptime, virtualization.", Gather: gatherHost},
		{Name: "hostname", Doc: "The name of the machine without its domain.", Gather: gatherHostname},
		{Name: "init", Doc: "The running init system, such as systemd.", Gather: gatherInit},
		{Name: "instance", Costly: true, OnlyNamed: true, CacheTime: time.Hour, Doc: "The cloud instance, from the metadata service: id, region, zone, tags.", Gather: gatherInstance},
		{Name: "kernel", Doc: "The running kernel: its name, release, version, machine and command line.", Gather: gatherKernel},
		{Name: "load", Volatile: []string{""}, Doc: "The load averages of the machine.", Gather: gatherLoad},
		{Name: "memory", Volatile: []string{"available", "used", "free", "virtual", "swap.info", "swap.devices.*.usedBytes", "swap.devices.*.freeBytes"}, Doc: "Main memory and swap, in bytes.", Gather: gatherMemory},
		{Name: "modules", OnlyNamed: true, Doc: "The loaded kernel modules, by name.", Gather: gatherModules},
		{Name: "mounts", Costly: true, Doc: "Mounts by mount point: device, type and options.", Gather: gatherMounts},
		{Name: "net", Costly: true, Doc: "Addresses by interface, and those of the default route.", Gather: gatherNet},
		{Name: "network", Costly: true, Doc: "Interfaces and addresses in Choria CCM's layout.", Gather: gatherNetwork},
		{Name: "os", Doc: "The distribution: its name, family, release and codename.", Gather: gatherOS},
		{Name: "package_manager", Doc: "The package manager of the distribution, such as apt or dnf.", Gather: gatherPackageManager},
		{Name: "packages", Costly: true, OnlyNamed: true, Doc: "The version of each installed package, by name.", Gather: gatherPackages},
		{Name: "partition", Costly: true, Volatile: []string{"usage"}, Doc: "Mounted file systems and their usage.", Gather: gatherPartition},
		{Name: "selinux", Doc: "Whether SELinux is enabled, and its mode at boot.", Gather: gatherSELinux},
		{Name: "services", Costly: true, OnlyNamed: true, Doc: "Whether each service runs and starts at boot, by name.", Gather: gatherServices},
		{Name: "ssh", Doc: "The public keys of the SSH server, by algorithm.", Gather: gatherSSH},
		{Name: "swap", Volatile: []string{"free", "devices.*.used"}, Doc: "Swap space in bytes, with its devices and files.", Gather: gatherSwap},
		{Name: "timezone", Doc: "The time zone of the machine.", Gather: gatherTimezone},
		{Name: "uptime", Volatile: []string{""}, Doc: "Seconds since boot.", Gather: gatherUptime},
		{Name: "user", Doc: "The user that ccm runs as.", Gather: gatherUser},
		{Name: "users", OnlyNamed: true, Doc: "The users in /etc/passwd, by name.", Gather: gatherUsers},
		{Name: "virtual", Doc: "The hypervisor and the container that the machine runs in.", Gather: gatherVirtual},
	}
}
