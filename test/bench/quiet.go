package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A meter tells how much of the machine others use.
type meter struct {
	at        time.Time
	busy, own float64
}

func startMeter() meter { return meter{time.Now(), busy(), own()} }

// others returns how many cores were busy with other work since the start.
func (m meter) others() float64 {
	elapsed := time.Since(m.at).Seconds()
	if elapsed < 0.05 {
		return 0
	}
	return max(0, (busy()-m.busy)-(own()-m.own)) / elapsed
}

// waitForQuiet waits until others use less than a fifth of a core, or until the
// patience is over.
func waitForQuiet(patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m := startMeter()
		time.Sleep(150 * time.Millisecond)
		if m.others() < 0.2 {
			return
		}
	}
}

// busy returns the processor seconds that all work on this machine has used.
func busy() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	// user nice system idle iowait irq softirq steal, in hundredths of a second
	sum := 0.0
	for i, field := range strings.Fields(line)[1:] {
		if n, err := strconv.ParseFloat(field, 64); err == nil && i < 8 && i != 3 && i != 4 {
			sum += n
		}
	}
	return sum / 100
}

// own returns the processor seconds of this process and of all that it has
// waited for.
func own() float64 {
	sum := 0.0
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return sum
}
