//go:build darwin || freebsd

package collector

// releaseProgram does nothing: these systems do not count the pages of the program for the process alone.
func releaseProgram() {}
