---@meta ccm

-- Written by ccm types from the declarations of the types. Changes are lost.

---What a constructor returns: it stands for the resource in require, before,
---notify and subscribe.
---@class (exact) ccm.Handle
---@field type string The type of the resource.
---@field name string Its name.
---@field id string Both, as type#name.
---@field changed boolean Whether it was changed in this run. This and what follows is known only inside of ccm.lazy and ccm.after.
---@field failed boolean Whether it failed.
---@field outcome "stable"|"changed"|"pending"|"unknown"|"skipped"|"failed" What became of it.
---@field stdout string? What the command of an exec said, without the line breaks at its end; nil if it did not run.
---@field stderr string? What it said on the standard error.
---@field exit_code integer? How it ended.
---@field set fun(self: ccm.Handle, properties: table): ccm.Handle Gives the resource other properties than it was declared with.

---The environment of ccm: a string, or nil for what is not set.
---@type table<string, string?>
env = {}

---The arguments of the script; arg[0] is its name.
---@type table<integer, string>
arg = {}

---Returns the fact at a path such as "os.family", or the default if there is none.
---@param path string
---@param default? any
---@return any
function fact(path, default) end

---What the program offers.
---@class ccm.lib.ccm
---@field version string The version of ccm.
---@field noop boolean Whether this run only says what would be done.
ccm = {}

---Prints a warning with the place of the call.
---@param ... any
function ccm.warn(...) end

---Returns its argument. As the value of a property it says that the property may be left
---out: that it is nil is no mistake.
---@generic T
---@param value? T
---@return T?
function ccm.optional(value) end

---Ends the evaluation with an error that pcall does not stop.
---@param message string
function ccm.fail(message) end

---Stands for the value of a property that is known only when earlier resources were
---dealt with: the function is called right before its resource and returns it.
---@param value fun(): any
---@return any
function ccm.lazy(value) end

---Sets properties that every type has for all declarations from here to the end of the file.
---What a declaration or the defaults of its type say wins; tags are added.
---@param properties table
function ccm.defaults(properties) end

---Collects the resources that are declared, as a list of handles. Its set changes these, and
---those that are declared later and match.
---@param filter? ccm.Filter
---@return ccm.Collection
function ccm.resources(filter) end

---@class (exact) ccm.Filter
---@field type? string A type, or a pattern of types.
---@field name? string A name, or a pattern as --target has it.
---@field tags? string|string[] One of these tags.

---@class ccm.Collection
---@field [integer] ccm.Handle
local Collection = {}

---Gives the resources other properties than they were declared with.
---@param properties table
---@return ccm.Collection
function Collection:set(properties) end

---Calls a function in a run, right after a resource was dealt with. It cannot
---declare anything.
---@param handle ccm.Handle
---@param fn fun(handle: ccm.Handle)
function ccm.after(handle, fn) end

---@class (exact) ccm.TypeProperty
---@field type? "string"|"integer"|"number"|"boolean"|"path"|"mode"|"list"|"map"|"table"|"any" Left out, it is string.
---@field name? boolean Whether the property names the resource.
---@field required? boolean
---@field default? any
---@field enum? string[] The only values allowed.
---@field doc? string
---@field example? string
---@field secret? boolean
---@field alias? string|string[]
---@field items? string|ccm.TypeProperty What a list or map holds.
---@field properties? table<string, ccm.TypeProperty> The properties of a table.
---@field set? boolean Whether the order of a list does not matter.
---@field relative? boolean Whether a path may be relative to the script.
---@field kind? "path"|"owner"|"group"|"package"|"service"|"content"|"command"|"url" What the values are, for forms.

---@class (exact) ccm.TypeDefinition
---@field name string
---@field doc string
---@field properties table<string, ccm.TypeProperty>
---@field status? fun(want: table, host: table): table Looks what is there. It may not change anything.
---@field decide? fun(want: table, have: table): any Left out, the properties are compared by name.
---@field perform? fun(action: string, want: table, have: table, host: table) Makes it so.
---@field refresh? fun(want: table, have: table, host: table) Acts on a change elsewhere.
---@field validate? fun(want: table): any, any Returns what is wrong, or a property and what is wrong with it.
---@field edit? fun(want: table, text: string): string, table? Returns the new text of the file at want.path.
---@field phrases? table<string, string> What reports say of each action.
---@field commands? string[] The names of the programs that it runs.

---Defines a type of resource and returns its constructor.
---@param definition ccm.TypeDefinition
---@return fun(resource: table): ccm.Handle
function ccm.type(definition) end

---@class (exact) ccm.Facts.block_devices.NAME
---@field fstype? string what is on it, where udev has looked
---@field label? string what is on it, where udev has looked
---@field mapper? string its name below /dev/mapper
---@field model? string which one it is
---@field parent? string the disk of a partition
---@field readonly boolean whether it is that
---@field removable boolean whether it is that
---@field rotational boolean whether it is that
---@field serial? string which one it is
---@field size integer bytes
---@field type string as lsblk calls it: disk, part, lvm, crypt, raid1, mpath, loop, rom, ...
---@field uuid? string what is on it, where udev has looked
---@field vendor? string which one it is

---@class (exact) ccm.Facts.block_devices
---@field [string] ccm.Facts.block_devices.NAME

---@class (exact) ccm.Facts.boot
---@field id? string another one after each start
---@field time? integer when that was, in seconds since 1970. It moves when the clock is set

---@class (exact) ccm.Facts.cloud
---@field provider string the cloud, as cloud-init calls it: aws, azure, gce, digitalocean, hetzner, openstack, oracle, vultr, ... or none. The firmware says it; nothing is sent

---@class (exact) ccm.Facts.cpu.info
---@field cacheSize integer its cache in KiB
---@field coreId string the socket and the core it belongs to
---@field cores integer cores that it stands for
---@field cpu integer its number
---@field family string which one it is
---@field flags string[] what it can do
---@field mhz number its highest clock, else the present one
---@field microcode string which one it is
---@field model string which one it is
---@field modelName string its name
---@field physicalId string the socket and the core it belongs to
---@field stepping integer its revision
---@field vendorId string who made it

---@class (exact) ccm.Facts.cpu
---@field count? integer processors, each thread of a core counted
---@field info ccm.Facts.cpu.info[]
---@field model? string the name of the first one

---@class (exact) ccm.Facts.dmi.bios
---@field release_date? string its firmware
---@field vendor? string its firmware
---@field version? string its firmware

---@class (exact) ccm.Facts.dmi.board
---@field asset_tag? string its board
---@field manufacturer? string its board
---@field product? string its board
---@field serial_number? string which one; only for root

---@class (exact) ccm.Facts.dmi.chassis
---@field asset_tag? string its chassis
---@field manufacturer? string its chassis
---@field serial_number? string which one; only for root
---@field type? string its form in the words of the specification

---@class (exact) ccm.Facts.dmi.product
---@field family? string what it is
---@field name? string what it is
---@field serial_number? string which one it is; only for root
---@field uuid? string which one it is; only for root
---@field version? string what it is

---@class (exact) ccm.Facts.dmi
---@field bios ccm.Facts.dmi.bios
---@field board ccm.Facts.dmi.board
---@field chassis ccm.Facts.dmi.chassis
---@field manufacturer? string who made it
---@field product ccm.Facts.dmi.product

---@class (exact) ccm.Facts.host.info
---@field bootTime? integer when that was, in seconds since 1970
---@field hostId string the UUID of the machine. Root reads the firmware's; others get that of /etc/machine-id
---@field hostname string the name as it is set, with or without domain
---@field kernelArch string the same as kernel.machine
---@field kernelVersion string the same as os.kernel
---@field os string the operating system: linux, darwin or freebsd
---@field platform string the distribution
---@field platformFamily string the same as os.family
---@field platformVersion string its version, with the minor one
---@field procs? integer processes
---@field uptime? integer seconds since it was started
---@field virtualizationRole string guest, host or empty
---@field virtualizationSystem string the container or else the hypervisor, or empty

---@class (exact) ccm.Facts.host
---@field info ccm.Facts.host.info

---@class (exact) ccm.Facts.instance.tags
---@field [string] string the value of a tag

---@class (exact) ccm.Facts.instance
---@field id? string which instance it is, and where
---@field provider string the same as cloud.provider
---@field region? string which instance it is, and where
---@field tags ccm.Facts.instance.tags its tags, labels or metadata; of tags without a value the value is empty
---@field type? string which instance it is, and where
---@field zone? string which instance it is, and where

---@class (exact) ccm.Facts.kernel.parameters
---@field [string] string the value; empty for one without. Of a name given twice it is the last

---@class (exact) ccm.Facts.kernel
---@field cmdline? string the command line that it was started with
---@field machine string the processor as the kernel writes it
---@field name string the name of the kernel
---@field parameters? ccm.Facts.kernel.parameters the parameters on that command line, by name
---@field release string the same as os.kernel
---@field version? string how it was built

---@class (exact) ccm.Facts.load
---@field ["15m"] number how many processes ran or waited, on average of these minutes. In Lua: facts.load["1m"]
---@field ["1m"] number how many processes ran or waited, on average of these minutes. In Lua: facts.load["1m"]
---@field ["5m"] number how many processes ran or waited, on average of these minutes. In Lua: facts.load["1m"]

---@class (exact) ccm.Facts.memory.swap.devices
---@field freeBytes integer how full it is
---@field name string the device
---@field usedBytes integer how full it is

---@class (exact) ccm.Facts.memory.swap.info
---@field free? integer swap space
---@field pgFault? integer what went in and out since the start, in bytes
---@field pgIn? integer what went in and out since the start, in bytes
---@field pgMajFault? integer what went in and out since the start, in bytes
---@field pgOut? integer what went in and out since the start, in bytes
---@field sin? integer what went in and out since the start, in bytes
---@field sout? integer what went in and out since the start, in bytes
---@field total? integer swap space
---@field used? integer swap space
---@field usedPercent? number used of total

---@class (exact) ccm.Facts.memory.swap
---@field devices? ccm.Facts.memory.swap.devices[] the devices and files that hold it
---@field info ccm.Facts.memory.swap.info

---@class (exact) ccm.Facts.memory.virtual
---@field active integer what it is used for
---@field anonHugePages integer huge pages
---@field available integer the same as memory.available
---@field buffers integer what it is used for
---@field cached integer what it is used for
---@field commitLimit integer what may be promised and what is
---@field committedAS integer what may be promised and what is
---@field dirty integer what it is used for
---@field free integer the same as memory.free
---@field highFree integer what only other machines have
---@field highTotal integer what only other machines have
---@field hugePageSize integer huge pages
---@field hugePagesFree integer huge pages
---@field hugePagesRsvd integer huge pages
---@field hugePagesSurp integer huge pages
---@field hugePagesTotal integer huge pages
---@field inactive integer what it is used for
---@field laundry integer what only other machines have
---@field lowFree integer what only other machines have
---@field lowTotal integer what only other machines have
---@field mapped integer what it is used for
---@field pageTables integer what the kernel uses
---@field shared integer what it is used for
---@field slab integer what the kernel uses
---@field sreclaimable integer what the kernel uses
---@field sunreclaim integer what the kernel uses
---@field swapCached integer swap space
---@field swapFree integer swap space
---@field swapTotal integer swap space
---@field total integer the same as memory.total
---@field used integer the same as memory.used
---@field usedPercent number used of total
---@field vmallocChunk integer what the kernel uses
---@field vmallocTotal integer what the kernel uses
---@field vmallocUsed integer what the kernel uses
---@field wired integer what only other machines have
---@field writeBack integer what it is used for
---@field writeBackTmp integer what it is used for

---@class (exact) ccm.Facts.memory
---@field available? integer what programs can still get
---@field free? integer what is used for nothing at all
---@field limit? integer the memory limit of the container, or else of the control groups of process 1; absent if there is none
---@field swap ccm.Facts.memory.swap
---@field total? integer main memory
---@field used? integer total less available
---@field virtual ccm.Facts.memory.virtual

---@class (exact) ccm.Facts.modules.NAME
---@field size integer bytes
---@field used_by string[] the modules that need it

---@class (exact) ccm.Facts.modules
---@field [string] ccm.Facts.modules.NAME

---@class (exact) ccm.Facts.mounts.NAME
---@field device string the device, or what stands for it
---@field options string[] its options
---@field type string the file system

---@class (exact) ccm.Facts.mounts
---@field [string] ccm.Facts.mounts.NAME

