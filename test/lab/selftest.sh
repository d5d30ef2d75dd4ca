#!/bin/sh
# `lab selftest`: checks the lab on this machine, step by step, with times.
# shellcheck disable=SC2016,SC2086,SC2317
set -eu

LAB=$(dirname "$(readlink -f "$0")")/lab
me=st$$
a=$me-a b=$me-b c=$me-c
tmp=$(mktemp -d)
passed=0 failed=0

finish() {
  trap - EXIT
  "$LAB" down "$a" "$b" "$c"
  rm -rf "$tmp"
  exit "$1"
}
trap 'finish 1' EXIT
trap 'finish 130' INT
trap 'finish 143' TERM HUP

ms() { echo $(($(date +%s%N) / 1000000)); }

# check TITLE STATUS REGEX CMD...: runs CMD; its status must be STATUS (or "fail", for any but 0) and its output, both
# streams, must match REGEX (empty matches anything).
check() {
  title=$1 want=$2 regex=$3
  shift 3
  t0=$(ms) got=0
  "$@" > "$tmp/out" 2>&1 < /dev/null || got=$?
  t=$(($(ms) - t0))
  if { [ "$got" = "$want" ] || { [ "$want" = fail ] && [ "$got" != 0 ]; }; } &&
    { [ -z "$regex" ] || { tr '\n' ' ' < "$tmp/out"; echo; } | grep -Eq -- "$regex"; }; then
    passed=$((passed + 1))
    printf 'ok   %6d ms  %s\n' "$t" "$title"
  else
    failed=$((failed + 1))
    printf 'FAIL %6d ms  %s\n' "$t" "$title"
    printf '     %s\n     status %s, wanted %s; output, wanted /%s/:\n' "$*" "$got" "$want" "$regex"
    awk '{ print "     | " $0 }' "$tmp/out"
  fi
}

on() { n=$1; shift; "$LAB" exec "$n" -- "$@"; }          # on NAME CMD...
in_a() { on "$a" "$@"; }
sh_a() { on "$a" sh -c "$@"; }
section() { printf '\n# %s\n' "$*"; }

# State that must be the same before and after.
census() {
  wc -l < /proc/self/mountinfo
  ls /sys/class/net
  ls /run/systemd/nspawn 2>/dev/null || :
  ls -d /sys/fs/cgroup/ccm-lab."$me"* /sys/fs/cgroup/unified/ccm-lab."$me"* 2>/dev/null || :
  for p in /proc/[0-9]*; do tr '\0' ' ' < "$p/cmdline"; echo; done 2>/dev/null |
    grep -e "--machine=[s]${me#s}-" || :
}

section build
check 'check' 0 '^$' "$LAB" check
check 'check, where overlayfs cannot be mounted' 1 'cannot mount here' \
  setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$LAB" check
check 'build, cached' 0 '^$' "$LAB" build
mkdir -p "$tmp/pub/sub"
echo shown > "$tmp/pub/file"
printf '#!/bin/sh\necho ran\n' > "$tmp/pub/sub/tool"
chmod 755 "$tmp/pub/sub/tool"
mkdir -p /run/systemd/nspawn
census > "$tmp/before"

