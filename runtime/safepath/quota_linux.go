//go:build !portable

package safepath

import (
	"encoding/binary"
	"math"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Quotas returns what the quotas of an owner and a group leave of the file system of an open file or directory. There
// are none where quotas are off, do not bind this process, or may not be asked for. A quota of a project needs no
// question: statfs(2) shows it as the size of the file system, see [Handle.Room].
func (d *Handle) Quotas(uid, gid uint32) (list []Room) {
	if exceedsQuotas() {
		return nil
	}
	return quotas(quotactl, d.FD, uint64(d.Stat.Dev), time.Now(), uid, gid)
}

// Requests of quotactl(2), and the flags in the answer to the first.
const (
	requestState = 0x5805   // Q_XGETQSTAT, which file systems other than XFS answer too
	requestLimit = 0x800007 // Q_GETQUOTA
	userLimited  = 1 << 1   // FS_QUOTA_UDQ_ENFD
	groupLimited = 1 << 3   // FS_QUOTA_GDQ_ENFD
)

// quotas is Quotas with the system call that asks for quotas of the file system of a file descriptor.
func quotas(ask func(fd, request, kind int, id uint32, answer []byte) error, fd int, device uint64, now time.Time, uid, gid uint32) (list []Room) {
	state := make([]byte, 512) // more than a struct fs_quota_stat
	if ask(fd, requestState, userQuota, 0, state) != nil {
		return nil
	}
	limited := binary.NativeEndian.Uint16(state[2:])
	for kind, x := range []struct {
		flag uint16
		id   uint32
	}{{userLimited, uid}, {groupLimited, gid}} {
		answer := make([]byte, 128) // more than a struct if_dqblk
		if limited&x.flag == 0 || ask(fd, requestLimit, kind, x.id, answer) != nil {
			continue
		}
		field := func(i int) uint64 { return binary.NativeEndian.Uint64(answer[8*i:]) }
		const block = 1024 // the unit of limits; what is used is in bytes
		bytes, bounded := left(field(0), field(1), block, field(2), field(6), now)
		files, counted := left(field(3), field(4), 1, field(5), field(7), now)
		if bounded || counted {
			list = append(list, Room{Device: device, Bytes: bytes, Files: files, Quota: quotaName(kind, x.id)})
		}
	}
	return list
}

// left returns how much a quota leaves, and whether it limits anything. The soft limit counts once its time of grace, in
// seconds since 1970, is over.
func left(hard, soft, unit, used, grace uint64, now time.Time) (int64, bool) {
	limit := hard
	if soft > 0 && grace > 0 && grace <= uint64(now.Unix()) && used > soft*unit {
		limit = soft
	}
	switch {
	case limit == 0 || limit > math.MaxInt64/unit:
		return math.MaxInt64, false
	case used >= limit*unit:
		return 0, true
	}
	return int64(limit*unit - used), true
}

// quotactl asks for quotas of the file system of a file descriptor.
func quotactl(fd, request, kind int, id uint32, answer []byte) error {
	_, _, errno := unix.Syscall6(unix.SYS_QUOTACTL_FD, uintptr(fd), uintptr(request<<8|kind), uintptr(id), uintptr(unsafe.Pointer(&answer[0])), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// exceedsQuotas reports whether this process may exceed quotas: root may, but for containers that take this capability
// away.
var exceedsQuotas = sync.OnceValue(func() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
})
