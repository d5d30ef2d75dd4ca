package testsystem

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeProgram puts a program into the PATH, which has a folder of its own in $STATE and records its arguments there.
func fakeProgram(t *testing.T, name, script string) (state string) {
	t.Helper()
	state = t.TempDir()
	text := "#!/bin/sh\nset -eu\nSTATE=" + state + "\n" +
		`for a; do printf '%s\n' "$a" | sed 's/$/ /' | tr -d '\n'; done >> $STATE/calls; echo >> $STATE/calls` + "\n" + script
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return state
}

// podmanScript keeps containers and images in folders. Commands run on this machine, with the container in $SYSTEM.
const podmanScript = `
last() { for l; do :; done; echo "$l"; }
verb=$1; shift
case $verb in
info) echo ok ;;
image) test -d "$STATE/image/$(last "$@" | tr /: __)" && cat "$STATE/made" ;;
build)
  cat > "$STATE/containerfile"
  if [ -e "$STATE/made" ]; then echo '"2026-02-01T00:00:00Z"'; else echo '"2026-01-01T00:00:00Z"'; fi > "$STATE/made.new"
  mv "$STATE/made.new" "$STATE/made"
  mkdir -p "$STATE/image/$(echo "$2" | tr /: __)/var" ;;
run)
  while [ $# -gt 2 ]; do
    if [ "$1" = --name ]; then name=$2; fi
    shift
  done
  mkdir -p "$STATE/container"
  cp -a "$STATE/image/$(echo "$1" | tr /: __)" "$STATE/container/$name" ;;
exec)
  shift
  set -- "$@" --
  while [ "$1" = --env ]; do
    export "$2"
    shift 2
  done
  name=$1; shift
  test -d "$STATE/container/$name" || { echo "no such container $name" >&2; exit 125; }
  n=$# i=1
  while [ $i -lt $n ]; do a=$1; shift; set -- "$@" "$a"; i=$((i + 1)); done
  shift
  case $* in *is-system-running*) echo running; exit 0 ;; esac
  export SYSTEM="$STATE/container/$name"
  exec "$@" ;;
restart) test -d "$STATE/container/$1" ;;
commit) cp -a "$STATE/container/$1" "$STATE/image/$(echo "$2" | tr /: __)" ;;
rm) rm -rf "$STATE/container/$3" ;;
rmi) rm -rf "$STATE/image/$(echo "$2" | tr /: __)" ;;
*) echo "unknown command $verb" >&2; exit 125 ;;
esac
`

// TestContainers: podman and docker, of which only the command line is tested: it is recorded by a program that keeps
// containers in folders.
func TestContainers(t *testing.T) {
	for program, start := range map[string]string{
		"podman": "run --detach --name NAME --hostname rocky-9 --systemd=always IMAGE /sbin/init",
		"docker": "run --detach --name NAME --hostname rocky-9 --privileged --cgroupns=private --tmpfs /run --tmpfs /run/lock IMAGE /sbin/init",
	} {
		t.Run(program, func(t *testing.T) {
			state := fakeProgram(t, program, podmanScript)
			target, err := ParseTarget("rocky:9")
			require.NoError(t, err)
			contract(t, container{program}, target)
			p := NewPool(t.TempDir(), nil)
			for range 2 { // an image that is too old is made again, once
				p.Oldest = time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
				s, r, err := p.Start(t.Context(), target, container{program})
				require.NoError(t, err)
				require.Equal(t, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), r.ImageTime)
				require.NoError(t, p.End(t.Context(), s, r, false))
			}
			text, err := os.ReadFile(filepath.Join(state, "calls"))
			require.NoError(t, err)
			calls := regexp.MustCompile(`ccm-test-rocky-9-[0-9a-f]{6}`).ReplaceAllString(string(text), "NAME")
			calls = regexp.MustCompile(`localhost/ccm-test-snapshot:rocky-9-[0-9a-f]{6}`).ReplaceAllString(calls, "SNAPSHOT")
			calls = strings.ReplaceAll(calls, "localhost/ccm-test-rocky:9", "IMAGE")
			const inspect = "image inspect --format {{json .Created}} IMAGE"
			require.Equal(t, 6, strings.Count(calls, "is-system-running --wait"), "one command waits for each boot")
			var kept []string
			for line := range strings.Lines(calls) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "exec ") {
					kept = append(kept, line)
				}
			}
			require.Equal(t, []string{
				"info --format ok", inspect, "build --tag IMAGE -", inspect, start,
				"commit NAME SNAPSHOT", "rm --force --volumes NAME", strings.Replace(start, "IMAGE", "SNAPSHOT", 1),
				"restart NAME", "rm --force --volumes NAME", "rmi --force SNAPSHOT",
				inspect, "build --tag IMAGE --no-cache --pull -", inspect, start, "rm --force --volumes NAME",
				inspect, start, "rm --force --volumes NAME",
			}, kept)
			file, err := os.ReadFile(filepath.Join(state, "containerfile"))
			require.NoError(t, err)
			require.Contains(t, string(file), "FROM docker.io/library/rockylinux:9\nRUN dnf install -y systemd ")
			for _, dir := range []string{"container", "image"} {
				left, err := os.ReadDir(filepath.Join(state, dir))
				require.NoError(t, err)
				for _, x := range left {
					require.Equal(t, "localhost_ccm-test-rocky_9", x.Name())
				}
			}
		})
	}
}

