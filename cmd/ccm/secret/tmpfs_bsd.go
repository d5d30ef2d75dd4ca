//go:build !linux

package secret

// isTmpfs reports whether the files of a directory are in memory. On these systems that is unknown.
func isTmpfs(string) bool { return false }
