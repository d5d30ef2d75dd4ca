package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profile writes a CPU profile of the whole run to the file that CCM_CPUPROFILE
// names, for "go tool pprof". The function that it returns ends it.
func profile() (end func(), err error) {
	name := os.Getenv("CCM_CPUPROFILE")
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("CCM_CPUPROFILE: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("CCM_CPUPROFILE: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}
