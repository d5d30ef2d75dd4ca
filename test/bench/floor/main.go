//go:build linux

// Floor does the least that each workload of the benchmark can cost, and nothing
// else: it has no language, no report and no state. What ccm takes beyond it is
// what ccm costs. It prints how many things are not as they are wanted.
// docs/performance.md says what is compared with what.
//
//	floor nothing                   start and end
//	floor stat     LIST             lstat every path
//	floor stable   LIST DATA SIZE T open, fstat, read, compare, close, with T workers
//	floor create   LIST DATA SIZE   compare; what differs is a temporary file, written,
//	                                owner and mode set; one syncfs; then renames and
//	                                one fsync of each directory
//	floor compare  A B              read two files and compare them
//	floor packages LIST             one dpkg-query, all names looked up
//	floor services LIST             one systemctl show of all names
//	floor once     SECONDS ARG...   run a command and say what it took, as JSON
//
// LIST has a name on each line, DATA the contents one after the other, SIZE bytes each.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/test/bench/measure"
	"golang.org/x/sys/unix"
)

func main() {
	differ := 0
	switch a := os.Args[2:]; os.Args[1] {
	case "once":
		usage, err := measure.Run(time.Duration(number(a[0]))*time.Second, a[1:])
		check(err)
		check(json.NewEncoder(os.Stdout).Encode(usage))
		return
	case "nothing":
	case "stat":
		differ = missing(lines(a[0]))
	case "stable":
		differ = len(load(a).differing(number(a[3])))
	case "create":
		differ = load(a).create()
	case "compare":
		differ = compare(a[0], a[1])
	case "packages":
		have := ask("dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n")
		for _, name := range lines(a[0]) {
			if !have[name+" installed"] {
				differ++
			}
		}
	case "services":
		names := lines(a[0])
		have := ask("systemctl", append([]string{"show", "--property=Id,LoadState,ActiveState,UnitFileState", "--"}, names...)...)
		for _, name := range names {
			if !have["Id="+name] {
				differ++
			}
		}
	default:
		check(fmt.Errorf("no mode %q", os.Args[1]))
	}
	fmt.Println(differ)
}

// ask returns the lines that a command prints.
func ask(name string, args ...string) map[string]bool {
	out, err := exec.Command(name, args...).Output()
	check(err)
	said := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		said[strings.TrimSpace(line)] = true
	}
	return said
}

// missing returns how many paths are not there.
func missing(paths []string) (n int) {
	for _, path := range paths {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil {
			n++
		}
	}
	return n
}

// compare returns whether two files differ, 0 or 1.
func compare(a, b string) int {
	x, y := open(a), open(b)
	p, q := make([]byte, 256<<10), make([]byte, 256<<10)
	for {
		n, _ := x.Read(p)
		m, _ := y.Read(q)
		switch {
		case !bytes.Equal(p[:n], q[:m]):
			return 1
		case n == 0:
			return 0
		}
	}
}

func open(name string) *os.File {
	f, err := os.Open(name)
	check(err)
	return f
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}
