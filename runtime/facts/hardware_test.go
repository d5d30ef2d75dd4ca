package facts

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// procFiles are of a machine with two processors and some memory.
var procFiles = map[string]string{
	"/etc/os-release": "ID=debian\n",
	"/proc/cpuinfo": `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 85
model name	: Some Processor
stepping	: 7
cpu MHz		: 2500.000
cache size	: 36608 KB
physical id	: 0
core id		: 0
flags		: fpu vme

processor	: 1
vendor_id	: GenuineIntel
cpu family	: 6
model		: 85
model name	: Some Processor
stepping	: 7
cpu MHz		: 2500.000
cache size	: 36608 KB
physical id	: 0
core id		: 1
flags		: fpu vme
`,
	"/proc/meminfo": `SwapTotal:          1024 kB
SwapFree:           1000 kB
MemTotal:        8000000 kB
MemFree:         1000000 kB
MemAvailable:    6000000 kB
Buffers:          500000 kB
Cached:          4000000 kB
`,
	"/proc/swaps":       "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/vdb                                partition\t1024\t\t24\t\t-2\n",
	"/proc/vmstat":      "pswpin 0\n",
	"/proc/uptime":      "86400.25 100.00\n",
	"/proc/stat":        "cpu  1 2 3\nbtime 1700000000\nprocesses 99\n",
	"/proc/1/comm":      "systemd\n",
	"/proc/27/comm":     "sshd\n",
	"/proc/filesystems": "nodev\tproc\n\text4\n",
	"/proc/1/mountinfo": "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n23 22 0:21 / /proc rw - proc proc rw\n24 22 254:16 / /data rw - ext4 /dev/vdb rw\n25 22 254:32 / /gone rw - ext4 /dev/vdc rw\n",
	"/data/x":           "",
	"/proc/cmdline":     "BOOT_IMAGE=/vmlinuz root=/dev/vda quiet dyndbg=\"file ec.c +p\" console=tty0 console=ttyS0\n",
	"/proc/loadavg":     "0.25 1.50 2.00 1/112 4711\n",
	"/proc/modules":     "kvm_intel 372736 0 - Live 0x0\nkvm 1028096 1 kvm_intel, Live 0x0\nnfsd 9 4 [permanent], Live 0x0\n",
	"/proc/1/cgroup":    "0::/init.scope\n",

	"/proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
	"/sys/fs/cgroup/memory.max":       "2147483648\n",

	"/sys/class/dmi/id/sys_vendor":     "Dell Inc.\n",
	"/sys/class/dmi/id/product_name":   "PowerEdge R640\n",
	"/sys/class/dmi/id/product_serial": "ABC1234\n",
	"/sys/class/dmi/id/chassis_type":   "23\n",
	"/sys/class/dmi/id/bios_vendor":    "Dell Inc.\n",
	"/sys/class/dmi/id/bios_date":      "12/01/2024\n",

	"/etc/ssh/ssh_host_ed25519_key.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOj5eLmOGDTXVB04tJIQXt0eaD+oGq3qW81naibcgihE root@web1\n",
	"/etc/ssh/ssh_host_dsa_key.pub":     "",
	"/etc/machine-id":                   "0123456789abcdef0123456789abcdef\n",
	"/proc/net/route":                   "",
	"/proc/net/ipv6_route":              "",
}

func TestCPU(t *testing.T) {
	v := rootWith(t, procFiles)
	require.Equal(t, int64(2), get(t, v, "cpu.count"))
	require.Equal(t, "Some Processor", get(t, v, "cpu.model"))
	require.Equal(t, map[string]any{
		"cpu": int64(1), "vendorId": "GenuineIntel", "family": "6", "model": "85", "stepping": int64(7),
		"physicalId": "0", "coreId": "1", "cores": int64(1), "modelName": "Some Processor", "mhz": int64(2500),
		"cacheSize": int64(36608), "flags": []any{"fpu", "vme"}, "microcode": "",
	}, get(t, v, "cpu.info.1"))
}