---@class (exact) ccm.Facts.net.interfaces.NAME
---@field addresses string[] all its addresses with the length of their networks
---@field ip? string its first IPv4 address that others can reach
---@field ip6? string its first IPv6 address that others can reach
---@field mac? string its hardware address
---@field mtu integer the largest packet
---@field up boolean whether it is up

---@class (exact) ccm.Facts.net.interfaces
---@field [string] ccm.Facts.net.interfaces.NAME

---@class (exact) ccm.Facts.net
---@field gateway? string the router of the IPv4 default route
---@field gateway6? string the router of the IPv6 default route
---@field interface? string the interface of the default route, of IPv4 if there is one
---@field interfaces ccm.Facts.net.interfaces all interfaces by name
---@field ip? string the first IPv4 address of the default route's interface; without such a route, of the first interface that has one
---@field ip6? string the same for IPv6
---@field mac? string the hardware address of that interface

---@class (exact) ccm.Facts.network.addresses
---@field address string the address
---@field default boolean whether its interface has the default route
---@field interface string where it is
---@field ipv4 boolean whether it is IPv4

---@class (exact) ccm.Facts.network.interfaces.addrs
---@field addr string one, with the length of its network

---@class (exact) ccm.Facts.network.interfaces
---@field addrs ccm.Facts.network.interfaces.addrs[] its addresses
---@field flags string[] its state
---@field hardwareAddr string its name and hardware address
---@field index integer its number, the largest packet
---@field mtu integer its number, the largest packet
---@field name string its name and hardware address

---@class (exact) ccm.Facts.network
---@field addresses ccm.Facts.network.addresses[] the addresses that others can reach
---@field default_ipv4 string the address on the default route, or empty
---@field default_ipv6 string the address on the default route, or empty
---@field interfaces ccm.Facts.network.interfaces[] all interfaces, in order of their index

---@class (exact) ccm.Facts.os
---@field arch string the processor as Go and Debian write it: amd64, arm64, arm, 386, riscv64, ...
---@field codename? string the name of the version
---@field family? string what it descends from: debian, rhel, fedora, suse, arch, alpine, gentoo, ...; its own os.id if that is not known
---@field id? string its short name
---@field id_like? string[] the distributions that it says it is like
---@field kernel string the release of the running kernel
---@field name? string what the distribution calls itself
---@field pretty_name? string all of that for people
---@field release? string its version; rolling distributions have none
---@field release_major? integer the first number of that version, for comparisons
---@field release_minor? integer the second number; 4 for 22.04

---@class (exact) ccm.Facts.packages
---@field [string] string the version, as dpkg or rpm writes it: with epoch and release. Other package managers are not asked, and then there is no such fact

---@class (exact) ccm.Facts.partition.partitions
---@field device string what is mounted where
---@field fstype string what is mounted where
---@field mountpoint string what is mounted where
---@field opts string[] how

---@class (exact) ccm.Facts.partition.usage
---@field free integer bytes
---@field fstype string which one
---@field inodesFree integer inodes
---@field inodesTotal integer inodes
---@field inodesUsed integer inodes
---@field inodesUsedPercent number how full in percent
---@field path string which one
---@field total integer bytes
---@field used integer bytes
---@field usedPercent number how full in percent

---@class (exact) ccm.Facts.partition
---@field partitions ccm.Facts.partition.partitions[] the file systems on devices that are mounted
---@field usage ccm.Facts.partition.usage[] how full they are; one that is out of reach is left out

---@class (exact) ccm.Facts.selinux
---@field config_mode? string the mode at boot, from /etc/selinux/config
---@field config_policy? string the policy, from the same file
---@field enabled boolean whether it is on
---@field mode string the present mode: enforcing, permissive or disabled. Of a machine without SELinux too it is disabled

---@class (exact) ccm.Facts.services.NAME
---@field active? string what systemd calls the first, for what is in its memory
---@field enabled boolean whether it starts at boot by itself
---@field running boolean whether it runs
---@field startup? string what systemd calls the second

---@class (exact) ccm.Facts.services
---@field [string] ccm.Facts.services.NAME

---@class (exact) ccm.Facts.ssh.NAME
---@field fingerprint string its fingerprint as ssh-keygen -l prints it
---@field key string the key, as in known_hosts
---@field type string the key, as in known_hosts

---@class (exact) ccm.Facts.ssh
---@field [string] ccm.Facts.ssh.NAME

---@class (exact) ccm.Facts.swap.devices
---@field device string which one
---@field priority integer the greater, the earlier it is used
---@field size integer bytes
---@field type string partition or file
---@field used integer bytes

---@class (exact) ccm.Facts.swap
---@field devices ccm.Facts.swap.devices[] the devices and files that hold it
---@field free? integer what of it is not in use
---@field total? integer swap space

---@class (exact) ccm.Facts.timezone
---@field abbreviation? string its abbreviation now
---@field name? string the name in the database of time zones; absent if /etc/localtime is a copy and nothing names it
---@field offset? integer how many seconds it is ahead of UTC now

---@class (exact) ccm.Facts.user
---@field gid integer the number of its group
---@field group string its group; the number if it has no name
---@field home? string its home directory
---@field name string the user that ccm runs as; the number if it has no name
---@field uid integer its number

---@class (exact) ccm.Facts.users.NAME
---@field comment string the full name, or what the user is for
---@field gid integer the number of the group
---@field home string the home directory
---@field shell string what is run at login; may be empty
---@field uid integer the number

---@class (exact) ccm.Facts.users
---@field [string] ccm.Facts.users.NAME

---@class (exact) ccm.Facts.virtual
---@field container string docker, podman, lxc, kubernetes, wsl, systemd-nspawn, ... or none
---@field role string guest, host (of guests of that system) or none
---@field system string the hypervisor: kvm, xen, vmware, vbox, hyperv, bhyve, parallels, apple, or none

---What is so about the machine. A branch is gathered when it is first asked for.
---@class (exact) ccm.Facts
---@field block_devices? ccm.Facts.block_devices the block devices by the name of the kernel; those without a size are left out
---@field boot ccm.Facts.boot
---@field cloud ccm.Facts.cloud
---@field cpu ccm.Facts.cpu
---@field dmi? ccm.Facts.dmi the hardware as its firmware describes it (SMBIOS). Of a machine with a device tree: product.name and, if it has one, product.serial_number
---@field domain? string the domain
---@field fqdn string with its domain, if it has one. It is taken from the name itself, /etc/hosts or /etc/resolv.conf; no server is asked
---@field host ccm.Facts.host
---@field hostname string the name of the machine without its domain
---@field init? string the init system, by process 1: systemd, openrc, runit, s6, or else its name
---@field instance? ccm.Facts.instance what the metadata service of the cloud says
---@field kernel ccm.Facts.kernel
---@field load ccm.Facts.load
---@field memory ccm.Facts.memory
---@field modules? ccm.Facts.modules the loaded modules of the kernel; what is built in is not there
---@field mounts ccm.Facts.mounts what is mounted, by mount point; of several at one place, the last
---@field net ccm.Facts.net
---@field network ccm.Facts.network
---@field os ccm.Facts.os
---@field package_manager? string the package manager: apt, dnf, yum, microdnf, zypper, pacman, apk, emerge or xbps. Of several that are installed it is that of os.family
---@field packages? ccm.Facts.packages the installed packages
---@field partition ccm.Facts.partition
---@field selinux ccm.Facts.selinux
---@field services? ccm.Facts.services the services of systemd or OpenRC. Other init systems have no list, and then there is no such fact
---@field ssh? ccm.Facts.ssh the public keys of the SSH server in /etc/ssh, by algorithm: ed25519, rsa, ecdsa
---@field swap ccm.Facts.swap
---@field timezone ccm.Facts.timezone
---@field uptime? integer seconds since the machine was started
---@field user ccm.Facts.user
---@field users? ccm.Facts.users the users in /etc/passwd
---@field virtual ccm.Facts.virtual

---@type ccm.Facts
facts = nil

---A HealthCheck is a command in the conventions of Nagios plugins: exit status 0
---is ok, 1 a warning, 2 critical. Any other, a command that is missing and one that
---takes too long are unknown. What is critical or unknown fails the resource. In place of a
---command it may have rules of goss: one that does not hold is critical.
---@class (exact) ccm.HealthCheck
---@field command? string command is split into words as a shell would and run without one. Its exit status 0 is ok, 1 a warning, 2 critical, and anything else unknown, also if there is no such command.
---@field goss_rules? table<string, any> goss_rules are what the program goss checks, which has to be in the PATH: what a file of goss holds. It is critical if one does not hold, and unknown if goss does not say.
---@field format? "nagios"|"goss" format is how the check says how it is. Left out, it is nagios for a command and goss for rules.
---@field name? string name is how reports speak of the check. Left out, it is the command, or goss.
---@field tries? integer tries is how often the check is run until it says ok. Default: 1.
---@field try_sleep? string try_sleep is the time between two tries, such as "1s". Default: 1s.
---@field timeout? string timeout ends a try, such as "10s". Default: 10s.
---@field warn_fails? boolean warn_fails has a warning fail the resource. Left out, it is only reported.

---A Registration is an entry of the service registry: where a service is offered.
---@class (exact) ccm.Registration
---@field cluster string cluster is the group of machines that the service belongs to, such as production.
---@field service string service is what is offered, such as web.
---@field protocol string protocol is how it is spoken to, such as http.
---@field address string address is where: an IP address or the name of a host.
---@field port? integer port is from 1 to 65535. Left out, the entry has none.
---@field priority? integer priority is from 1 to 255. The lower, the better. Default: 100.
---@field ttl? string ttl is how long the entry holds after a run, such as "10m", or "never". Left out, it holds as long as the registry keeps entries.
---@field annotations? table<string, string> annotations are further texts for clients that find the entry.

---Common is the properties that every type has.
---@class (exact) ccm.Common
---@field alias? string alias is a second name by which other resources can speak of this one.
---@field provider? string provider forces one provider instead of the one that suits best.
---@field require? string|ccm.Handle|(string|ccm.Handle)[] require names resources that must be in order before this one is looked at.
---@field before? string|ccm.Handle|(string|ccm.Handle)[] before names resources that are looked at only after this one is in order.
---@field notify? string|ccm.Handle|(string|ccm.Handle)[] notify is before, and refreshes the named resources when this one changes. Those that cannot be refreshed are only ordered.
---@field subscribe? string|ccm.Handle|(string|ccm.Handle)[] subscribe is require, and refreshes this resource when one of them changes. A resource that cannot be refreshed is only ordered.
---@field tags? string|string[] tags are words by which --tags and --skip-tags select the resource. Those of the defaults are added to them.
---@field health_checks? ccm.HealthCheck[] health_checks are commands or rules of goss that are checked after the resource is in order. Commands exit as plugins of Nagios do: 0 is ok, 1 a warning, which is reported, 2 critical, anything else unknown. One that is critical or unknown fails the resource.
---@field register_when_stable? ccm.Registration[] register_when_stable are services that are told to the registry in each run in which the resource is in order and its health checks are ok. A registry that does not answer fails nothing.
---@field timeout? string timeout ends the commands and downloads of the resource when they have taken that long together, such as "5m", and fails it. 0 means never.
---@field tries? integer tries is how often looking at the resource, and each of its actions, is tried before it has failed.
---@field try_sleep? string try_sleep is how long to wait before another try, such as "10s". Left out, it is 1s.
---@field ignore_failure? boolean ignore_failure lets the run succeed if the resource fails, and what requires it go on. The failure is reported.
---@field with_data? boolean with_data says whether ensure absent and ccm prune also remove the data that no run has created in a directory, a home or a clone. Left out, the data and what contains it stay. --with-data says so for all resources.
---@field backup? boolean backup says whether what is overwritten or removed is kept in the state directory, so that ccm restore can bring it back. Left out, it is.

---The properties of an apply.
---@class (exact) ccm.Apply.Props: ccm.Common
---@field ensure? "present" ensure is always present. Default: present.
---@field noop? boolean noop only says what the child would do. A child cannot undo what its parent asks for.
---@field health_check_only? boolean health_check_only only runs the health checks of the child. A child cannot undo what its parent asks for.
---@field allow_apply? boolean allow_apply says whether the child may apply others. Default: true.
---@field data? table<string, any> data is laid over the data of the child.

---The properties of an apply and its name, or several names.
---@class (exact) ccm.Apply.Table: ccm.Apply.Props
---@field [integer] string
---@field name? string name is the path of the manifest or script. A relative path is relative to the script or manifest that says it.

