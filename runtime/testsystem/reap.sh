# Ends the processes of a control group, in a mount namespace of its own: sh reap.sh CGROUP
set -eu
PATH=$PATH:/usr/sbin:/sbin
cg=/sys/fs/cgroup/$1
if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
  if [ "$(stat -fc %T /sys/fs/cgroup/unified 2>/dev/null)" = cgroup2fs ]; then
    mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup
  else
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
  fi
fi
tries=0
while [ -d "$cg" ]; do
  [ $tries -lt 1000 ] || { echo "processes of $1 do not end" >&2; exit 1; }
  tries=$((tries + 1))
  # shellcheck disable=SC2046
  kill -KILL $(find "$cg" -name cgroup.procs -exec cat {} + 2>/dev/null) 2>/dev/null || sleep 0.005
  find "$cg" -depth -type d -exec rmdir {} + 2>/dev/null || :
done