func TestMemory(t *testing.T) {
	v := rootWith(t, procFiles)
	require.Equal(t, int64(8000000*1024), get(t, v, "memory.total"))
	require.Equal(t, int64(6000000*1024), get(t, v, "memory.available"))
	require.Equal(t, int64(1000000*1024), get(t, v, "memory.free"))
	require.Equal(t, int64(2000000*1024), get(t, v, "memory.used"))
	require.Equal(t, get(t, v, "memory.virtual.used"), get(t, v, "memory.used"))
	require.Equal(t, int64(8000000*1024), get(t, v, "memory.virtual.total"))
	require.Equal(t, []any{map[string]any{"name": "/dev/vdb", "usedBytes": int64(24 * 1024), "freeBytes": int64(1000 * 1024)}}, get(t, v, "memory.swap.devices"))
}

func TestHostInfo(t *testing.T) {
	info := get(t, rootWith(t, procFiles), "host.info").(map[string]any)
	require.Equal(t, int64(86400), info["uptime"])
	require.Equal(t, int64(1700000000), info["bootTime"])
	require.Equal(t, int64(2), info["procs"])
	require.Equal(t, "01234567-89ab-cdef-0123-456789abcdef", info["hostId"])
	require.Equal(t, "linux", info["os"])
}

func TestPartition(t *testing.T) {
	v := rootWith(t, procFiles)
	require.Equal(t, map[string]any{
		"device": "/dev/vdb", "mountpoint": "/data", "fstype": "ext4", "opts": []any{"rw"},
	}, get(t, v, "partition.partitions.1"))
	require.Len(t, get(t, v, "partition.partitions"), 3, "proc is no file system on a device")
	require.Len(t, get(t, v, "partition.usage"), 2, "what does not exist has no usage")
	require.Equal(t, "/data", get(t, v, "partition.usage.1.path"))
	require.Positive(t, get(t, v, "partition.usage.1.total"))
}

func TestWhatTheKernelDoesNotTellIsAbsent(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/os-release": "ID=debian\n", "/proc/self/x": ""})
	for _, name := range []string{"cpu", "memory", "partition", "init", "host.info.uptime", "host.info.bootTime", "host.info.procs"} {
		requireAbsent(t, v, name)
	}
	tree, err := New(t.Context(), v, Standard(), nil).Tree()
	require.NoError(t, err)
	require.NotContains(t, tree, "memory")
	require.Contains(t, tree, "os")
}

func TestWhatCannotBeReadIsAnErrorOfItsBranch(t *testing.T) {
	v := rootWith(t, procFiles)
	for file, branch := range map[string]string{"cpuinfo": "cpu", "meminfo": "memory", "stat": "host"} {
		path := filepath.Join(v.Root(), "proc", file)
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(file, path)) // a link to itself cannot be read
		_, err := New(t.Context(), v, Standard(), nil).Get(branch)
		require.ErrorContains(t, err, "fact "+branch+": ")
		require.ErrorContains(t, err, "too many levels of symbolic links")
	}
	require.Equal(t, "debian", get(t, v, "os.id"))
}

func TestUser(t *testing.T) {
	uid, gid := os.Geteuid(), os.Getegid()
	files := map[string]string{
		"/etc/passwd": "other:x:99999:99999::/home/other:/bin/sh\nme:x:" + strconv.Itoa(uid) + ":" + strconv.Itoa(gid) + ":Me,,,:/srv/me:/bin/sh\n",
		"/etc/group":  "us:x:" + strconv.Itoa(gid) + ":\n",
	}
	require.Equal(t, map[string]any{
		"uid": int64(uid), "gid": int64(gid), "name": "me", "group": "us", "home": "/srv/me",
	}, get(t, rootWith(t, files), "user"))

	t.Setenv("HOME", "/from/the/environment")
	others := map[string]string{"/etc/passwd": "other:x:99999:99999::/home/other:/bin/sh\n", "/etc/group": "other:x:99999:\n"}
	require.Equal(t, map[string]any{
		"uid": int64(uid), "gid": int64(gid), "name": strconv.Itoa(uid), "group": strconv.Itoa(gid), "home": "/from/the/environment",
	}, get(t, rootWith(t, others), "user"))
}