section up, exec, cp
check 'up, with a read-only bind' 0 '^$' "$LAB" up "$a" --bind "$tmp/pub:/opt/pub"
check 'up of the same name is refused' 1 'up already' "$LAB" up "$a"
check 'ps' 0 "$a +up +[0-9]+" "$LAB" ps
check 'exec, nothing but its overhead' 0 '^$' in_a true
check 'exec again' 0 '^$' in_a true
check 'exec: status' 7 '^$' in_a sh -c 'exit 7'
check 'exec: status of a signal' 137 '' sh_a 'kill -9 $$'
check 'exec: no such command' 127 '' in_a nonesuch
check 'exec: no such lab' 1 'no lab' "$LAB" exec "$me-x" -- true
check 'exec: arguments stay whole' 0 '^<a b><\$x"><><\* >$' in_a printf '<%s>' 'a b' '$x"' '' '*
'
check 'exec: stdout apart from stderr' 0 '^out $' sh -c "'$LAB' exec $a -- sh -c 'echo out; echo err >&2' 2>/dev/null"
check 'exec: stdin' 0 '^4 $' sh -c "printf abcd | '$LAB' exec $a -- wc -c"
check 'exec: 8 MB of output' 0 '^8000000 $' sh -c "'$LAB' exec $a -- head -c 8000000 /dev/zero | wc -c"
check 'exec: environment' 0 'HOME=/root .*PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin' sh_a 'env | sort'
check 'exec: is root, pid 1 is systemd' 0 '^0 systemd $' sh_a 'id -u; cat /proc/1/comm'
check 'exec: no more capabilities than the lab itself' 0 '^1 1 $' \
  sh_a 'for f in CapPrm CapBnd; do grep -h $f /proc/1/status /proc/self/status | sort -u | wc -l; done'
check 'the system runs' 0 '^running $' in_a systemctl is-system-running
check 'D-Bus answers' 0 'org.freedesktop.systemd1' in_a busctl --no-pager list
check 'the host name' 0 "^$a \$" in_a hostname
check 'loopback is the only interface' 0 '^lo $' in_a ls /sys/class/net
check 'no route out' 0 '^$' in_a ip route
check 'loopback carries TCP' 0 '^hi $' in_a python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname())
s.accept()[0].sendall(b"hi"); print(c.recv(9).decode())'
check 'bind: read' 0 '^shown $' in_a cat /opt/pub/file
check 'bind: run' 0 '^ran $' in_a /opt/pub/sub/tool
check 'bind: no write' fail 'Read-only' sh_a 'echo x > /opt/pub/file'
check 'cp: a file to a name' 0 '' "$LAB" cp "$a" "$tmp/pub/sub/tool" /usr/local/bin/tool
check 'cp: it runs' 0 '^ran $' in_a tool
check 'cp: a file into a directory' 0 '' "$LAB" cp "$a" "$tmp/pub/file" /root/new/
check 'cp: a directory' 0 '' "$LAB" cp "$a" "$tmp/pub" /root/new/pub
check 'cp: what came' 0 '^/root/new/file /root/new/pub/file /root/new/pub/sub/tool $' \
  sh_a 'find /root/new -type f | sort'

section systemd
unit='cat > /etc/systemd/system/$1.service'
write_unit() { printf '%b' "$2" | "$LAB" exec "$a" -- sh -c "$unit" sh "$1"; }
check 'is-enabled: no such unit' 1 'No such file' in_a systemctl is-enabled st
check 'is-active: no such unit' 3 '^inactive $' in_a systemctl is-active st
check 'status: no such unit' 4 'could not be found' in_a systemctl status st
check 'start: no such unit' 5 'not found' in_a systemctl start st
write_unit st '[Unit]\nDescription=one\n[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n'
check 'daemon-reload' 0 '^$' in_a systemctl daemon-reload
check 'is-enabled: disabled' 1 '^disabled $' in_a systemctl is-enabled st
check 'start' 0 '^$' in_a systemctl start st
check 'is-active: active' 0 '^active $' in_a systemctl is-active st
check 'enable' 0 'Created symlink' in_a systemctl enable st
check 'enable again' 0 '^$' in_a systemctl enable st
check 'is-enabled: enabled' 0 '^enabled $' in_a systemctl is-enabled st
check 'reload' 0 '^$' in_a systemctl reload st
check 'restart' 0 '^$' in_a systemctl restart st
write_unit st '[Unit]\nDescription=two\n[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n'
check 'a changed unit wants a reload' 0 'NeedDaemonReload=yes' in_a systemctl show -p NeedDaemonReload st
check 'daemon-reload takes the change' 0 'Description=two NeedDaemonReload=no' \
  sh_a 'systemctl daemon-reload && systemctl show -p NeedDaemonReload -p Description st'