---The handle of an apply, whose properties may follow in a second call.
---@class ccm.Apply.Handle: ccm.Handle
---@overload fun(properties: ccm.Apply.Props): ccm.Handle

---Apply applies another manifest or script. What that declares is managed
---before this resource, in the same run; this resource has changed if any of it
---has, and has failed if any of it has.
---
---```lua
---apply { "web/manifest.yaml", ... }
---apply "web/manifest.yaml" { ... }
---apply("web/manifest.yaml", { ... })
---```
---@class ccm.Apply.Constructor
---@overload fun(resource: ccm.Apply.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Apply.Handle
---@overload fun(name: string|string[], properties: ccm.Apply.Props): ccm.Handle
---@field defaults fun(properties: ccm.Apply.Props) Sets what the following declarations in this file may leave out.
apply = {}

---The properties of an archive.
---@class (exact) ccm.Archive.Props: ccm.Common
---@field ensure? "present"|"absent" ensure says whether the archive is to be there. With absent, what it was extracted to stays; file with ensure absent removes it, but for data that no run has created. Default: present.
---@field url? string url is where the archive is downloaded from, with http or https. A proxy is taken from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). It or source is required unless ensure is absent.
---@field source? string source is the path of an archive to copy. A relative path is relative to the script or manifest that says it. An archive that differs from it is copied again.
---@field checksum? string checksum is the SHA-256 of the archive in hexadecimal. A download or source with any other is refused, and an archive with any other is downloaded or copied again.
---@field extract_parent? string extract_parent is the directory that the archive is extracted into. Existing files are replaced. An entry that would land outside it, by its path or by way of a link, is an error and nothing is extracted; so is a link that leads out of it, and a device. Permissions are kept but for setuid, setgid and sticky; the files belong to the user that runs ccm.
---@field strip? integer strip is how many components are left out at the beginning of the path of each entry, as with tar --strip-components. An entry with no more components is not extracted.
---@field creates? string creates is a path; if something is there, the archive is neither downloaded nor extracted, unless on_url_change says so. If it is in the archive, it is extracted last.
---@field on_url_change? "ignore"|"extract" on_url_change says what happens if what creates names is there, and another archive was extracted than the checksum, or without one the url or source, says: ignore warns in each plan and run, and extract downloads or copies the archive again and extracts it. The user and the query of a url do not count, since they may change with each run. Default: ignore.
---@field cleanup? boolean cleanup removes the archive after it was extracted. It needs extract_parent and creates.
---@field owner? string owner is the user that owns the archive, by name or number. It is required unless ensure is absent.
---@field group? string group is the group of the archive, by name or number. The group can read it, others cannot. It is required unless ensure is absent.
---@field parents? boolean parents makes the directories above the archive that are missing, with mode 0755 and the user and group that ccm runs as. Those above extract_parent are always made.
---@field username? string username is for basic authentication. Like the password and the headers, it is not sent to another server if the URL is redirected to one.
---@field password? string password is for basic authentication.
---@field headers? table<string, string> headers are sent with the request.
---@field stall_timeout? string stall_timeout ends a download when nothing, or less than 100 bytes a second, comes for that long. How long a download takes is not limited otherwise; the timeout of the resource does that. Default: 1m.
---@field max_download? string max_download is how large the archive itself may be. Besides, a download leaves a twentieth of the disk free. Default: 10GiB.
---@field max_entries? integer max_entries is how many files, directories and links the archive may hold. Default: 200000.
---@field max_size? string max_size is how large the extracted files may be together. Default: 10GiB.

---The properties of an archive and its name, or several names.
---@class (exact) ccm.Archive.Table: ccm.Archive.Props
---@field [integer] string
---@field name? string name is the absolute path that the archive is saved to. It has the same suffix as the URL or the source; .tgz and .tar.gz are the same.

---The handle of an archive, whose properties may follow in a second call.
---@class ccm.Archive.Handle: ccm.Handle
---@overload fun(properties: ccm.Archive.Props): ccm.Handle