func TestUserOwnsWhatItMakes(t *testing.T) {
	v := &host.New(host.Options{}).View
	uid, err := v.UserID(get(t, v, "user.name").(string))
	require.NoError(t, err)
	require.EqualValues(t, os.Geteuid(), uid)
}

// sysDevices are the files of a disk with a partition, a logical volume, an array, a drive for discs and a loop device
// that is not in use.
var sysDevices = map[string]string{
	"/sys/devices/pci0/block/sda/size":             "2097152\n",
	"/sys/devices/pci0/block/sda/dev":              "8:0\n",
	"/sys/devices/pci0/block/sda/ro":               "0\n",
	"/sys/devices/pci0/block/sda/removable":        "0\n",
	"/sys/devices/pci0/block/sda/queue/rotational": "1\n",
	"/sys/devices/pci0/block/sda/device/vendor":    "ATA     \n",
	"/sys/devices/pci0/block/sda/device/model":     "ST1000DM010-2EP1\n",
	"/sys/devices/pci0/block/sda/device/type":      "0\n",
	"/sys/devices/pci0/block/sda/sda1/size":        "1048576\n",
	"/sys/devices/pci0/block/sda/sda1/dev":         "8:1\n",
	"/sys/devices/pci0/block/sda/sda1/ro":          "1\n",
	"/sys/devices/pci0/block/sda/sda1/partition":   "1\n",
	"/sys/devices/virtual/block/dm-0/size":         "8\n",
	"/sys/devices/virtual/block/dm-0/dm/name":      "vg0-root\n",
	"/sys/devices/virtual/block/dm-0/dm/uuid":      "LVM-abc\n",
	"/sys/devices/virtual/block/md0/size":          "8\n",
	"/sys/devices/virtual/block/md0/md/level":      "raid1\n",
	"/sys/devices/virtual/block/loop0/size":        "0\n",
	"/sys/devices/virtual/block/loop1/size":        "16\n",
	"/sys/devices/pci0/block/sr0/size":             "2097151\n",
	"/sys/devices/pci0/block/sr0/removable":        "1\n",
	"/sys/devices/pci0/block/sr0/device/type":      "5\n",
	"/run/udev/data/b8:0":                          "E:ID_SERIAL_SHORT=ZN1ABC\n",
	"/run/udev/data/b8:1":                          "S:disk/by-uuid/1\nE:ID_FS_TYPE=ext4\nE:ID_FS_UUID=0f0f\nE:ID_FS_LABEL=root\nE:ID_SERIAL_SHORT=ZN1ABC\n",
}

func TestBlockDevices(t *testing.T) {
	v := rootWith(t, procFiles, sysDevices)
	dir := filepath.Join(v.Root(), "sys/class/block")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, device := range []string{"pci0/block/sda", "pci0/block/sda/sda1", "pci0/block/sr0", "virtual/block/dm-0", "virtual/block/md0", "virtual/block/loop0", "virtual/block/loop1"} {
		require.NoError(t, os.Symlink("../../devices/"+device, filepath.Join(dir, filepath.Base(device))))
	}
	plainDisk := func(size int64, kind string) map[string]any {
		return map[string]any{"size": size, "type": kind, "readonly": false, "rotational": false, "removable": false}
	}
	with := func(f map[string]any, names string, val any) map[string]any { f[names] = val; return f }
	require.Equal(t, map[string]any{
		"sda": map[string]any{
			"size": int64(1 << 30), "type": "disk", "readonly": false, "rotational": true, "removable": false,
			"vendor": "ATA", "model": "ST1000DM010-2EP1", "serial": "ZN1ABC",
		},
		"sda1": map[string]any{
			"size": int64(1 << 29), "type": "part", "readonly": true, "rotational": true, "removable": false, "parent": "sda",
			"fstype": "ext4", "uuid": "0f0f", "label": "root",
		},
		"dm-0":  with(plainDisk(4096, "lvm"), "mapper", "vg0-root"),
		"md0":   plainDisk(4096, "raid1"),
		"loop1": plainDisk(8192, "loop"),
		"sr0":   with(plainDisk(2097151*512, "rom"), "removable", true),
	}, get(t, v, "block_devices"))
	requireAbsent(t, rootWith(t, procFiles), "block_devices")
}

