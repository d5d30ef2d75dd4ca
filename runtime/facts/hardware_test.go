package facts

import (
	"os"
	"path/filepath"
	"strconv"
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
	"/proc/meminfo": `MemTotal:        8000000 kB
MemFree:         1000000 kB
MemAvailable:    6000000 kB
Buffers:          500000 kB
Cached:          4000000 kB
`,
	"/proc/swaps":          "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/vdb                                partition\t1024\t\t24\t\t-2\n",
	"/proc/vmstat":         "pswpin 0\n",
	"/proc/uptime":         "86400.25 100.00\n",
	"/proc/stat":           "cpu  1 2 3\nbtime 1700000000\nprocesses 99\n",
	"/proc/1/comm":         "systemd\n",
	"/proc/27/comm":        "sshd\n",
	"/proc/filesystems":    "nodev\tproc\n\text4\n",
	"/proc/1/mountinfo":    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n23 22 0:21 / /proc rw - proc proc rw\n24 22 254:16 / /data rw - ext4 /dev/vdb rw\n25 22 254:32 / /gone rw - ext4 /dev/vdc rw\n",
	"/data/x":              "",
	"/etc/machine-id":      "0123456789abcdef0123456789abcdef\n",
	"/proc/net/route":      "",
	"/proc/net/ipv6_route": "",
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
	require.Len(t, get(t, v, "partition.usage"), 2, "what is not there has no usage")
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
