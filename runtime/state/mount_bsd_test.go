//go:build darwin || freebsd

package state_test

import "testing"

// mounted leaves a test out: there is no tmpfs to mount.
func mounted(t *testing.T) string {
	t.Skip("only Linux mounts a file system of a given size")
	return ""
}