func TestHardwareAndKernel(t *testing.T) {
	v := rootWith(t, procFiles)
	require.Equal(t, map[string]any{
		"manufacturer": "Dell Inc.",
		"product":      map[string]any{"name": "PowerEdge R640", "serial_number": "ABC1234"},
		"chassis":      map[string]any{"type": "Rack Mount Chassis"},
		"bios":         map[string]any{"vendor": "Dell Inc.", "release_date": "12/01/2024"},
	}, get(t, v, "dmi"))
	require.Equal(t, map[string]any{
		"BOOT_IMAGE": "/vmlinuz", "root": "/dev/vda", "quiet": "", "dyndbg": "file ec.c +p", "console": "ttyS0",
	}, get(t, v, "kernel.parameters"))
	require.Equal(t, map[string]any{"1m": 0.25, "5m": 1.5, "15m": 2.0}, get(t, v, "load"))
	require.Equal(t, map[string]any{"time": int64(1700000000), "id": "11111111-2222-3333-4444-555555555555"}, get(t, v, "boot"))
	require.Equal(t, int64(86400), get(t, v, "uptime"))
	require.Equal(t, map[string]any{
		"kvm_intel": map[string]any{"size": int64(372736), "used_by": []any{}},
		"kvm":       map[string]any{"size": int64(1028096), "used_by": []any{"kvm_intel"}},
		"nfsd":      map[string]any{"size": int64(9), "used_by": []any{}},
	}, get(t, v, "modules"))
	require.Equal(t, map[string]any{
		"total": int64(1024 * 1024), "free": int64(1000 * 1024),
		"devices": []any{map[string]any{"device": "/dev/vdb", "type": "partition", "size": int64(1024 * 1024), "used": int64(24 * 1024), "priority": int64(-2)}},
	}, get(t, v, "swap"))
	require.Equal(t, map[string]any{"ed25519": map[string]any{
		"type": "ssh-ed25519", "key": "AAAAC3NzaC1lZDI1NTE5AAAAIOj5eLmOGDTXVB04tJIQXt0eaD+oGq3qW81naibcgihE",
		"fingerprint": "SHA256:uEYVdvXCeLdbc4men0XXwWGRmtBaJezI2wg0QL15zps",
	}}, get(t, v, "ssh"))

	board := rootWith(t, map[string]string{"/proc/uptime": "1.0 1.0\n", "/proc/device-tree/model": "Raspberry Pi 4 Model B\x00"})
	require.Equal(t, map[string]any{"product": map[string]any{"name": "Raspberry Pi 4 Model B"}}, get(t, board, "dmi"))
}