check 'reload of a unit that cannot' 3 'not applicable' in_a systemctl reload st
check 'stop' 0 '^$' in_a systemctl stop st
check 'is-active: inactive' 3 '^inactive $' in_a systemctl is-active st
check 'disable' 0 'Removed' in_a systemctl disable st
check 'mask refuses a unit file in /etc' 1 'already exists' in_a systemctl mask st
check 'static' 0 '^static $' sh_a 'printf "[Service]\nExecStart=/bin/true\n" > /etc/systemd/system/sts.service
  systemctl daemon-reload; systemctl is-enabled sts'
check 'enable of a static unit' 0 'no installation config' in_a systemctl enable sts
check 'alias' 0 '^enabled alias $' sh_a 'printf "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nAlias=stalias.service\nWantedBy=multi-user.target\n" \
  > /etc/systemd/system/stb.service; systemctl enable -q stb; systemctl is-enabled stb stalias'
check 'an alias starts its unit' 0 '^active $' sh_a 'systemctl start stalias; systemctl is-active stb'
check 'masked' 1 '^masked $' sh_a 'mkdir -p /usr/local/lib/systemd/system
  printf "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n" > /usr/local/lib/systemd/system/stm.service
  systemctl daemon-reload; systemctl mask -q stm; systemctl is-enabled stm'
check 'start of a masked unit' 1 'is masked' in_a systemctl start stm
check 'enable of a masked unit' 1 'is masked' in_a systemctl enable stm
check 'unmask' 1 '^disabled $' sh_a 'systemctl unmask -q stm; systemctl is-enabled stm'
check 'linked' 1 '^linked $' sh_a 'cp /etc/systemd/system/st.service /root/stl.service
  systemctl link -q /root/stl.service; systemctl is-enabled stl'
check 'a template instance' 0 '^enabled active $' sh_a 'printf "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n" \
  > /etc/systemd/system/stt@.service; systemctl enable -q --now stt@one; systemctl is-enabled stt@one; systemctl is-active stt@one'
check 'a unit that fails at once' 1 'control process exited' sh_a 'printf "[Service]\nType=oneshot\nExecStart=/bin/false\n" \
  > /etc/systemd/system/stf.service; systemctl daemon-reload; systemctl start stf'
check 'is-active: failed' 3 '^failed $' in_a systemctl is-active stf
check 'the system is degraded' 1 '^degraded $' in_a systemctl is-system-running
check 'reset-failed' 0 '^running $' sh_a 'systemctl reset-failed; systemctl is-system-running'
check 'kill -9 of a service: failed by signal' 0 '^signal failed $' \
  sh_a 'systemctl start st; kill -9 $(systemctl show -P MainPID st)
  timeout 5 sh -c "until systemctl -q is-failed st; do sleep 0.02; done"
  systemctl show -P Result st; systemctl show -P ActiveState st; systemctl reset-failed st'
check 'kill -9 with Restart=always: a new process' 0 '^again active $' \
  sh_a 'printf "[Service]\nExecStart=/bin/sleep infinity\nRestart=always\nRestartSec=0\n" > /etc/systemd/system/str.service
  systemctl daemon-reload; systemctl start str; export p=$(systemctl show -P MainPID str); kill -9 $p
  timeout 5 sh -c "until q=\$(systemctl show -P MainPID str); [ \$q != \$p ] && [ \$q != 0 ]; do sleep 0.02; done" && echo again
  systemctl is-active str; systemctl stop str'
check 'systemd-run --wait' 3 '' in_a systemd-run --quiet --wait --pipe sh -c 'exit 3'
check 'the journal' 0 'one two|Started' sh_a 'journalctl --no-pager -q -u st | tail -n 5'

