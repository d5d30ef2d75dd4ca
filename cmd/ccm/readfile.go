package main

import (
	"fmt"
	"os"

	"github.com/luaccm/ccm/runtime/host"
)

// largestFile is how long a file may be that a manifest, a template or an
// expression names.
const largestFile = 64 << 20

// readFile reads a file that a manifest, a template or an expression names, if it
// is believed. What is no file is refused: a device may have no end, and a pipe
// nobody who writes.
func (e *env) readFile(path string) ([]byte, error) {
	if err := e.trust().Check(path); err != nil {
		return nil, err
	}
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir(): // os.ReadFile says it in the words of the system
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s: want a file, found a device or a pipe", path)
	case fi.Size() > largestFile:
		return nil, fmt.Errorf("%s: want a file of at most %s, found one of %s", path, host.FormatBytes(largestFile), host.FormatBytes(fi.Size()))
	}
	return os.ReadFile(path)
}
