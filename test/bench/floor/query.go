//go:build linux

package main

import (
	"bufio"
	"os/exec"
	"strings"
)

// packages returns how many packages are not installed. It asks once.
func packages(names []string) int {
	have := make(map[string]bool, 1024)
	query(func(line string) {
		if name, ok := strings.CutSuffix(line, " installed"); ok {
			have[name] = true
		}
	}, "dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n")
	n := 0
	for _, name := range names {
		if !have[name] {
			n++
		}
	}
	return n
}

// services returns how many units are not loaded. It asks once.
func services(names []string) int {
	n := 0
	query(func(line string) {
		if state, ok := strings.CutPrefix(line, "LoadState="); ok && state != "loaded" {
			n++
		}
	}, append([]string{"systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState", "--"}, names...)...)
	return n
}

// query calls do with every line that a command says.
func query(do func(line string), argv ...string) {
	c := exec.Command(argv[0], argv[1:]...)
	out, err := c.StdoutPipe()
	check(err)
	check(c.Start())
	for s := bufio.NewScanner(out); s.Scan(); {
		do(s.Text())
	}
	check(c.Wait())
}