// incusScript keeps instances and snapshots in folders. Commands run on this machine, with the instance in $SYSTEM.
const incusScript = `
verb=$1; shift
case $verb in
list) mkdir -p "$STATE/instance"; ls "$STATE/instance" ;;
launch) mkdir -p "$STATE/instance/$2/var" ;;
exec)
  name=$1; shift 2
  test -d "$STATE/instance/$name" || { echo "Error: Instance not found" >&2; exit 1; }
  while [ "$1" = --env ]; do
    export "$2"
    shift 2
  done
  [ "$1" = -- ] || { echo "unexpected argument $1" >&2; exit 1; }
  shift
  case $* in *is-system-running*) echo running; exit 0 ;; esac
  export SYSTEM="$STATE/instance/$name"
  exec "$@" ;;
restart) test -d "$STATE/instance/$1" ;;
snapshot | restore)
  case $verb/$1 in */create | snapshot/restore) verb=$1; shift ;; esac
  if [ "$verb" = restore ]; then
    rm -r "$STATE/instance/$1"
    cp -a "$STATE/$2" "$STATE/instance/$1"
  else
    rm -rf "$STATE/$2"
    cp -a "$STATE/instance/$1" "$STATE/$2"
  fi ;;
delete) rm -r "$STATE/instance/$2" ;;
*) echo "unknown command $verb" >&2; exit 1 ;;
esac
`

// TestInstances: Incus and LXD, of which only the command line is tested, as that of podman above.
func TestInstances(t *testing.T) {
	for name, calls := range map[string][]string{
		"incus": {"snapshot create NAME ccm-test --reuse", "snapshot restore NAME ccm-test"},
		"lxd":   {"snapshot NAME ccm-test --reuse", "restore NAME ccm-test"},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(Drivers(), func(d Driver) bool { return d.Name() == name })
			d := Drivers()[i]
			state := fakeProgram(t, d.(instances).program, incusScript)
			target, err := ParseTarget("rocky:9")
			require.NoError(t, err)
			contract(t, d, target)
			p := NewPool(t.TempDir(), nil)
			s, r, err := p.Start(t.Context(), target, d)
			require.NoError(t, err)
			require.NoError(t, s.Restore(t.Context())) // as it was made
			require.NoError(t, p.End(t.Context(), s, r, false))
			text, err := os.ReadFile(filepath.Join(state, "calls"))
			require.NoError(t, err)
			var kept []string
			for line := range strings.Lines(regexp.MustCompile(`ccm-test-rocky-9-[0-9a-f]{6}`).ReplaceAllString(string(text), "NAME")) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "exec ") && !strings.HasPrefix(line, "list ") {
					kept = append(kept, line)
				}
			}
			const launch, remove = "launch images:rockylinux/9 NAME", "delete --force NAME"
			require.Equal(t, []string{launch, calls[0], calls[1], "restart NAME", remove, launch, remove, launch, remove}, kept)
			left, err := os.ReadDir(filepath.Join(state, "instance"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// TestSSH: a machine that is there, by a program in place of ssh.
func TestSSH(t *testing.T) {
	state := fakeProgram(t, "ssh", `
[ "$1" = web1 ] && [ "$2" = -- ] || { echo "no such host $1" >&2; exit 255; }
case $3 in
*boot_id*) cat $STATE/boots 2>/dev/null || echo none; exit 0 ;;
*"systemctl reboot"*) echo again >> $STATE/boots; exit 0 ;;
*systemctl*) exit 0 ;;
esac
export SYSTEM=$STATE/machine
exec sh -c "$3"
`)
	require.NoError(t, os.MkdirAll(filepath.Join(state, "machine/var"), 0o755))
	t.Setenv("CCM_SSH", "")
	target, err := ParseTarget("ssh:web1")
	require.NoError(t, err)
	p := NewPool(t.TempDir(), []Driver{sshDriver{}})
	t.Setenv(snapshotVariable, "")
	_, _, err = p.Start(t.Context(), target, sshDriver{})
	require.EqualError(t, err, "ssh:web1: a test changes the machine, and it must be restored afterwards "+
		"(set CCM_TEST_SNAPSHOT and CCM_TEST_RESTORE to commands that save and restore $CCM_TEST_HOST)")

	t.Setenv(snapshotVariable, "test $CCM_TEST_HOST = web1 && rm -rf "+state+"/saved && cp -a "+state+"/machine "+state+"/saved")
	t.Setenv(restoreVariable, "rm -rf "+state+"/machine && cp -a "+state+"/saved "+state+"/machine")
	contract(t, sshDriver{}, target)

	target, err = ParseTarget("ssh:web2")
	require.NoError(t, err)
	_, _, err = p.Start(t.Context(), target, sshDriver{})
	require.EqualError(t, err, "ssh:web2: cannot reach web2 with ssh")
}