---Archive downloads or copies an archive, and extracts it if extract_parent is set: after
---each download or copy, and when what creates names is missing. Archives are .tar.gz, .tgz,
---.tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar and .zip. A single compressed file (.gz,
---.xz, .zst, .bz2) gets the name of the archive without the suffix. Extracting needs no tools such as tar or unzip.
---
---```lua
---archive { "/opt/app.tar.gz", ... }
---archive "/opt/app.tar.gz" { ... }
---archive("/opt/app.tar.gz", { ... })
---```
---@class ccm.Archive.Constructor
---@overload fun(resource: ccm.Archive.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Archive.Handle
---@overload fun(name: string|string[], properties: ccm.Archive.Props): ccm.Handle
---@field defaults fun(properties: ccm.Archive.Props) Sets what the following declarations in this file may leave out.
archive = {}

---The properties of an exec.
---@class (exact) ccm.Exec.Props: ccm.Common
---@field ensure? "present" ensure is always present; a manifest may say so. Default: present.
---@field command? string|string[] command is the command to run, if it is not the name: a line, or a list of words. The posix provider splits a line into words as a shell would, and runs it without one, so that words such as | and && are mistakes; the shell provider hands it to /bin/sh -c.
---@field cwd? string cwd is the directory in which the command and its guards run. Default: /.
---@field environment? string|string[]|table<string, string> environment is added to the environment: KEY=VALUE, or a table.
---@field user? string user is who the command and its guards run as, a name or number, with the groups, HOME, USER, LOGNAME and SHELL of that user. Left out, it is who runs ccm.
---@field group? string group is the primary group that the command and its guards run with, a name or number. Left out, it is that of the user.
---@field umask? string umask is the file mode creation mask of the command and its guards, such as "027": files that they make do not get these permissions.
---@field stdin? string stdin is what the command reads from its standard input. Left out, that is empty. Guards read nothing.
---@field path? string path is the colon-separated list of directories in which the command and its guards are found.
---@field returns? integer|integer[] returns lists the exit codes that mean success. Default: 0.
---@field timeout? string timeout ends the command and the processes that it started when it has run for that long, such as "5m". A process that began a session of its own (setsid), as daemons do, goes on. 0 is no limit. Default: 0.
---@field creates? string creates is a path; if something is there, the command does not run.
---@field removes? string removes is a path; if nothing is there, the command does not run.
---@field onlyif? string|string[] onlyif is a command that looks; unless it exits 0, the command does not run. It runs in a plan too.
---@field unless? string|string[] unless is a command that looks; if it exits 0, the command does not run. It runs in a plan too.
---@field check? string|string[] check is a command that looks; if it exits 0, the command does not run. Otherwise the command runs, and then check again: unless that exits 0, the resource has failed. Check runs in a plan too.
---@field changed_if? string changed_if is a regular expression (RE2). The command counts as a change only if a line of its output matches.
---@field unchanged_returns? integer|integer[] unchanged_returns lists the exit codes that mean success without a change.
---@field refreshonly? boolean refreshonly runs the command only when something it subscribes to changed.
---@field refresh_only? boolean The same as refreshonly.
---@field logoutput? boolean logoutput logs each line of output as it comes.
---@field log_output? boolean The same as logoutput.

---The properties of an exec and its name, or several names.
---@class (exact) ccm.Exec.Table: ccm.Exec.Props
---@field [integer] string
---@field name? string name is the command, or with command any name for it.

---The handle of an exec, whose properties may follow in a second call.
---@class ccm.Exec.Handle: ccm.Handle
---@overload fun(properties: ccm.Exec.Props): ccm.Handle

---Exec runs a command, unless creates, a guard or refreshonly says that there is
---nothing to do. A change of something it subscribes to overrides all of these.
---
---```lua
---exec { "/usr/bin/true", ... }
---exec "/usr/bin/true" { ... }
---exec("/usr/bin/true", { ... })
---```
---@class ccm.Exec.Constructor
---@overload fun(resource: ccm.Exec.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Exec.Handle
---@overload fun(name: string|string[], properties: ccm.Exec.Props): ccm.Handle
---@field defaults fun(properties: ccm.Exec.Props) Sets what the following declarations in this file may leave out.
exec = {}

---The properties of a file.
---@class (exact) ccm.File.Props: ccm.Common
---@field ensure? "present"|"absent"|"directory"|"existing" ensure says whether there is to be a file, a directory, or nothing. With existing, there has to be a file or a directory already, and nothing but its owner, group and mode is managed; without one the resource fails. Default: present.
---@field content? string content is the whole text of the file. With neither content nor source, the content of an existing file is left alone, and a missing one is created empty.
---@field contents? string The same as content.
---@field source? string source is the path of a file to copy, or an http or https URL. A relative path is relative to the script or manifest that says it. A URL is fetched once in every run and plan; it may have at most 64 MiB.
---@field decrypt? boolean decrypt says whether the source is decrypted, with an age identity of this machine. Its content is a secret then. Left out, a source is decrypted if its name ends with .age.
---@field checksum? string checksum is the SHA-256 of the source in hexadecimal. A source with any other is refused, and the file stays as it is. A URL is not fetched while the file has it.
---@field content_once? boolean content_once writes the content only when the file is missing. After that only owner, group and mode are managed.
---@field owner? string owner is the user that owns the file, by name or number; "-1" leaves it as it is. It is required unless ensure is absent or existing.
---@field group? string group is the group of the file, by name or number; "-1" leaves it as it is. It is required unless ensure is absent or existing.
---@field mode? string mode is the permissions in octal, as a string such as "0644". Digits that are x are left alone. It is required unless ensure is absent or existing.
---@field special_bits? boolean special_bits allows a mode above 0777 such as "2775", which sets setuid (4), setgid (2) or sticky (1).
---@field links? "refuse"|"follow"|"replace" links says what becomes of a symbolic link in the place of the file or directory: refuse fails, follow manages what the link leads to, and replace puts the file in the place of the link. A link of another user is followed only to files of that user. Default: refuse.
---@field hardlinks? "replace"|"keep" hardlinks says what becomes of the other names of a file with several hard links, when its content changes. With replace they keep the old content; with keep the file is written in place, so that all names have the new one. Default: replace.
---@field validate? string|string[] validate is a command that looks at the new content before it gets its place, such as "sshd -t -f %s". %s stands for a file that holds it, in the same directory and with the same owner and mode. A line is split into words as a shell would, a list is the words; it is run without a shell. Unless it exits 0, the file stays as it is. In a plan it is given a copy in a directory of its own.
---@field validate_after? string|string[] validate_after is a command that looks at the machine after the file has its place, such as "nginx -t", as a line or a list of words. Unless it exits 0, the file is restored, and nothing is refreshed. With ensure absent it runs after the file was removed. It does not run in a plan.
---@field parents? boolean parents makes the directories above it that are missing, with mode 0755 and the user and group that ccm runs as. Without it they have to be there. For a directory they are always made.
---@field force? boolean force removes a directory with all that is in it, as with_data does. It goes with ensure absent.

---The properties of a file and its name, or several names.
---@class (exact) ccm.File.Table: ccm.File.Props
---@field [integer] string
---@field name? string name is the absolute path, without . and .. in it.
---@field path? string The same as name.

---The handle of a file, whose properties may follow in a second call.
---@class ccm.File.Handle: ccm.Handle
---@overload fun(properties: ccm.File.Props): ccm.Handle

---File manages one file or directory: whether it exists, its content, its
---owner, its group and its permissions.
---
---```lua
---file { "/etc/motd", ... }
---file "/etc/motd" { ... }
---file("/etc/motd", { ... })
---```
---@class ccm.File.Constructor
---@overload fun(resource: ccm.File.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.File.Handle
---@overload fun(name: string|string[], properties: ccm.File.Props): ccm.Handle
---@field defaults fun(properties: ccm.File.Props) Sets what the following declarations in this file may leave out.
file = {}

---The properties of a package.
---@class (exact) ccm.Package.Props: ccm.Common
---@field ensure? "present"|"absent"|"purged"|"latest"|string ensure is "present" (in any version), "absent", "purged" (absent, and without its configuration), "latest" (the newest that the repositories offer), the version to install, or conditions that a version has to meet, such as ">= 1.2, < 2". A version is written as the package system writes it: "1.2.11-1" or "1:2.0-3" with an epoch. The dnf and zypper providers take a version without its release, and any release of it is right; there the epoch may be left out too. So may the release with pacman. Default: present.
---@field options? string|string[] options are further words for the command that installs or removes the package, such as "--no-install-recommends".
---@field refresh? string refresh is how old the package index may be, such as "1d". An older one is read again before the package is installed or upgraded. Left out, it is read again only where it does not have the package and is older than a day.
---@field hold? boolean hold says whether the package system is to leave the package alone from now on (apt-mark hold, dnf versionlock, zypper addlock). Left out, a hold stays as it is, and a package on hold is not changed. Pacman and apk have no command for that.
---@field allow_downgrade? boolean allow_downgrade says whether a newer version may be replaced by an older one. Left out, it may.
---@field source? string source is a package file to install instead of what the repositories offer: a path, or an http or https URL. A relative path is relative to the script or manifest that says it. It may have at most 512 MiB.
---@field checksum? string checksum is the SHA-256 of the source in hexadecimal. It is required where the source is a URL.

---The properties of a package and its name, or several names.
---@class (exact) ccm.Package.Table: ccm.Package.Props
---@field [integer] string
---@field name? string name is the name of the package as the package system knows it, such as "zsh", or "libc6:i386" where it has several architectures.

---The handle of a package, whose properties may follow in a second call.
---@class ccm.Package.Handle: ccm.Handle
---@overload fun(properties: ccm.Package.Props): ccm.Handle

---Package manages one package of the operating system: whether it is installed,
---and in which version. The providers apk, pkg and brew were made from recorded
---outputs, and were not run on the real system.
---
---```lua
---package { "zsh", ... }
---package "zsh" { ... }
---package("zsh", { ... })
---```
---@class packagelib
---@overload fun(resource: ccm.Package.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Package.Handle
---@overload fun(name: string|string[], properties: ccm.Package.Props): ccm.Handle
---@field defaults fun(properties: ccm.Package.Props) Sets what the following declarations in this file may leave out.
package = {}

---The properties of a scaffold.
---@class (exact) ccm.Scaffold.Props: ccm.Common
---@field ensure? "present"|"absent" ensure says whether the rendered files are to be there. With absent only they are removed, and the directories that are empty then. Default: present.
---@field source string source is the directory of the templates. A relative path is relative to the script or manifest that says it. It is needed with ensure absent too, because it says which files are meant.
---@field engine? "jet"|"go" engine is the language of the templates: jet, in [[ ]], or go, in {{ }} and with the functions of Sprig. Default: jet.
---@field skip_empty? boolean skip_empty leaves out files of which nothing but white space was rendered.
---@field left_delimiter? string left_delimiter begins code in the templates, instead of the delimiter of the engine. It goes with right_delimiter.
---@field right_delimiter? string right_delimiter ends code in the templates, instead of the delimiter of the engine. It goes with left_delimiter.
---@field parents? boolean parents makes the directories above the target that are missing, with mode 0755 and the user and group that ccm runs as. Default: true.
---@field purge? boolean purge removes the files in the target that were not rendered.
---@field post? table<string, string>[] post lists commands for rendered files, each under a glob pattern for the name of the file without its directory, such as {["*.sh"] = "chmod +x {}"}. {} stands for the path; without it the path comes last. The command is given a copy of the file, before the file gets its place. It runs in a plan too, so it must change nothing but its file. Several patterns in one table apply in alphabetical order.

---The properties of a scaffold and its name, or several names.
---@class (exact) ccm.Scaffold.Table: ccm.Scaffold.Props
---@field [integer] string
---@field name? string name is the absolute path of the target directory, without . and .. in it.

---What declarations of a scaffold may leave out.
---@class (exact) ccm.Scaffold.Defaults: ccm.Common
---@field ensure? "present"|"absent" ensure says whether the rendered files are to be there. With absent only they are removed, and the directories that are empty then. Default: present.
---@field source? string source is the directory of the templates. A relative path is relative to the script or manifest that says it. It is needed with ensure absent too, because it says which files are meant.
---@field engine? "jet"|"go" engine is the language of the templates: jet, in [[ ]], or go, in {{ }} and with the functions of Sprig. Default: jet.
---@field skip_empty? boolean skip_empty leaves out files of which nothing but white space was rendered.
---@field left_delimiter? string left_delimiter begins code in the templates, instead of the delimiter of the engine. It goes with right_delimiter.
---@field right_delimiter? string right_delimiter ends code in the templates, instead of the delimiter of the engine. It goes with left_delimiter.
---@field parents? boolean parents makes the directories above the target that are missing, with mode 0755 and the user and group that ccm runs as. Default: true.
---@field purge? boolean purge removes the files in the target that were not rendered.
---@field post? table<string, string>[] post lists commands for rendered files, each under a glob pattern for the name of the file without its directory, such as {["*.sh"] = "chmod +x {}"}. {} stands for the path; without it the path comes last. The command is given a copy of the file, before the file gets its place. It runs in a plan too, so it must change nothing but its file. Several patterns in one table apply in alphabetical order.

---The handle of a scaffold, whose properties may follow in a second call.
---@class ccm.Scaffold.Handle: ccm.Handle
---@overload fun(properties: ccm.Scaffold.Props): ccm.Handle

---Scaffold renders a directory of templates into a target directory, file by
---file. Templates see facts and data, also as Facts and Data, and the functions
---lookup, render and write. Files in directories named _partials are for render
---only. A file that exists keeps its owner, group and mode. A new one belongs to the user that ccm
---runs as and has the mode of its template, without the permission to write for group and others;
---new directories have 0755. What post sets of a file counts in both cases.
---
---```lua
---scaffold { "/etc/app", ... }
---scaffold "/etc/app" { ... }
---scaffold("/etc/app", { ... })
---```
---@class ccm.Scaffold.Constructor
---@overload fun(resource: ccm.Scaffold.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Scaffold.Handle
---@overload fun(name: string|string[], properties: ccm.Scaffold.Props): ccm.Handle
---@field defaults fun(properties: ccm.Scaffold.Defaults) Sets what the following declarations in this file may leave out.
scaffold = {}

---The properties of a service.
---@class (exact) ccm.Service.Props: ccm.Common
---@field service? string service is the name of the service, if the resource has another one. So two users may have the same service: "sync-alice" and "sync-bob" with service = "sync".
---@field ensure? "running"|"stopped"|"unmanaged" ensure says whether the service is to be running or stopped. With unmanaged that stays as it is, and only enable and mask are managed; a change never restarts it. Default: running.
---@field enable? boolean enable says whether the service is to start at boot. Left out, that stays as it is. A service that others start and that cannot be enabled by itself (systemd: static, generated) counts as enabled. One that names others in its Also= (systemd: indirect) is enabled if one of them is, such as its socket.
---@field mask? boolean mask says whether the service is to be masked: neither people nor other units can start it then. With true it is stopped, unless ensure is unmanaged; it need not be there yet, so that a package that brings it does not start it. With false a mask is taken away. Left out, that stays as it is.
---@field scope? "system"|"user" scope says whose service it is. With user it belongs to the service manager of a user, which runs while that user is logged in, and always after "loginctl enable-linger". Only systemd has these. Default: system.
---@field user? string user is the user whose service it is, with scope = "user". Left out, it is who runs ccm.
---@field on_change? "restart"|"reload"|"reload-or-restart" on_change says what a change of something that the service subscribes to does. With reload it reads its configuration again and goes on running; one that cannot do that fails. With reload-or-restart it is restarted if it cannot reload, or if its unit file has changed. Default: restart.
---@field settle? string settle is how long the service has to stay up after it was started, restarted or reloaded in a run. One that ends before that has failed, and so has one that the service manager starts again and again. 0 turns that off. A service that runs already is not waited for: it has failed if the service manager has restarted it three times or more by itself, the last time less than 10 seconds ago. Default: 1s.

---The properties of a service and its name, or several names.
---@class (exact) ccm.Service.Table: ccm.Service.Props
---@field [integer] string
---@field name? string name is the name of the service itself, not an alias of it, unless service says that. It may hold letters, digits and . _ + : ~ @ - . Units of other kinds have their full name, such as "backup.timer", "app.socket" or "app.target". The instance of a template is called as in "getty@tty1".

---The handle of a service, whose properties may follow in a second call.
---@class ccm.Service.Handle: ccm.Handle
---@overload fun(properties: ccm.Service.Props): ccm.Handle

---Service manages whether a service runs and whether it starts at boot. The two
---are independent of each other. A change of something it subscribes to restarts
---or reloads it, if it is to be running and is.
---
---```lua
---service { "nginx", ... }
---service "nginx" { ... }
---service("nginx", { ... })
---```
---@class ccm.Service.Constructor
---@overload fun(resource: ccm.Service.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Service.Handle
---@overload fun(name: string|string[], properties: ccm.Service.Props): ccm.Handle
---@field defaults fun(properties: ccm.Service.Props) Sets what the following declarations in this file may leave out.
service = {}

---Works on text. Where a function searches, it searches for plain text: patterns are string.find and re.
---@class ccm.lib.str
str = {}

---Cuts text at each separator, into limit parts at most. An empty separator cuts after each character.
---
---```lua
---str.split("a,b,,c", ",") --> { "a", "b", "", "c" }
---```
---@param text string
---@param separator string
---@param limit? integer
---@return string[]
function str.split(text, separator, limit) end

---Returns the lines of text without what ends them. A line break at the end of text begins no further line.
---
---```lua
---str.lines("one\ntwo\n") --> { "one", "two" }
---```
---@param text string
---@return string[]
function str.lines(text) end

---Returns the words of text, which stand between white space.
---
---```lua
---str.fields("  one\ttwo ") --> { "one", "two" }
---```
---@param text string
---@return string[]
function str.fields(text) end

---Joins strings and numbers with the separator between them. Anything else in the list is a mistake.
---
---```lua
---str.join({ "a", 1, "b" }, "-") --> "a-1-b"
---```
---@param list any[]
---@param separator? string
---@return string
function str.join(list, separator) end

---Returns what stands before the first separator and what stands after it. Without one it returns text and nil.
---
---```lua
---str.cut("key=a=b", "=") --> "key", "a=b"
---```
---@param text string
---@param separator string
---@return string before
---@return string|nil after
function str.cut(text, separator) end

---Is cut at the last separator.
---
---```lua
---str.cut_last("host:with:80", ":") --> "host:with", "80"
---```
---@param text string
---@param separator string
---@return string before
---@return string|nil after
function str.cut_last(text, separator) end

---Returns the words of text as a shell would read them: quotes and backslashes count, nothing is expanded. A quote that is not closed is a mistake.
---
---```lua
---str.shell_split([[cp "my file" /tmp]]) --> { "cp", "my file", "/tmp" }
---```
---@param text string
---@return string[]
function str.shell_split(text) end

---Returns one word, or a list of them, so that a shell reads back what was given.
---
---```lua
---str.shell_quote { "cp", "my file", "/tmp" } --> "cp 'my file' /tmp"
---```
---@param words string|string[]
---@return string
function str.shell_quote(words) end

---Removes white space, or the given characters, from both ends of text.
---
---```lua
---str.trim("  a b\n") --> "a b"
---```
---@param text string
---@param characters? string
---@return string
function str.trim(text, characters) end

---Removes white space, or the given characters, from the beginning of text.
---
---```lua
---str.trim_start("007", "0") --> "7"
---```
---@param text string
---@param characters? string
---@return string
function str.trim_start(text, characters) end

---Removes white space, or the given characters, from the end of text.
---
---```lua
---str.trim_end("/srv/www//", "/") --> "/srv/www"
---```
---@param text string
---@param characters? string
---@return string
function str.trim_end(text, characters) end

---Reports whether text begins with prefix.
---
---```lua
---str.starts("/etc/motd", "/etc/") --> true
---```
---@param text string
---@param prefix string
---@return boolean
function str.starts(text, prefix) end

---Reports whether text ends with suffix.
---
---```lua
---str.ends("site.lua", ".lua") --> true
---```
---@param text string
---@param suffix string
---@return boolean
function str.ends(text, suffix) end

---Reports whether part stands in text.
---
---```lua
---str.contains("a.b", ".") --> true
---```
---@param text string
---@param part string
---@return boolean
function str.contains(text, part) end

---Returns text without prefix, if it begins with that.
---
---```lua
---str.strip_prefix("v1.2", "v") --> "1.2"
---```
---@param text string
---@param prefix string
---@return string
function str.strip_prefix(text, prefix) end

---Returns text without suffix, if it ends with that.
---
---```lua
---str.strip_suffix("web.service", ".service") --> "web"
---```
---@param text string
---@param suffix string
---@return string
function str.strip_suffix(text, suffix) end

---Returns how often part stands in text, without overlap.
---
---```lua
---str.count("a.b.c", ".") --> 2
---```
---@param text string
---@param part string
---@return integer
function str.count(text, part) end

---Returns how many characters text has. #text is how many bytes.
---
---```lua
---str.length("grün") --> 4
---```
---@param text string
---@return integer
function str.length(text) end

---Reports whether there is nothing but white space in text.
---
---```lua
---str.is_blank(" \n") --> true
---```
---@param text string
---@return boolean
function str.is_blank(text) end

---Replaces old by new, limit times at most. Neither is a pattern.
---
---```lua
---str.replace("a.b.c", ".", "/") --> "a/b/c"
---```
---@param text string
---@param old string
---@param new string
---@param limit? integer
---@return string
function str.replace(text, old, new, limit) end

---Puts fill, or spaces, before text until it has width characters.
---
---```lua
---str.pad_start("7", 3, "0") --> "007"
---```
---@param text string
---@param width integer
---@param fill? string
---@return string
function str.pad_start(text, width, fill) end

---Puts fill, or spaces, after text until it has width characters.
---
---```lua
---str.pad_end("ab", 4) .. "|" --> "ab  |"
---```
---@param text string
---@param width integer
---@param fill? string
---@return string
function str.pad_end(text, width, fill) end

---Puts prefix before each line of text that is not empty.
---
---```lua
---str.indent("a\n\nb\n", "  ") --> "  a\n\n  b\n"
---```
---@param text string
---@param prefix string
---@return string
function str.indent(text, prefix) end

---Removes the white space that all lines begin with, so that a long text can be indented as the code around it is. A first line that is empty is dropped, and so is white space behind the last line break.
---
---```lua
---str.dedent [[
---
---    a
---      b
---  ]] --> "a\n  b\n"
---```
---@param text string
---@return string
function str.dedent(text) end

---Returns text with its first letter in upper case.
---
---```lua
---str.capitalize("élan") --> "Élan"
---```
---@param text string
---@return string
function str.capitalize(text) end

---Breaks each line of text between words, so that it has width characters at most. A longer word has a line of its own.
---
---```lua
---str.wrap("one two three", 8) --> "one two\nthree"
---```
---@param text string
---@param width integer
---@return string
function str.wrap(text, width) end

---Returns the candidate that word was most likely meant to be, or nil if none is near.
---
---```lua
---str.nearest("prot", { "host", "port" }) --> "port"
---```
---@param word string
---@param candidates string[]
---@return string|nil
function str.nearest(word, candidates) end

---Works on tables and leaves them as they are: what it returns is new. Lists are tables whose keys are 1, 2, 3 and so on. A function that is given gets one value of a list, so that any function of one argument will do; of a table with names it gets the value and the key.
---@class ccm.lib.tbl
tbl = {}

---Returns the list of what fn gives for each value. For nil nothing is added.
---
---```lua
---tbl.map({ 1, 2, 3 }, function(n) return n * 2 end) --> { 2, 4, 6 }
---```
---@param list any[]
---@param fn fun(value: any): any
---@return any[]
function tbl.map(list, fn) end

---Returns the list of the values for which fn gives true.
---
---```lua
---tbl.filter({ 1, 2, 3, 4 }, function(n) return n % 2 == 0 end) --> { 2, 4 }
---```
---@param list any[]
---@param fn fun(value: any): boolean
---@return any[]
function tbl.filter(list, fn) end

---Gives fn what it gave last, or first, and the next value. Returns what it gave in the end.
---
---```lua
---tbl.reduce({ 1, 2, 3 }, function(sum, n) return sum + n end, 0) --> 6
---```
---@param list any[]
---@param fn fun(result: any, value: any): any
---@param first any
---@return any
function tbl.reduce(list, fn, first) end

---Returns the first value for which fn gives true, and its position; nil if there is none.
---
---```lua
---tbl.find({ "a", "b" }, function(s) return s > "a" end) --> "b", 2
---```
---@param list any[]
---@param fn fun(value: any): boolean
---@return any value
---@return integer|nil position
function tbl.find(list, fn) end

---Reports whether fn gives true for at least one value.
---
---```lua
---tbl.any({ 1, 2 }, function(n) return n > 1 end) --> true
---```
---@param list any[]
---@param fn fun(value: any): boolean
---@return boolean
function tbl.any(list, fn) end

---Reports whether fn gives true for each value. For an empty list that is so.
---
---```lua
---tbl.all({ 1, 2 }, function(n) return n > 1 end) --> false
---```
---@param list any[]
---@param fn fun(value: any): boolean
---@return boolean
function tbl.all(list, fn) end

---Returns a table of lists: under each key the values that have it. The key is a field of the values, or what a function gives for them. Values without one are left out.
---
---```lua
---tbl.group_by({ { os = "a", n = 1 }, { os = "b", n = 2 }, { os = "a", n = 3 } }, "os").a[2].n --> 3
---```
---@param list any[]
---@param key string|fun(value: any): any
---@return table<any, any[]>
function tbl.group_by(list, key) end

---Returns a table of the values under their keys, as group_by finds them. Of several with the same key the last one is kept.
---
---```lua
---tbl.index_by({ { id = "x", n = 1 }, { id = "y", n = 2 } }, "id").y.n --> 2
---```
---@param list any[]
---@param key string|fun(value: any): any
---@return table
function tbl.index_by(list, key) end

---Returns the list in order: as less says, or numbers by value and strings by their bytes. What is equal keeps its order. Without less, a list of anything else is a mistake.
---
---```lua
---tbl.sort({ "b", "c", "a" }) --> { "a", "b", "c" }
---```
---@param list any[]
---@param less? fun(a: any, b: any): boolean
---@return any[]
function tbl.sort(list, less) end

---Returns the list in the order of the keys of its values: a field of them, or what a function gives for them. Keys that are no numbers or strings are a mistake.
---
---```lua
---tbl.sort_by({ { n = 2 }, { n = 1 } }, "n")[1].n --> 1
---```
---@param list any[]
---@param key string|fun(value: any): any
---@return any[]
function tbl.sort_by(list, key) end

---Returns the list from its end to its beginning.
---
---```lua
---tbl.reverse({ 1, 2, 3 }) --> { 3, 2, 1 }
---```
---@param list any[]
---@return any[]
function tbl.reverse(list) end

---Returns the list without what is in it already. Tables are the same only if they are one.
---
---```lua
---tbl.unique({ "a", "b", "a" }) --> { "a", "b" }
---```
---@param list any[]
---@return any[]
function tbl.unique(list) end

---Returns one list of all the values of several.
---
---```lua
---tbl.concat({ 1 }, { 2, 3 }) --> { 1, 2, 3 }
---```
---@param ... any[]
---@return any[]
function tbl.concat(...) end

---Returns the values from one position to another, or to the end. Positions below zero count from the end.
---
---```lua
---tbl.slice({ "a", "b", "c", "d" }, 2, -2) --> { "b", "c" }
---```
---@param list any[]
---@param first integer
---@param last? integer
---@return any[]
function tbl.slice(list, first, last) end

---Returns the list with the lists in it replaced by their values: one level of them, or as many as depth says. Tables with names stay.
---
---```lua
---tbl.flatten({ 1, { 2, { 3 } } }) --> { 1, 2, { 3 } }
---```
---@param list any[]
---@param depth? integer
---@return any[]
function tbl.flatten(list, depth) end

---Returns the numbers from first to last. A step of zero is a mistake.
---
---```lua
---tbl.range(1, 10, 3) --> { 1, 4, 7, 10 }
---```
---@param first integer
---@param last integer
---@param step? integer
---@return integer[]
function tbl.range(first, last, step) end

---Reports whether value is in the list. Tables are the same only if they are one.
---
---```lua
---tbl.contains({ "a", "b" }, "b") --> true
---```
---@param list any[]
---@param value any
---@return boolean
function tbl.contains(list, value) end

---Returns the first position of value in the list, or nil.
---
---```lua
---tbl.index_of({ "a", "b" }, "b") --> 2
---```
---@param list any[]
---@param value any
---@return integer|nil
function tbl.index_of(list, value) end

---Returns the keys in order: numbers, booleans, strings, then all others as they were put in.
---
---```lua
---tbl.keys({ b = 1, a = 2 }) --> { "a", "b" }
---```
---@param t table
---@return any[]
function tbl.keys(t) end

---Returns the values in the order of their keys.
---
---```lua
---tbl.values({ b = 1, a = 2 }) --> { 2, 1 }
---```
---@param t table
---@return any[]
function tbl.values(t) end

---Is pairs in the order of the keys.
---
---```lua
---local seen = ''
---for k, v in tbl.pairs({ b = 1, a = 2 }) do seen = seen .. k .. v end
---seen --> "a2b1"
---```
---@param t table
---@return fun(t: table, key: any): any next
---@return table t
function tbl.pairs(t) end

---Returns the list of what fn gives for each value and its key, in the order of the keys. For nil nothing is added.
---
---```lua
---tbl.to_list({ b = 1, a = 2 }, function(v, k) return k .. "=" .. v end) --> { "a=2", "b=1" }
---```
---@param t table
---@param fn fun(value: any, key: any): any
---@return any[]
function tbl.to_list(t, fn) end

---Returns a table with the same keys and what fn gives for each value and its key. A key for which it gives nil is left out.
---
---```lua
---tbl.map_values({ a = 1, b = 2 }, function(n) return n * 10 end).b --> 20
---```
---@param t table
---@param fn fun(value: any, key: any): any
---@return table
function tbl.map_values(t, fn) end

---Returns a table of the keys and values for which fn gives true.
---
---```lua
---tbl.filter_values({ a = 1, b = 2 }, function(v, k) return k ~= "a" end) --> {
---  b = 2
---}
---```
---@param t table
---@param fn fun(value: any, key: any): boolean
---@return table
function tbl.filter_values(t, fn) end

---Returns a table of those of the keys that are there.
---
---```lua
---tbl.pick({ a = 1, b = 2 }, { "b", "c" }) --> {
---  b = 2
---}
---```
---@param t table
---@param keys any[]
---@return table
function tbl.pick(t, keys) end

---Returns the table without these keys.
---
---```lua
---tbl.omit({ a = 1, b = 2 }, { "a" }) --> {
---  b = 2
---}
---```
---@param t table
---@param keys any[]
---@return table
function tbl.omit(t, keys) end

---Returns a table of the keys under their values. Of several keys with the same value the last one in order is kept.
---
---```lua
---tbl.invert({ a = "x", b = "y" }).y --> "b"
---```
---@param t table
---@return table
function tbl.invert(t) end

---Returns what is at a path of names and positions with dots between them, or the default if something on the way is not there.
---
---```lua
---tbl.get({ users = { { name = "ann" } } }, "users.1.name") --> "ann"
---```
---@param t table
---@param path string
---@param default? any
---@return any
function tbl.get(t, path, default) end

---Returns a table with the keys of all; of several with the same key the last one wins.
---
---```lua
---tbl.merge({ a = 1, b = 1 }, { b = 2 }).b --> 2
---```
---@param ... table
---@return table
function tbl.merge(...) end

---Lays over over base: tables with names are merged key by key, anything else is replaced. With lists = "join", lists are joined instead, as data does when its hierarchy merges deep.
---
---```lua
---tbl.deep_merge({ web = { port = 80, host = "a" } }, { web = { port = 81 } }).web --> {
---  host = "a",
---  port = 81
---}
---```
---@param base table
---@param over table
---@param options? { lists?: "replace"|"join" }
---@return table
function tbl.deep_merge(base, over, options) end

---Returns a copy of a table and of all tables in it. A script can change the copy of what is read-only. Metatables are not copied.
---
---```lua
---local a = { b = { 1 } }
---local x = tbl.copy(a)
---x.b[1] = 2
---a.b[1] --> 1
---```
---@param value any
---@return any
function tbl.copy(value) end

---Reports whether two values are the same, tables if they hold the same.
---
---```lua
---tbl.equal({ 1, { a = 2 } }, { 1, { a = 2 } }) --> true
---```
---@param a any
---@param b any
---@return boolean
function tbl.equal(a, b) end

---Returns how many keys a table has, positions included.
---
---```lua
---tbl.size({ "x", a = 1, b = 2 }) --> 3
---```
---@param t table
---@return integer
function tbl.size(t) end

---Reports whether a table has no keys.
---
---```lua
---tbl.is_empty({}) --> true
---```
---@param t table
---@return boolean
function tbl.is_empty(t) end

---Reports whether a value is a table without names. An empty table is a list.
---
---```lua
---tbl.is_list({ a = 1 }) --> false
---```
---@param value any
---@return boolean
function tbl.is_list(value) end

---Works on the names of files, without looking at any. The separator is a slash.
---@class ccm.lib.path
path = {}

---Joins names with slashes and cleans the result. Empty names are left out; an absolute name begins anew only if it is the first.
---
---```lua
---path.join("/etc", "nginx/", "../motd") --> "/etc/motd"
---```
---@param ... string
---@return string
function path.join(...) end

---Returns the shortest name of the same file: without . and .. and without double slashes.
---
---```lua
---path.clean("/srv//www/./a/..") --> "/srv/www"
---```
---@param name string
---@return string
function path.clean(name) end

---Returns all but the last element.
---
---```lua
---path.dir("/etc/nginx/nginx.conf") --> "/etc/nginx"
---```
---@param name string
---@return string
function path.dir(name) end

---Returns the last element.
---
---```lua
---path.base("/etc/nginx/nginx.conf") --> "nginx.conf"
---```
---@param name string
---@return string
function path.base(name) end

---Returns what follows the last dot of the last element, with the dot. A name that only begins with a dot has none.
---
---```lua
---path.ext("/srv/backup.tar.gz") --> ".gz"
---```
---@param name string
---@return string
function path.ext(name) end

---Returns the last element without its ext.
---
---```lua
---path.stem("/etc/nginx/nginx.conf") --> "nginx"
---```
---@param name string
---@return string
function path.stem(name) end

---Returns the elements of a name. The first one of an absolute name is a slash.
---
---```lua
---path.split("/etc/nginx") --> { "/", "etc", "nginx" }
---```
---@param name string
---@return string[]
function path.split(name) end

---Reports whether a name begins at the root.
---
---```lua
---path.is_absolute("files/motd") --> false
---```
---@param name string
---@return boolean
function path.is_absolute(name) end

---Returns the way from base to name. That one is absolute and the other is not, or that base begins with .., is a mistake.
---
---```lua
---path.relative("/etc/nginx", "/etc/ssl/cert.pem") --> "../ssl/cert.pem"
---```
---@param base string
---@param name string
---@return string
function path.relative(base, name) end

---Reports whether name is dir or lies below it. It looks at the names only.
---
---```lua
---path.within("/etc", "/etc/../root/x") --> false
---```
---@param dir string
---@param name string
---@return boolean
function path.within(dir, name) end

---Reports whether all of name matches a pattern of *, ? and [a-z], none of which matches a slash. A pattern that is not closed is a mistake.
---
---```lua
---path.match("*.conf", "nginx.conf") --> true
---```
---@param pattern string
---@param name string
---@return boolean
function path.match(pattern, name) end

---Looks at files. An absolute path is one of the machine that is being converged, below --root; a relative one lies beside the script or module that asks. What it looks at is an input of the run. A script is evaluated before anything is changed, in a plan as in a run.
---@class ccm.lib.fs
fs = {}

---Reports whether anything stands at the path. A link counts if what it points to exists.
---
---```lua
---fs.exists("/etc/motd") --> true
---```
---@param path string
---@return boolean
function fs.exists(path) end

---Reports whether a file stands at the path, or a link to one.
---
---```lua
---fs.is_file("/etc") --> false
---```
---@param path string
---@return boolean
function fs.is_file(path) end

---Reports whether a directory stands at the path, or a link to one.
---
---```lua
---fs.is_directory("/etc") --> true
---```
---@param path string
---@return boolean
function fs.is_directory(path) end

---Returns the content of a file, links followed. If there is no file it returns the default, and without one that is a mistake. So is what is no file, what may not be read, and a file of more than 64 MiB.
---
---```lua
---fs.read("/etc/motd") --> "Welcome\n"
---```
---@param path string
---@param default? string
---@return string
function fs.read(path, default) end

---Describes what stands at the path, or returns nil if nothing does. A link is not followed: target is where it points. The mode is octal, the mtime in seconds as time.now.
---
---```lua
---fs.stat("/etc/motd").mode --> "0644"
---```
---@param path string
---@return { kind: "file"|"directory"|"link"|"special", mode: string, size: integer, owner: string, group: string, uid: integer, gid: integer, mtime: number, target?: string }|nil
function fs.stat(path) end

---Returns the names in a directory, in order. What is no directory is a mistake.
---
---```lua
---fs.list("/etc/conf.d") --> { "a.conf", "b.conf" }
---```
---@param path string
---@return string[]
function fs.list(path) end

---Returns the paths that match a pattern of *, ? and [a-z], in order. Those of a relative pattern are relative too.
---
---```lua
---fs.glob("/etc/conf.d/*.conf") --> { "/etc/conf.d/a.conf", "/etc/conf.d/b.conf" }
---```
---@param pattern string
---@return string[]
function fs.glob(pattern) end

---Reads and writes JSON. Keys are written in order, so the same table gives the same text.
---@class ccm.lib.json
json = {}

---Stands for null: Lua itself drops a key whose value is nil. It is the same in json and yaml.
---@type userdata
json.null = nil

---Reads one JSON value. Tables keep the order of the text. A null is json.null; with nulls = false it is left out. An integer that a number of Lua cannot hold stays text. Text that is not JSON is a mistake that says where.
---
---```lua
---json.decode('{"name": "web", "ports": [80, 443]}').ports[2] --> 443
---```
---@param text string
---@param options? { nulls?: boolean }
---@return any
function json.decode(text, options) end

---Writes a value as JSON, on one line, or with that many spaces of indentation. An empty table is {}, unless json.array says otherwise. A function, a list with holes, a table with names and positions, a number that is not finite and text that is not UTF-8 are mistakes.
---
---```lua
---json.encode({ name = "web", ports = { 80, 443 }, tags = json.array {} }) --> '{"name":"web","ports":[80,443],"tags":[]}'
---```
---@param value any
---@param options? { indent?: integer }
---@return string
function json.encode(value, options) end

---Marks a table as a list, so that json, yaml and toml write it as one even if it is empty. It returns the table. Lists that were read are marked already.
---
---```lua
---json.encode(json.array {}) --> "[]"
---```
---@param list table
---@return table
function json.array(list) end

---Returns the text of a document of JSON with a value at a path, and what was there before. All else stays as it is: comments, order, layout. A path is web.port, with positions from 0 in lists, and a backslash before a dot in a name; or a list of names. What it lacks is made. A text that is none, and a place that cannot be changed by itself, are mistakes.
---
---```lua
---json.set("{ \"web\": { \"port\": 80 } } // c", "web.port", 81) --> '{ "web": { "port": 81 } } // c', 80
---```
---@param text string
---@param path string|string[]
---@param value any
---@return string text
---@return any old
function json.set(text, path, value) end

---Returns the text of a document without what is at a path, as set has it, and what that was. If nothing is there, the text stays as it is.
---
---```lua
---json.remove("{ \"web\": { \"port\": 80 } } // c", "web.port") --> '{ "web": {} } // c', 80
---```
---@param text string
---@param path string|string[]
---@return string text
---@return any old
function json.remove(text, path) end

---Reads and writes YAML, as data and manifests are read.
---@class ccm.lib.yaml
yaml = {}

---Is json.null.
---@type userdata
yaml.null = nil

---Reads one YAML document. Tables keep the order of the text. What a number would not keep of its writing stays text: the version 1.10, the mode 0644, a date. A null is json.null; with nulls = false it is left out. Text that is not YAML, a key that is given twice and a second document are mistakes that say where.
---
---```lua
---yaml.decode('name: web\nversion: 1.10\nports: [80, 443]') --> {
---  name = "web",
---  ports = { 80, 443 },
---  version = "1.10"
---}
---```
---@param text string
---@param options? { nulls?: boolean }
---@return any
function yaml.decode(text, options) end

---Reads a text with several documents, separated by ---, and returns the list of them.
---
---```lua
---#yaml.decode_all('a: 1\n---\nb: 2') --> 2
---```
---@param text string
---@param options? { nulls?: boolean }
---@return any[]
function yaml.decode_all(text, options) end

---Writes a value as YAML, the keys in order. What json.encode refuses is a mistake here too, but that numbers may be infinite and that text which is not UTF-8 is written as !!binary.
---
---```lua
---yaml.encode({ name = "web", version = "1.10", ports = { 80 } }) --> 'name: web\nports:\n  - 80\nversion: "1.10"\n'
---```
---@param value any
---@return string
function yaml.encode(value) end

---Is json.array.
---
---```lua
---yaml.encode(yaml.array {}) --> "[]\n"
---```
---@param list table
---@return table
function yaml.array(list) end

---Returns the text of a document of YAML with a value at a path, and what was there before. All else stays as it is: comments, order, layout. A path is web.port, with positions from 0 in lists, and a backslash before a dot in a name; or a list of names. What it lacks is made. A text that is none, and a place that cannot be changed by itself, are mistakes.
---
---```lua
---yaml.set("web:\n  port: 80 # c\n", "web.port", 81) --> "web:\n  port: 81 # c\n", 80
---```
---@param text string
---@param path string|string[]
---@param value any
---@return string text
---@return any old
function yaml.set(text, path, value) end

---Returns the text of a document without what is at a path, as set has it, and what that was. If nothing is there, the text stays as it is.
---
---```lua
---yaml.remove("web:\n  port: 80 # c\n", "web.port") --> "web: {} # c\n", 80
---```
---@param text string
---@param path string|string[]
---@return string text
---@return any old
function yaml.remove(text, path) end

---Reads and writes TOML 1.0. Of TOML 1.1 it reads line ends and a comma at the end of inline tables, and the escapes \x41 and \e.
---@class ccm.lib.toml
toml = {}

---Reads a TOML document. Dates and times are text, as RFC 3339 writes them. An integer that a number of Lua cannot hold stays text. Text that is not TOML is a mistake that says where.
---
---```lua
---toml.decode('[web]\nport = 80\nsince = 2026-01-02').web --> {
---  port = 80,
---  since = "2026-01-02"
---}
---```
---@param text string
---@return table
function toml.decode(text) end

---Writes a table with names as TOML, the keys in order. TOML has no null, so json.null is a mistake; so is what json.encode refuses, but that numbers may be infinite.
---
---```lua
---toml.encode({ web = { port = 80 } }) --> "[web]\nport = 80\n"
---```
---@param value table
---@return string
function toml.encode(value) end

---Returns the text of a document of TOML with a value at a path, and what was there before. All else stays as it is: comments, order, layout. A path is web.port, with positions from 0 in lists, and a backslash before a dot in a name; or a list of names. What it lacks is made. A text that is none, and a place that cannot be changed by itself, are mistakes.
---
---```lua
---toml.set("[web]\nport = 80 # c\n", "web.port", 81) --> "[web]\nport = 81 # c\n", 80
---```
---@param text string
---@param path string|string[]
---@param value any
---@return string text
---@return any old
function toml.set(text, path, value) end

---Returns the text of a document without what is at a path, as set has it, and what that was. If nothing is there, the text stays as it is.
---
---```lua
---toml.remove("[web]\nport = 80 # c\n", "web.port") --> "[web]\n", 80
---```
---@param text string
---@param path string|string[]
---@return string text
---@return any old
function toml.remove(text, path) end

---Regular expressions in the syntax of RE2: a search takes time in proportion to the text, and ends with the time limit of the script. A pattern that is not one is a mistake. Patterns are easiest to read in long brackets: [[\d+]]. A match is a table: what the whole pattern matched is at 0, what its groups matched at 1, 2 and so on and under their names, and from and to are the positions in the text.
---@class ccm.lib.re
re = {}

---Reports whether the pattern matches anywhere in text.
---
---```lua
---re.test("web01", [[^\w+\d\d$]]) --> true
---```
---@param text string
---@param pattern string
---@return boolean
function re.test(text, pattern) end

---Returns the first match, or nil.
---
---```lua
---re.match("web01.example.org", [[(?P<name>\w+?)(\d+)\.]]).name --> "web"
---```
---@param text string
---@param pattern string
---@return table|nil
function re.match(text, pattern) end

---Returns all matches, limit at most, none of which overlap.
---
---```lua
---tbl.map(re.match_all("a=1 b=2", [[(\w)=(\d)]]), function(m) return m[2] end) --> { "1", "2" }
---```
---@param text string
---@param pattern string
---@param limit? integer
---@return table[]
function re.match_all(text, pattern, limit) end

---Returns what the whole pattern matched, limit times at most.
---
---```lua
---re.find_all("10.0.0.1", [[\d+]]) --> { "10", "0", "0", "1" }
---```
---@param text string
---@param pattern string
---@param limit? integer
---@return string[]
function re.find_all(text, pattern, limit) end

---Replaces what the pattern matches, limit times at most: by a string in which $1 and ${name} stand for groups and $$ for a dollar, or by what a function gives for the match.
---
---```lua
---re.replace("web01", [[(\D+)(\d+)]], "${2}-$1") --> "01-web"
---```
---@param text string
---@param pattern string
---@param replacement string|fun(match: table): string
---@param limit? integer
---@return string
function re.replace(text, pattern, replacement, limit) end

---Cuts text at what the pattern matches, into limit parts at most.
---
---```lua
---re.split("a, b;c", [[[,;]\s*]]) --> { "a", "b", "c" }
---```
---@param text string
---@param pattern string
---@param limit? integer
---@return string[]
function re.split(text, pattern, limit) end

---Returns a pattern that matches just the text.
---
---```lua
---re.escape("a.b*") --> "a\\.b\\*"
---```
---@param text string
---@return string
function re.escape(text) end

---Fills in templates. They see the values that are given, each by its name, and besides them facts, data, env and lookup(path, default). What is not there is a mistake, which says in which line of the template. So is a template of more than 1 MiB, one that writes more than 64 MiB, one that calls itself without end, and an expression of more than 64 KiB.
---@class ccm.lib.template
template = {}

---Fills in a Jet template. The delimiters are [[ and ]], unless left and right say otherwise. Templates that it includes are read beside the script. Besides the functions of Jet there are default, join, indent, lower, to_json and to_yaml: [[ names | join: ", " ]], [[ port | default: 80 ]].
---
---```lua
---template.jet("listen [[ port ]];", { port = 80 }) --> "listen 80;"
---```
---@param text string
---@param values? table<string, any>
---@param options? { left?: string, right?: string }
---@return string
function template.jet(text, values, options) end

---Fills in a template of Go's text/template. The values are fields: {{ .port }}; facts, data and env are functions: {{ facts.os.family }}. Besides the functions of text/template there are default, join, indent, upper, lower, to_json and to_yaml, which take the value last: {{ .names | join ", " }}.
---
---```lua
---template.go("listen {{ .port }};", { port = 80 }) --> "listen 80;"
---```
---@param text string
---@param values? table<string, any>
---@param options? { left?: string, right?: string }
---@return string
function template.go(text, values, options) end

---Evaluates the expressions ${ } and {{ }} in text, as manifests do.
---
---```lua
---template.expand("listen ${ port + 1 };", { port = 80 }) --> "listen 81;"
---```
---@param text string
---@param values? table<string, any>
---@return string
function template.expand(text, values) end

---Fills in a template file, found as fs.read finds it. The language is that of the suffix: .jet is Jet, .tmpl and .gotmpl are Go's, .templ has expressions. For any other suffix the engine must be given.
---
---```lua
---template.render("motd.tmpl", { name = "web01" }) --> "This is web01.\n"
---```
---@param path string
---@param values? table<string, any>
---@param options? { engine?: "jet"|"go"|"expand", left?: string, right?: string }
---@return string
function template.render(path, values, options) end

---Compares versions. The comparisons return -1 if a is older than b, 1 if it is newer, and 0 if both are the same.
---@class ccm.lib.version
version = {}

---Compares versions of no particular system. Numbers compare as numbers. If trailing zeroes are ignored, 1.0.0 is the same as 1.
---
---```lua
---version.compare("1.9", "1.10") --> -1
---```
---@param a string
---@param b string
---@param ignore_trailing_zeroes? boolean
---@return integer
function version.compare(a, b, ignore_trailing_zeroes) end

---Compares versions of Debian packages, as dpkg does: with epochs, revisions and ~. What is no such version is a mistake.
---
---```lua
---version.deb("1.0~rc1", "1.0") --> -1
---```
---@param a string
---@param b string
---@return integer
function version.deb(a, b) end

---Compares versions of RPM packages, as rpm does: with epochs, releases, ~ and ^.
---
---```lua
---version.rpm("1:1.0-1", "2.0-1") --> 1
---```
---@param a string
---@param b string
---@return integer
function version.rpm(a, b) end

---Reports whether a version is within a constraint: one or more of =, !=, <, <=, >, >= with a version, separated by commas, all of which must hold. A constraint that cannot be read is a mistake.
---
---```lua
---version.matches("1.4.2", ">= 1.2, < 2") --> true
---```
---@param version string
---@param constraint string
---@param system? "deb"|"rpm"
---@return boolean
function version.matches(version, constraint, system) end

---Reads addresses and networks, IPv4 and IPv6. It sends nothing.
---@class ccm.lib.net
net = {}

---Reports whether text is an IP address.
---
---```lua
---net.is_address("10.0.0.256") --> false
---```
---@param text string
---@return boolean
function net.is_address(text) end

---Describes an IP address: its usual writing, its version and what it is for. reverse is its name in the DNS. What is no address is a mistake.
---
---```lua
---net.address("2001:DB8:0::1").address --> "2001:db8::1"
---```
---@param text string
---@return { address: string, version: integer, loopback: boolean, private: boolean, link_local: boolean, multicast: boolean, unspecified: boolean, reverse: string }
function net.address(text) end

---Reports whether text is a network, such as 10.0.0.0/8.
---
---```lua
---net.is_network("10.0.0.0/33") --> false
---```
---@param text string
---@return boolean
function net.is_network(text) end

---Describes a network: its usual writing, the address that was given in it, the length of its prefix, its mask, its first and last address and how many it has. What is no network is a mistake.
---
---```lua
---net.network("192.168.1.17/24").last --> "192.168.1.255"
---```
---@param text string
---@return { network: string, address: string, prefix: integer, netmask: string, first: string, last: string, version: integer, size: number }
function net.network(text) end

---Reports whether an address, or all of another network, is in a network.
---
---```lua
---net.contains("10.0.0.0/8", "10.1.2.3") --> true
---```
---@param network string
---@param part string
---@return boolean
function net.contains(network, part) end

---Returns an address of a network by its number: 1 is the one after the first, -1 is the last. A number beyond the network is a mistake.
---
---```lua
---net.host("10.0.1.0/24", 10) --> "10.0.1.10"
---```
---@param network string
---@param number integer
---@return string
function net.host(network, number) end

---Returns a part of a network: the prefix is longer by that many bits, and the parts count from 0. A part that is not there is a mistake.
---
---```lua
---net.subnet("10.0.0.0/16", 8, 3) --> "10.0.3.0/24"
---```
---@param network string
---@param bits integer
---@param number integer
---@return string
function net.subnet(network, bits, number) end

---Returns the two parts of host:port or [address]:port. Anything else is a mistake.
---
---```lua
---net.split_host_port("[::1]:80") --> "::1", "80"
---```
---@param text string
---@return string host
---@return string port
function net.split_host_port(text) end

---Returns host:port, with brackets around an IPv6 address.
---
---```lua
---net.join_host_port("::1", 80) --> "[::1]:80"
---```
---@param host string
---@param port string|integer
---@return string
function net.join_host_port(host, port) end

---Digests of text and files, in hexadecimal.
---@class ccm.lib.hash
hash = {}

---Returns the SHA-256 of text.
---
---```lua
---hash.sha256("abc"):sub(1, 16) --> "ba7816bf8f01cfea"
---```
---@param text string
---@return string
function hash.sha256(text) end

---Returns the SHA-512 of text.
---
---```lua
---hash.sha512("abc"):sub(1, 16) --> "ddaf35a193617aba"
---```
---@param text string
---@return string
function hash.sha512(text) end

---Returns the SHA-1 of text, for what still asks for it. It does not keep anyone from forging.
---
---```lua
---hash.sha1("abc"):sub(1, 16) --> "a9993e364706816a"
---```
---@param text string
---@return string
function hash.sha1(text) end

---Returns the MD5 of text, for what still asks for it. It does not keep anyone from forging.
---
---```lua
---hash.md5("abc") --> "900150983cd24fb0d6963f7d28e17f72"
---```
---@param text string
---@return string
function hash.md5(text) end

---Returns the HMAC of text with a key.
---
---```lua
---hash.hmac("sha256", "key", "abc"):sub(1, 16) --> "9c196e32dc0175f8"
---```
---@param algorithm "sha256"|"sha512"|"sha1"|"md5"
---@param key string
---@param text string
---@return string
function hash.hmac(algorithm, key, text) end

---Returns the digest of a file as fs.read finds it, SHA-256 unless another is asked for. What fs.read cannot read is a mistake.
---
---```lua
---hash.file("/etc/motd"):sub(1, 16) --> "0e90e1aa36481e39"
---```
---@param path string
---@param algorithm? "sha256"|"sha512"|"sha1"|"md5"
---@return string
function hash.file(path, algorithm) end

---Writes any bytes as text of 64 characters.
---@class ccm.lib.base64
base64 = {}

---Writes text as base64: with url = true in the alphabet for URLs and file names, with padding = false without the = at the end.
---
---```lua
---base64.encode("ccm!?>") --> "Y2NtIT8+"
---```
---@param text string
---@param options? { url?: boolean, padding?: boolean }
---@return string
function base64.encode(text, options) end

---Reads base64 of either alphabet, padded or not, with or without line breaks. Anything else is a mistake.
---
---```lua
---base64.decode("Y2NtIT8-") --> "ccm!?>"
---```
---@param text string
---@return string
function base64.decode(text) end

---Points in time are numbers: seconds since the beginning of 1970 in UTC, as os.time has them, with a fraction. Spans are numbers of seconds.
---@class ccm.lib.time
time = {}

---Returns the time by the clock of the run. A script that uses it says something else each time.
---
---```lua
---time.format(time.now()) --> "2026-01-02T03:04:05Z"
---```
---@return number
function time.now() end

---Writes a time in UTC: as RFC 3339 has it, or by a format of %Y %m %d %H %M %S %y %j %a %A %b %B %p %I %F %T %s and %%. Any other letter after % is a mistake.
---
---```lua
---time.format(0, "%d.%m.%Y") --> "01.01.1970"
---```
---@param time number
---@param format? string
---@return string
function time.format(time, format) end

---Reads a date, 2026-01-02, or a date and a time, 2026-01-02T15:04:05Z. Without a zone it is UTC; a space may stand for the T and the seconds may be left out. Anything else is a mistake.
---
---```lua
---time.parse("2026-01-02 03:04") --> 1767323040
---```
---@param text string
---@return number
function time.parse(text) end

---Reads a span such as 90s, 1h30m, 250ms, 2d or 1w and returns its seconds. Anything else is a mistake.
---
---```lua
---time.duration("1h30m") --> 5400
---```
---@param text string
---@return number
function time.duration(text) end

---Writes values as Lua writes them, for people to read. It follows inspect.lua, which Neovim has as vim.inspect.
---@class ccm.lib.inspect
---@overload fun(value: any, options?: { depth?: integer, newline?: string, indent?: string, limit?: integer, tostring?: boolean, process?: fun(item: any, path: any[]): any }): string
inspect = {}

---Stands in a path that process gets before what is a key.
---@type userdata
inspect.KEY = nil

---Stands in a path that process gets before what is a metatable.
---@type userdata
inspect.METATABLE = nil

---Says something to whoever runs the script, on the standard error. ccm.warn also says where; ccm.fail ends the script.
---@class ccm.lib.log
log = {}

---Says something that is shown with --debug only. The values are added by name, in order.
---
---```lua
---log.debug("checked", { hosts = 3 })
---```
---@param message string
---@param values? table<string, any>
function log.debug(message, values) end

---Says something. The values are added by name, in order.
---
---```lua
---log.info("checked", { hosts = 3 })
---```
---@param message string
---@param values? table<string, any>
function log.info(message, values) end

---Says something that may be wrong. The values are added by name, in order.
---
---```lua
---log.warn("checked", { hosts = 3 })
---```
---@param message string
---@param values? table<string, any>
function log.warn(message, values) end

---Says something that is wrong. The script goes on. The values are added by name, in order.
---
---```lua
---log.error("checked", { hosts = 3 })
---```
---@param message string
---@param values? table<string, any>
function log.error(message, values) end

---Asks servers. It only reads: a file that is to be downloaded is a resource.
---@class ccm.lib.http
http = {}

---Returns what is at a URL of http or https. It takes a timeout of 30s at most and a limit of 8 MiB, unless told otherwise; the limit can be 64 MiB. Redirects are followed. A status other than 200, too much of it, too much time and a SHA-256 other than the checksum are mistakes. The answer is an input of the run, also of a plan.
---
---```lua
---http.get("http://example.test/motd", { timeout = "5s" }) --> "Welcome\n"
---```
---@param url string
---@param options? { timeout?: string, limit?: integer, headers?: table<string, string>, checksum?: string }
---@return string
function http.get(url, options) end

---Runs a command and returns its output without the line breaks at its end, its exit code and what it said on the standard error. The command is a list of words, or one string that is cut into words as by str.shell_split; no shell is started. Options stand behind the words; env is a table, or a list of KEY=VALUE. It must only look, since it also runs for a plan; what changes the machine is an exec. What it says is an input of the run. An exit code other than 0 is a mistake, unless check is false; so is a command that is not there, or that takes longer than the timeout of 30s.
---
---```lua
---capture { "printf", "%s-%s\\n", "a", "b" } --> "a-b", 0, ""
---```
---@param command string|string[]|{ timeout?: string, cwd?: string, env?: table<string, string>|string[], stdin?: string, check?: boolean }
---@return string output
---@return integer code
---@return string errors
function capture(command) end

---What the user configured. data.web.port is a value of it; data is read-only. A name that it does not have is nil, and a mistake if that is a misspelling of one that it has (prot of port; a plural is another word). At first it is what the script is given by --data or by what applies it.
---@class ccm.lib.data
---@field [string] any
data = {}

---Reads a hierarchy document, found as fs.read finds it, and returns its data: the base laid under the overrides that fit this machine, and under what the script is given. From then on data reads it. Of a second document the keys at the top replace those of the first.
---
---```lua
---data.load("site.yaml").web.port --> 8080
---```
---@param path string
---@return table
function data.load(path) end

---Reads a plain document, found as fs.read finds it, and returns what is in it. A name that ends with .json is read as json.decode does, one that ends with .toml as toml.decode does, and any other as yaml.decode does. It is a table like any other, and data stays as it is. One with encrypted values, ENC[age,...], is read-only, and each is decrypted when it is read.
---
---```lua
---data.read("users.yaml")[1].name --> "ann"
---```
---@param path string
---@param options? { nulls?: boolean }
---@return any
function data.read(path, options) end

---Returns what is at a path that begins with facts, data or env, such as facts.os.family. Items of lists count from 0, and the path may be any of GJSON. A name that holds dots is given in a list: lookup({ "data", "hosts", "web.example.org" }). What is not there is a mistake, unless a default is given, which may be nil.
---
---```lua
---lookup("data.web.port", 80) --> 80
---```
---@param path string|table
---@param default? any
---@return any
function lookup(path, default) end

---Returns the services of the registry in NATS that have what the query says, by address and port. What it leaves out may be anything, and so may "*". Each is a table with cluster, protocol, service, address, priority and annotations, and with port and ttl if it has them. No service is an empty list. A registry that does not answer is a mistake.
---
---```lua
---registrations({ service = "web" })[1].address --> "192.0.2.1"
---```
---@param query? { cluster?: string, protocol?: string, service?: string, address?: string }
---@return table[]
function registrations(query) end

---Values that nobody may see. A secret is an ordinary string: it can be joined, formatted, put into tables and templates, and be the value of a property. Wherever it would be written, in a report, a diff, a log, the output of a command, the state directory or the history of the prompt, (secret 1a2b3c4d) stands in its place. The digits are a keyed digest, so that a change can be seen. A secret cannot be an argument of a command, which every user of the machine can read, nor the name of a resource.
---@class ccm.lib.secret
---@overload fun(value: string): string
secret = {}

---Returns the value of an environment variable as a secret. One that is not set, or is empty, is a mistake.
---
---```lua
---#secret.env("DB_PASSWORD") --> 13
---```
---@param name string
---@return string
function secret.env(name) end

---Returns the content of a file as a secret, without the line breaks at its end. The file is found as by fs.read. One that is not there is a mistake; that everybody can read it is worth a warning.
---
---```lua
---#secret.file("/etc/app.key") --> 13
---```
---@param path string
---@return string
function secret.file(path) end

---Runs a command that only looks, as capture does, and returns its output as a secret, without the line breaks at its end. It runs for a plan too. No output is a mistake, and so is an exit code other than 0; what the command said on the standard output is not told then.
---
---```lua
---#secret.cmd { "printf", "correct horse" } --> 13
---```
---@param command string|string[]|{ timeout?: string, cwd?: string, env?: table<string, string>, stdin?: string }
---@return string
function secret.cmd(command) end

---Returns what a file holds that is encrypted with age, as a secret, without the line breaks at its end. The file is found as by fs.read, and decrypted with an identity of who runs ccm: see ccm secret. A file is decrypted once in a run, however often it is asked for.
---
---```lua
---#secret.age("db.age") --> 13
---```
---@param path string
---@return string
function secret.age(path) end

---Returns what a file holds that is encrypted with SOPS, as a secret: all of it, or the text at a key such as db.password. The program sops of the user is called, with the keys that it finds. A file is decrypted once for each key, and json.decode reads the whole of one that is JSON.
---
---```lua
---#secret.sops("db.enc.json", "db.password") --> 13
---```
---@param path string
---@param key? string
---@return string
function secret.sops(path, key) end

---Returns data that is written in a script, read-only, in which encrypted texts, ENC[age,...], are decrypted when they are read. ccm secret encrypt --key and ccm secret edit change them in their places.
---
---```lua
---secret.values({ user = "app" }).user --> "app"
---```
---@param data table
---@return table
function secret.values(data) end

---The script that is run.
---@class ccm.lib.site
site = {}

---Its directory, also where a module asks.
---@type string
site.dir = nil

---The module that asks; in the script itself that is the script.
---@class ccm.lib.module
module = {}

---Its directory. Relative paths that it writes begin there, as in source = "files/app.conf".
---@type string
module.dir = nil

---The working directory.
---@type string
ccm.cwd = nil

---The directory of the script, or of the module that asks. Relative paths begin there.
---@type string
ccm.dir = nil

---Returns the absolute form of a path that is relative to the working directory, such as an argument of the script.
---
---```lua
---ccm.abs("out/motd") --> "/home/ann/out/motd"
---```
---@param path string
---@return string
function ccm.abs(path) end

---Is inspect.
---
---```lua
---ccm.inspect({ 1, 2 }) --> "{ 1, 2 }"
---```
---@param value any
---@param options? { depth?: integer, newline?: string, indent?: string, process?: fun(item: any, path: any[]): any }
---@return string
function ccm.inspect(value, options) end

---Prints each value as inspect writes it, and returns the values, so that it can stand around an expression.
---
---```lua
---ccm.print("a") .. "b" --> "ab"
---```
---@param ... any
---@return any
function ccm.print(...) end

---The modules that ship with ccm: std.line is what require "std.line" returns, loaded on first use.
---@class ccm.lib.std
---@field alternative ccm.Alternative.Constructor Keeps which of several programs a name stands for, with update-alternatives.
---@field apt_repo ccm.AptRepo.Constructor Keeps a repository in /etc/apt/sources.list.d, with its key, and reads its index when it changes.
---@field authorized_key ccm.AuthorizedKey.Constructor Lets the owner of a key log in as a user by ssh, by a line in the user's authorized_keys.
---@field block ccm.Block.Constructor Keeps some lines of a text file between two markers that bear its name.
---@field cron ccm.Cron.Constructor Runs a command again and again, by a file in /etc/cron.d.
---@field directory ccm.Directory.Constructor Keeps a directory, with its owner and permissions. It can have copies of the files in a directory of the site, and keep the owner and permissions of all that is in it.
---@field firewall ccm.Firewall.Constructor Keeps rules of nftables in a table of their own, now and at boot. Other tables are left alone.
---@field git ccm.Git.Constructor Keeps a clone of a git repository at a branch, a tag or a commit. Git must be installed.
---@field group ccm.Group.Constructor Keeps a group in /etc/group, with groupadd and its like.
---@field host ccm.Host.Constructor Keeps the address of a host and its names in /etc/hosts. A host has one address of IPv4 and one of IPv6 at most.
---@field hostname ccm.Hostname.Constructor Sets the name of the machine: in /etc/hostname, and in the running kernel. /etc/hosts is left alone.
---@field ini ccm.Ini.Constructor Keeps one setting in a file that has sections in brackets.
---@field json_setting ccm.JsonSetting.Constructor Keeps one value in a file of JSON, which may have comments and trailing commas. All else in it stays as it is: comments, order, layout.
---@field kernel_module ccm.KernelModule.Constructor Keeps a module of the kernel loaded: now by modprobe, and at boot by a file in /etc/modules-load.d.
---@field known_host ccm.KnownHost.Constructor Keeps the public key by which ssh recognises a host. Of each kind, such as ssh-ed25519, a host has one.
---@field kv ccm.Kv.Constructor Keeps one setting in a file that has a key and its value in each line, such as sshd_config.
---@field language_package ccm.LanguagePackage.Constructor Keeps a package of a language's own package manager: pip, npm or gem.
---@field line ccm.Line.Constructor Keeps one line in a text file, or keeps it out.
---@field link ccm.Link.Constructor Keeps a symbolic link. Anything else that stands at its path is not replaced.
---@field locale ccm.Locale.Constructor Keeps a locale generated by locale-gen, as Debian and Arch have it, and has the system use it.
---@field mount ccm.Mount.Constructor Keeps a file system mounted: now, and at boot by a line in /etc/fstab. A missing directory is made, and removed only if the mount fails. ccm undo brings /etc/fstab back, and leaves what is mounted and its directory.
---@field package_key ccm.PackageKey.Constructor Keeps a key that signs packages: for apt in /etc/apt/keyrings, for rpm in /etc/pki/rpm-gpg and in its database.
---@field replace ccm.Replace.Constructor Replaces what a regular expression matches in a text file, wherever it does. Where nothing matches, nothing is done.
---@field selinux_boolean ccm.SelinuxBoolean.Constructor Keeps a boolean of SELinux on or off: now in the kernel, and at boot as a local change of the policy.
---@field selinux_context ccm.SelinuxContext.Constructor Keeps which type SELinux gives to the files that a pattern matches, as a local change of the policy.
---@field swap ccm.Swap.Constructor Keeps a swap file or partition in use: now by swapon, and at boot by a line in /etc/fstab. A missing file is made if size is given; nothing else is ever formatted. With absent, the file stays: file { PATH, ensure = "absent" } after it removes it. ccm undo brings /etc/fstab back, and leaves what is in use.
---@field sysctl ccm.Sysctl.Constructor Keeps a setting of the kernel: in a file that is read at boot, and in the running kernel.
---@field timer ccm.Timer.Constructor Runs a command again and again, by a service and a timer of systemd.
---@field timezone ccm.Timezone.Constructor Sets the time zone of the machine: the link /etc/localtime, and /etc/timezone where it exists.
---@field toml_setting ccm.TomlSetting.Constructor Keeps one value in a file of TOML. A table that has lines of its own is not replaced by a value. All else in it stays as it is: comments, order, layout.
---@field unit ccm.Unit.Constructor Keeps a unit file of systemd in /etc/systemd/system and has systemd read it (daemon-reload). A name such as app@.service is a template, whose instances are services: app@blue.
---@field user ccm.User.Constructor Keeps a user in /etc/passwd, with useradd and its like.
---@field wait_for ccm.WaitFor.Constructor Waits until a port answers, a file is there or a page can be had, and fails if that takes too long. It changes nothing.
---@field yaml_setting ccm.YamlSetting.Constructor Keeps one value in a file of YAML. The value of an anchor changes for all its aliases too. All else in it stays as it is: comments, order, layout.
---@field yum_repo ccm.YumRepo.Constructor Keeps a repository in /etc/yum.repos.d, and has dnf read its index when it changes.
---@field zypper_repo ccm.ZypperRepo.Constructor Keeps a repository in /etc/zypp/repos.d, and has zypper read its index when it changes.
---@field str ccm.lib.str
---@field tbl ccm.lib.tbl
---@field path ccm.lib.path
---@field fs ccm.lib.fs
---@field json ccm.lib.json
---@field yaml ccm.lib.yaml
---@field toml ccm.lib.toml
---@field re ccm.lib.re
---@field template ccm.lib.template
---@field version ccm.lib.version
---@field net ccm.lib.net
---@field hash ccm.lib.hash
---@field base64 ccm.lib.base64
---@field time ccm.lib.time
---@field inspect ccm.lib.inspect
---@field log ccm.lib.log
---@field data ccm.lib.data
---@field secret ccm.lib.secret
---@field site ccm.lib.site
---@field module ccm.lib.module
std = {}

