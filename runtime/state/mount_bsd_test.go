//go:build darwin || freebsd

package state_test

import "testing"

// mounted skips the test: there is no tmpfs to mount.
func mounted(t *testing.T) string {
	t.Skip("only Linux mounts a file system of a given size")
	return ""
}