section apt
apt='DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Options::=--force-confold'
version="dpkg-query -Wf '\${db:Status-Abbrev}\${Version}\n'"
check 'versions on offer' 0 '2\.0.*1\.1.*1\.0' in_a apt-cache madison ccm-demo
check 'apt-get update' 0 '' sh_a "$apt update"
check 'install ccm-demo=1.0' 0 '' in_a env DEBIAN_FRONTEND=noninteractive apt-get install -y ccm-demo=1.0
check 'it is 1.0' 0 '^ii 1\.0 1\.0 $' sh_a "$version ccm-demo; ccm-demo"
check 'upgrade to 1.1, conffile edited' 0 '' sh_a "echo mine >> /etc/ccm-demo/demo.conf; $apt install ccm-demo=1.1"
check 'the edit is kept' 0 '^ii 1\.1 1\.1 # default of 1\.0 level=info mine # default of 1\.1 ' \
  sh_a "$version ccm-demo; ccm-demo; cat /etc/ccm-demo/demo.conf /etc/ccm-demo/demo.conf.dpkg-dist"
check 'install at the newest: 2.0' 0 '^ii 2\.0' sh_a "$apt install ccm-demo > /dev/null; $version ccm-demo"
check 'downgrade is refused unless allowed' 100 '' sh_a "$apt install ccm-demo=1.0"
check 'downgrade to 1.0' 0 '^ii 1\.0' sh_a "$apt install --allow-downgrades ccm-demo=1.0 > /dev/null; $version ccm-demo"
check 'an edited conffile with no choice made: fails' 100 'end of file on stdin' sh_a 'DEBIAN_FRONTEND=noninteractive apt-get -qq -y install ccm-demo=2.0 < /dev/null'
check 'it is left unpacked' 0 '^iU 2\.0|^iF 2\.0' sh_a "$version ccm-demo"
check 'dpkg --configure -a repairs it' 0 '^ii 2\.0' sh_a "dpkg --force-confold --configure -a > /dev/null 2>&1; $version ccm-demo"
check 'remove keeps the conffile' 0 '^rc 2\.0 .*mine' sh_a "$apt remove ccm-demo > /dev/null; $version ccm-demo; cat /etc/ccm-demo/demo.conf"
check 'purge removes it' fail 'no packages found' sh_a "$apt purge ccm-demo > /dev/null; [ ! -e /etc/ccm-demo ] && $version ccm-demo"
check 'the epoch outranks' 0 '^ii 1:0\.9-2\+lab1' sh_a "$apt install ccm-demo-epoch > /dev/null; $version ccm-demo-epoch"
check 'an epoch by name' 0 '^ii 1:0\.9~rc1-1' sh_a "$apt install --allow-downgrades ccm-demo-epoch=1:0.9~rc1-1 > /dev/null; $version ccm-demo-epoch"
check 'a dependency comes along' 0 '^ii 2\.0 ii 1\.0' sh_a "$apt install ccm-demo-dep > /dev/null; $version ccm-demo-dep ccm-demo"
check 'a new version is published' 0 '^ii 3\.0' sh_a "/srv/ccm-lab/bin/publish && $apt update && $apt install ccm-demo > /dev/null; $version ccm-demo"
check 'an unmet dependency' 100 'held broken packages' sh_a "$apt install ccm-demo-unmet"
check 'no such package' 100 'Unable to locate' sh_a "$apt install ccm-nonesuch"
check 'no such version' 100 'was not found' sh_a "$apt install ccm-demo=9.9"
check 'a package that fails' 100 'postinst fails' sh_a "$apt install ccm-demo-broken"
check 'it is left half-configured' 0 '^iF 1\.0' sh_a "$version ccm-demo-broken"
check 'and can be removed' 0 '' sh_a "$apt purge ccm-demo-broken"
check 'a package with a unit, not started' 3 '^disabled inactive $' \
  sh_a "$apt install ccm-demo-service > /dev/null; systemctl is-enabled ccm-demo; systemctl is-active ccm-demo"
