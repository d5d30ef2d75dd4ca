//go:build darwin || freebsd

package collector

// releaseProgram does nothing here: the pages of the program are not counted to the process alone.
func releaseProgram() {}
