# Holds the mounts of a system, in a mount namespace of its own, and does what the lines of standard input ask for.
# It answers each with "ok". At the end of the input, which is that of ccm, it ends the system.
#   sh holder.sh CGROUP HOSTNAME SIZE LAYERS NSPAWN-OPTION...    in the folder of the system
# LAYERS are folders as overlayfs takes them, relative so that their paths may have any characters.
set -eu
umask 022
PATH=$PATH:/usr/sbin:/sbin
cg=/sys/fs/cgroup/$1 host=$2 size=$3 lower=$4
shift 4

# On the unified hierarchy, as on a host that knows no other. A second mount could change its options for the host.
if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
  if [ "$(stat -fc %T /sys/fs/cgroup/unified 2>/dev/null)" = cgroup2fs ]; then
    mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup
  else
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
  fi
fi
mkdir -p /run/systemd/nspawn
mount -t tmpfs tmpfs /run/systemd/nspawn
mount -t tmpfs -o "mode=755,size=$size" tmpfs mnt # an overlay cannot be stacked on all file systems
mkdir mnt/root
snapshots=0

empty() {
  rm -rf mnt/up mnt/work
  mkdir mnt/up mnt/work
}

boot() {
  # redirect_dir: a folder of the image can be renamed, as on a plain disk.
  mount -t overlay -o "lowerdir=$lower,upperdir=mnt/up,workdir=mnt/work,redirect_dir=on" overlay mnt/root
  mkdir "$cg"
  # shellcheck disable=SC2016
  sh -c 'echo $$ > "$0/cgroup.procs"; exec env -i PATH="$PATH" systemd-nspawn "$@"' "$cg" --quiet \
    --directory="$PWD/mnt/root" --machine="$host" --boot --register=no --keep-unit --settings=no \
    --link-journal=no --resolv-conf=off --timezone=off "$@" < /dev/null >> console.log 2>&1 &
  nspawn=$!
  echo "$nspawn" > "$cg/cgroup.procs" 2> /dev/null || : # at once: an empty group means that the system has ended
}

stop() { # ends every process of the system
  while [ -d "$cg" ]; do
    # shellcheck disable=SC2046
    kill -KILL $(find "$cg" -name cgroup.procs -exec cat {} + 2>/dev/null) 2>/dev/null || sleep 0.005
    find "$cg" -depth -type d -exec rmdir {} + 2>/dev/null || :
  done
  wait "$nspawn" 2>/dev/null || :
  umount mnt/root 2>/dev/null || umount -l mnt/root
}

empty
boot "$@"
echo ok
while read -r word; do
  case $word in
    reboot)
      stop
      boot "$@"
      ;;
    snapshot)
      stop
      snapshots=$((snapshots + 1))
      mv mnt/up "mnt/snapshot$snapshots"
      lower=mnt/snapshot$snapshots:$lower
      empty
      boot "$@"
      ;;
    restore)
      stop
      empty
      boot "$@"
      ;;
    keep)
      echo ok
      exec sleep infinity < /dev/null > /dev/null
      ;;
  esac
  echo ok
done
stop
