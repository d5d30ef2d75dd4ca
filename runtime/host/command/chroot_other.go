//go:build !linux

package command

import "syscall"

// CanChroot means that [Exec] runs commands with [Cmd.Chroot] on this operating system.
const CanChroot = false

func chrootAttr(bool) *syscall.SysProcAttr { return nil }
