package testsystem

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQemuProcess is the program qemu-system of the test below: it listens where ssh of the machine would, and ends when
// the machine is switched off.
func TestQemuProcess(t *testing.T) {
	if os.Getenv("CCM_TEST_QEMU_PROCESS") == "" {
		t.Skip("a process of TestQemu")
	}
	for _, arg := range os.Args {
		if m := regexp.MustCompile(`hostfwd=tcp:([^-]*)-:22`).FindStringSubmatch(arg); m != nil {
			l, err := net.Listen("tcp", m[1])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile("machine.pid", []byte(strconv.Itoa(os.Getpid())), 0o600))
			for {
				c, err := l.Accept()
				require.NoError(t, err)
				_, _ = c.Write([]byte("SSH-2.0-test\r\n"))
				_ = c.Close()
			}
		}
	}
}

// TestQemu: virtual machines, of which only the command lines are tested. A disk is a folder.
func TestQemu(t *testing.T) {
	own, err := os.Executable()
	require.NoError(t, err)
	qemuState := fakeProgram(t, qemuProgram, "CCM_TEST_QEMU_PROCESS=1 exec "+own+` -test.run='^TestQemuProcess$' -- "$@"`)
	fakeProgram(t, qemuImage, `
for disk; do :; done
case $1-$2 in
info-*) echo '{"format": "qcow2"}' ;;
create-*) mkdir -p "$disk/var" ;;
snapshot--c) cp -a "$disk" "$disk.$3" ;;
snapshot--d) rm -r "$disk.$3" ;;
snapshot--a) rm -r "$disk"; cp -a "$disk.$3" "$disk" ;;
esac
`)
	fakeProgram(t, "ssh", `
dir=${4%/key}
kill -0 "$(cat "$dir/machine.pid")" || { echo "connection refused" >&2; exit 255; }
for line; do :; done
case $line in
*boot_id*) cat "$dir/boots" 2>/dev/null || echo none; exit 0 ;;
*"systemctl reboot"*) echo again >> "$dir/boots"; exit 0 ;;
*"systemctl poweroff"*) kill "$(cat "$dir/machine.pid")"; exit 255 ;;
*is-system-running*) echo running; exit 0 ;;
esac
export SYSTEM=$dir/disk.qcow2
exec sh -c "$line"
`)
	t.Setenv("CCM_SSH", "")
	image := filepath.Join(t.TempDir(), "image.qcow2")
	target, err := ParseTarget("qemu:" + image)
	require.NoError(t, err)
	_, _, err = NewPool(t.TempDir(), nil).Start(t.Context(), target, qemu{})
	require.EqualError(t, err, "qemu:"+image+": expected a disk image at "+image)
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	contract(t, qemu{}, target)
	calls, err := os.ReadFile(filepath.Join(qemuState, "calls"))
	require.NoError(t, err)
	require.Contains(t, string(calls), "-drive driver=vvfat,dir=seed,label=cidata,if=virtio,readonly=on")
	require.Contains(t, string(calls), "-accel kvm -accel tcg")

	// What is left of a process that was killed.
	p := NewPool(t.TempDir(), []Driver{qemu{}})
	_, r, err := p.Start(t.Context(), target, qemu{})
	require.NoError(t, err)
	require.NoError(t, r.lock.Close()) // as the kernel does it
	removed, err := p.Reclaim()
	require.NoError(t, err)
	require.Equal(t, []string{r.Name}, removed)
	require.Zero(t, newQemuSystem(r).livingPID(t.Context()))
}

// TestQemuImage: a real image, which has the name CCM_TEST_QEMU_IMAGE.
func TestQemuImage(t *testing.T) {
	image := os.Getenv("CCM_TEST_QEMU_IMAGE")
	if image == "" {
		t.Skip("CCM_TEST_QEMU_IMAGE is not set")
	}
	if _, err := exec.LookPath(qemuProgram); err != nil {
		t.Skip(err)
	}
	target, err := ParseTarget("qemu:" + image)
	require.NoError(t, err)
	contract(t, qemu{}, target)
}
