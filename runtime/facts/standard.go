package facts

// Standard returns the gatherers that ship with ccm, in order of name.
// docs/facts.md describes every fact of theirs.
//
// host, network, partition, cpu and memory have the layout that Choria CCM
// gives them, with the names of gopsutil's JSON; cpu and memory hold a few short
// names besides. The other branches are the short ones. Costly are those that
// grow with the machine: with its processors, interfaces and mounts.
func Standard() []Gatherer {
	return []Gatherer{
		{Name: "cpu", Costly: true, Doc: "The processors: how many there are, their model, and each in detail.", Gather: gatherCPU},
		{Name: "domain", Doc: "The DNS domain of the machine; absent if it has none.", Gather: gatherDomain},
		{Name: "fqdn", Doc: "The full name of the machine, its domain included.", Gather: gatherFQDN},
		{Name: "host", Doc: "The machine in Choria CCM's layout: name, platform, kernel, uptime, virtualization.", Gather: gatherHost},
		{Name: "hostname", Doc: "The name of the machine without its domain.", Gather: gatherHostname},
		{Name: "init", Doc: "The init system that is running, such as systemd.", Gather: gatherInit},
		{Name: "kernel", Doc: "The running kernel: its name, release, version and machine.", Gather: gatherKernel},
		{Name: "memory", Doc: "Main memory and swap, in bytes.", Gather: gatherMemory},
		{Name: "mounts", Costly: true, Doc: "What is mounted, by mount point: its device, type and options.", Gather: gatherMounts},
		{Name: "net", Costly: true, Doc: "Addresses by interface, and those of the default route.", Gather: gatherNet},
		{Name: "network", Costly: true, Doc: "Interfaces and addresses in Choria CCM's layout.", Gather: gatherNetwork},
		{Name: "os", Doc: "The distribution: its name, family, release and codename.", Gather: gatherOS},
		{Name: "package_manager", Doc: "The package manager of the distribution, such as apt or dnf.", Gather: gatherPackageManager},
		{Name: "packages", Costly: true, OnlyNamed: true, Doc: "The version of each installed package, by name.", Gather: gatherPackages},
		{Name: "partition", Costly: true, Doc: "Mounted file systems and how full they are.", Gather: gatherPartition},
		{Name: "selinux", Doc: "Whether SELinux is on, and what it is set to at boot.", Gather: gatherSELinux},
		{Name: "services", Costly: true, OnlyNamed: true, Doc: "Whether each service runs and starts at boot, by name.", Gather: gatherServices},
		{Name: "user", Doc: "The user that ccm runs as.", Gather: gatherUser},
		{Name: "users", OnlyNamed: true, Doc: "The users in /etc/passwd, by name.", Gather: gatherUsers},
		{Name: "virtual", Doc: "The hypervisor and the container that the machine runs in.", Gather: gatherVirtual},
	}
}