check 'which can be' 0 '^enabled active $' \
  sh_a "systemctl enable -q --now ccm-demo; systemctl is-enabled ccm-demo; systemctl is-active ccm-demo"
check 'a package that starts its unit' 0 '^enabled active $' \
  sh_a "$apt install ccm-demo-auto > /dev/null; systemctl is-enabled ccm-demo-auto; systemctl is-active ccm-demo-auto"
check 'and stops it' 3 '^inactive $' sh_a "$apt remove ccm-demo-auto > /dev/null; systemctl is-active ccm-demo-auto"

section dnf
rpmv="rpm -q --qf '%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n'"
check 'versions on offer' 0 '1\.0-1\.lab.*1\.1-1\.lab.*2\.0-1\.lab' in_a dnf -q list --showduplicates ccm-demo-rpm
check 'install ccm-demo-rpm-1.0' 0 'Complete' in_a dnf install -y ccm-demo-rpm-1.0
check 'it is 1.0' 0 '^0:1\.0-1\.lab 1\.0 $' sh_a "$rpmv ccm-demo-rpm; ccm-demo-rpm"
check 'install again: nothing to do' 0 'Nothing to do' in_a dnf install -y ccm-demo-rpm-1.0
check 'upgrade to 1.1, config edited' 0 '' sh_a 'echo mine >> /etc/ccm-demo-rpm.conf; dnf -q -y install ccm-demo-rpm-1.1'
check 'the edit is kept' 0 '^0:1\.1-1\.lab # default of 1\.0 level=info mine # default of 1\.1' \
  sh_a "$rpmv ccm-demo-rpm; cat /etc/ccm-demo-rpm.conf /etc/ccm-demo-rpm.conf.rpmnew"
check 'upgrade to the newest: 3.0' 0 '^0:3\.0-1\.lab' sh_a "dnf -q -y upgrade ccm-demo-rpm > /dev/null; $rpmv ccm-demo-rpm"
check 'downgrade to 1.0' 0 '^0:1\.0-1\.lab' sh_a "dnf -q -y downgrade ccm-demo-rpm-1.0-1.lab > /dev/null; $rpmv ccm-demo-rpm"
check 'remove saves the edit' 0 '^package ccm-demo-rpm is not installed .*mine' \
  sh_a "dnf -q -y remove ccm-demo-rpm > /dev/null; $rpmv ccm-demo-rpm; cat /etc/ccm-demo-rpm.conf.rpmsave"
check 'the epoch outranks' 0 '^1:0\.9-2\.lab' sh_a "dnf -q -y install ccm-demo-rpm-epoch > /dev/null; $rpmv ccm-demo-rpm-epoch"
check 'an epoch by name' 0 '^1:0\.9~rc1-1\.lab' sh_a "dnf -q -y downgrade ccm-demo-rpm-epoch-1:0.9~rc1 > /dev/null; $rpmv ccm-demo-rpm-epoch"
check 'a dependency comes along' 0 '^0:1\.0-1\.lab 0:3\.0' sh_a "dnf -q -y install ccm-demo-rpm-dep > /dev/null; $rpmv ccm-demo-rpm-dep ccm-demo-rpm"
check 'an unmet dependency' 1 'nothing provides' in_a dnf -q -y install ccm-demo-rpm-unmet
check 'no such package' 1 'Unable to find a match' in_a dnf -y install ccm-nonesuch
check 'a package that fails' 1 'pre fails' in_a dnf -y install ccm-demo-rpm-broken
check 'a package with a unit' 0 '^disabled active $' \
  sh_a 'dnf -q -y install ccm-demo-rpm-service > /dev/null; systemctl is-enabled ccm-demo-rpm; systemctl start ccm-demo-rpm; systemctl is-active ccm-demo-rpm'

