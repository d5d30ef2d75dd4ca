package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// oneProcessorRows are the rows that are measured on one processor too.
const oneProcessorRows = "empty,stable,create,drift,execs"

// onOneProcessor measures some rows again with all programs confined to one processor
// (taskset(1)), which is a machine of half the speed for what can be done side by side
// and of the same speed for the rest. It tells how the ratios move.
func (b *bench) onOneProcessor(self string) ([]line, error) {
	argv := []string{"-c", "0", self, "-lines", "-only", oneProcessorRows, "-ccm", b.ccm, "-floor", b.floor,
		"-rounds", fmt.Sprint(b.rounds), fmt.Sprintf("-quick=%v", b.quick)}
	for flag, dir := range map[string]string{"-dir": b.dir, "-disk": b.options.disk} {
		if dir != "" {
			argv = append(argv, flag, dir)
		}
	}
	c := exec.Command("taskset", argv...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("on one processor: %w\n%s", err, stderr.String())
	}
	var lines []line
	err = json.Unmarshal(out, &lines)
	return lines, err
}

// besideOneProcessor writes the table of the ratios here beside those on one processor.
func besideOneProcessor(here, one []line) string {
	ratios := make(map[string]string, len(here))
	for _, l := range here {
		ratios[l.Work] = l.Ratio()
	}
	var b strings.Builder
	for _, l := range one {
		if ratio := ratios[l.Work]; ratio != "" && l.Ratio() != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", l.Work, ratio, l.Ratio())
		}
	}
	return b.String()
}