func TestMemoryLimit(t *testing.T) {
	const unlimited = "9223372036854771712\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none":                     {map[string]string{"/proc/1/cgroup": "0::/init.scope\n", "/sys/fs/cgroup/init.scope/memory.max": "max\n"}, 0},
		"of a container":           {map[string]string{"/proc/1/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "536870912\n"}, 536870912},
		"of a group further up":    {map[string]string{"/proc/1/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "4096\n"}, 4096},
		"the least":                {map[string]string{"/proc/1/cgroup": "0::/a\n", "/sys/fs/cgroup/a/memory.max": "8192\n", "/sys/fs/cgroup/memory.max": "4096\n"}, 4096},
		"not of the service":       {map[string]string{"/proc/1/cgroup": "0::/init.scope\n", "/proc/self/cgroup": "0::/system.slice/ccm.service\n", "/sys/fs/cgroup/system.slice/ccm.service/memory.max": "4096\n"}, 0},
		"version 1, none":          {map[string]string{"/proc/1/cgroup": "4:memory:/\n3:cpu:/\n0::/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": unlimited}, 0},
		"version 1, path of other": {map[string]string{"/proc/1/cgroup": "4:cpu,memory:/docker/0123\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "4096\n"}, 4096},
	} {
		t.Run(name, func(t *testing.T) {
			v := rootWith(t, map[string]string{"/proc/meminfo": procFiles["/proc/meminfo"], "/proc/vmstat": "", "/proc/swaps": procFiles["/proc/swaps"]}, c.files)
			if c.want == 0 {
				requireAbsent(t, v, "memory.limit")
				return
			}
			require.Equal(t, c.want, get(t, v, "memory.limit"))
		})
	}
}

func TestTimezone(t *testing.T) {
	zone, err := os.ReadFile("/usr/share/zoneinfo/Asia/Kolkata") // without summer time
	if err != nil {
		t.Skip("no time zones here")
	}
	kolkata := map[string]any{"name": "Asia/Kolkata", "abbreviation": "IST", "offset": int64(19800)}
	linked := rootWith(t, procFiles, map[string]string{"/usr/share/zoneinfo/posix/Asia/Kolkata": string(zone)})
	require.NoError(t, os.Symlink("/usr/share/zoneinfo/posix/Asia/Kolkata", filepath.Join(linked.Root(), "etc/localtime")))
	require.Equal(t, kolkata, get(t, linked, "timezone"))
	copied := rootWith(t, procFiles, map[string]string{"/etc/localtime": string(zone), "/etc/timezone": "Asia/Kolkata\n"})
	require.Equal(t, kolkata, get(t, copied, "timezone"))
	nameless := rootWith(t, procFiles, map[string]string{"/etc/localtime": string(zone)})
	requireAbsent(t, nameless, "timezone.name")
	require.Equal(t, "UTC", get(t, rootWith(t, procFiles), "timezone.name"))
}

// Two looks between which nothing was changed differ in volatile facts alone.
func TestWithoutVolatile(t *testing.T) {
	first := rootWith(t, procFiles, sysDevices)
	later := rootWith(t, procFiles, sysDevices, map[string]string{
		"/proc/uptime":  "86500.25 100.00\n",
		"/proc/loadavg": "9.25 9.50 9.00 1/112 4712\n",
		"/proc/stat":    "cpu  1 2 3\nbtime 1700000001\nprocesses 99\n", // the clock was set
		"/proc/28/comm": "sh\n",
		"/proc/swaps":   strings.Replace(procFiles["/proc/swaps"], "\t24\t", "\t32\t", 1),
		"/proc/meminfo": strings.NewReplacer("1000000 kB", "900000 kB", "6000000 kB", "5000000 kB", "1000 kB", "992 kB").Replace(procFiles["/proc/meminfo"]),
		"/proc/cpuinfo": strings.ReplaceAll(procFiles["/proc/cpuinfo"], "2500.000", "1200.000"),
	})
	trees := make([]map[string]any, 2)
	for i, v := range []*host.View{first, later} {
		tree, err := New(t.Context(), v, Standard(), nil).Tree()
		require.NoError(t, err)
		trees[i] = tree
	}
	// The paths of the disk that holds the roots, and what is on it, are of this machine.
	for _, tree := range trees {
		delete(tree["partition"].(map[string]any), "usage")
	}
	require.NotEqual(t, trees[0], trees[1])
	require.Equal(t, WithoutVolatile(trees[0]), WithoutVolatile(trees[1]))
	require.Contains(t, trees[0], "load", "the argument is not changed")
	require.Contains(t, WithoutVolatile(trees[0])["memory"], "total")
}