section processes and state
# A killed "lab exec" must not leave its command behind.
sleeps() { in_a pgrep -f "[s]leep $1" > /dev/null; }
soon() { # CMD...: whether it comes true within five seconds
  deadline=$(($(ms) + 5000))
  until "$@"; do
    [ "$(ms)" -lt $deadline ] || return 1
    sleep 0.02
  done
}
not() { ! "$@"; }
killed_exec() {
  "$LAB" exec "$a" -- sleep 4242 < /dev/null & p=$!
  soon sleeps 4242
  kill -9 $p
  wait $p || :
  soon not sleeps 4242
}
check 'a killed exec takes its command along' 0 '' killed_exec
"$LAB" exec "$a" -- sleep 4343 < /dev/null > /dev/null 2>&1 &
sleeper=$!
soon sleeps 4343
check 'down, with a command in progress' 0 '^$' "$LAB" down "$a"
check 'which ended' 137 '' wait "$sleeper"
check 'down again is no error' 0 '^$' "$LAB" down "$a"
unchanged() { census | diff "$tmp/before" -; }
check 'nothing is left' 0 '^$' unchanged
check 'up again' 0 '^$' "$LAB" up "$a"
check 'as if nothing had been' 1 '^0 dpkg-query: no packages found' sh_a "ls -A /root/new 2>/dev/null | wc -l; $version ccm-demo"
check 'up --replace' 0 '^$' "$LAB" up "$a" --replace
init_of() { "$LAB" ps | awk -v n="$1" '$1 == n { print $3 }'; }
is_dead() { "$LAB" ps | grep -q "$a  *dead"; }
killed_init() { kill -9 "$(init_of "$a")" && soon is_dead; }
check 'a lab whose init was killed is dead' 0 '' killed_init
check 'exec in it' 1 'no lab' in_a true
check 'up, over the dead one' 0 '^$' "$LAB" up "$a"
check 'down' 0 '^$' "$LAB" down "$a"

section several at once
three_up() {
  "$LAB" up "$a" & p1=$!
  "$LAB" up "$b" & p2=$!
  "$LAB" up "$c" & p3=$!
  wait $p1 && wait $p2 && wait $p3
}
check 'three up at once' 0 '^$' three_up
install_one() { on "$1" sh -c "$apt install ccm-demo=$2 > /dev/null && dnf -q -y install ccm-demo-rpm-$2"; }
three_installs() {
  install_one "$a" 1.0 & p1=$!
  install_one "$b" 1.1 & p2=$!
  install_one "$c" 2.0 & p3=$!
  wait $p1 && wait $p2 && wait $p3
}
check 'apt and dnf in each at once' 0 '' three_installs
three_versions() { for n in "$a" "$b" "$c"; do on "$n" sh -c 'ccm-demo; ccm-demo-rpm'; done; }
check 'each has its own' 0 '^1\.0 1\.0 1\.1 1\.1 2\.0 2\.0 $' three_versions
check 'none sees the others' 1 '^$' in_a pgrep -f nspawn
three_ids() { for n in "$a" "$b" "$c"; do on "$n" cat /etc/machine-id; done | sort -u | wc -l; }
check 'each has its own machine-id' 0 '^3 $' three_ids
check 'three down' 0 '^$' "$LAB" down "$a" "$b" "$c"
check 'nothing is left' 0 '^$' unchanged

section an up that fails or is stopped
check 'a lab that cannot boot says why' 1 'Not a directory.*did not boot' "$LAB" up "$a" --bind "$tmp:/etc/hosts/x"
check 'a lab that takes too long' 1 'did not boot within 0' env LAB_TIMEOUT=0 "$LAB" up "$a"
check 'nothing is left' 0 '^$' unchanged
stopped() { # SIGNAL SECONDS: of up, and when
  timeout --foreground --preserve-status -s "$1" "$2" "$LAB" up "$a"
}
for at in 0.01 0.02 0.04 0.08 0.16; do
  check "up ended by TERM after $at s" 143 '' stopped TERM $at
  check 'nothing is left' 0 '^$' unchanged
  check "up ended by KILL after $at s" 137 '' stopped KILL $at
  check 'down cleans up' 0 '^$' "$LAB" down "$a"
  check 'nothing is left' 0 '^$' unchanged
done

section one package family only
check 'up --family debian' 0 '^$' "$LAB" up "$a" --family debian
check 'apt, no dnf, no rpm' 127 '^/usr/bin/apt-get $' sh_a 'command -v apt-get; command -v dnf; command -v rpm'
check 'up --family rhel' 0 '^$' "$LAB" up "$a" --family rhel --replace
check 'dnf and rpm, no apt, no dpkg' 127 '^/usr/bin/dnf /usr/bin/rpm $' sh_a 'command -v dnf; command -v rpm; command -v apt-get; command -v dpkg'
check 'os-release says so' 0 'ID_LIKE="rhel fedora"' in_a cat /etc/os-release
check 'dnf works' 0 '' in_a dnf -y install ccm-demo-rpm
check 'down' 0 '^$' "$LAB" down "$a"

section a fleet on the private network
net_up() {
  "$LAB" up "$a" --net & p1=$!
  "$LAB" up "$b" --net & p2=$!
  "$LAB" up "$c" --net & p3=$!
  wait $p1 && wait $p2 && wait $p3
}
check 'three up at once with --net' 0 '^$' net_up
check 'ps shows addresses' 0 "$a +up +[0-9]+ +10\.77\.0\.[0-9]+" "$LAB" ps
check 'only lo and eth0' 0 '^eth0 lo $' in_a ls /sys/class/net
check 'one route, to the network itself' 0 '^10\.77\.0\.0/24 dev eth0 [^/]*$' in_a ip route
check 'NATS starts in the first' 0 '^active $' sh_a 'systemctl start nats-server; systemctl is-active nats-server'
cat > "$tmp/nats.py" <<'EOF'
import socket, sys
role, host, subject, *text = sys.argv[1:]
for attempt in range(50):
    try:
        s = socket.create_connection((host, 4222), 5)
        break
    except ConnectionRefusedError:
        import time; time.sleep(0.1)
f = s.makefile("rwb", 0)
info = f.readline()
def send(line): f.write(line.encode() + b"\r\n")
def until(word):
    while True:
        line = f.readline().decode().strip()
        if line.startswith(word): return line
send('CONNECT {"verbose":false}')
if role == "sub":
    send("SUB %s 1" % subject); send("PING"); until("PONG")
    print("ready", flush=True)
    until("MSG"); print(f.readline().decode().strip())
elif role == "pub":
    send("PUB %s %d\r\n%s" % (subject, len(text[0]), text[0])); send("PING"); until("PONG")
else:
    print(info.decode().strip())
EOF
for n in "$b" "$c"; do "$LAB" cp "$n" "$tmp/nats.py" /root/nats.py; done
check 'NATS with JetStream, from the second, by name' 0 '"jetstream":true' \
  on "$b" python3 /root/nats.py info "$a" -
pubsub() {
  on "$b" python3 /root/nats.py sub "$a" fleet.x > "$tmp/sub" & p1=$!
  until grep -q ready "$tmp/sub"; do kill -0 $p1 || return 1; sleep 0.02; done
  on "$c" python3 /root/nats.py pub "$a" fleet.x 'hello fleet'
  wait $p1 && cat "$tmp/sub"
}
check 'the third publishes, the second hears' 0 '^ready hello fleet $' pubsub
check 'a host command joins in' 0 '"jetstream":true' \
  "$LAB" net -- python3 "$tmp/nats.py" info "$("$LAB" ps | awk -v n="$a" '$1 == n { print $4 }')" -
check 'a lab goes, its name goes' 2 '^$' sh -c "'$LAB' down '$c'; '$LAB' exec '$b' -- getent hosts $c"
check 'down, all' 0 '^$' "$LAB" down "$a" "$b"
check 'nothing is left' 0 '^$' unchanged

printf '\n%d passed, %d failed\n' "$passed" "$failed"
finish $((failed > 0))
