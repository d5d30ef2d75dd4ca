//go:build linux

// Floor does the least that each workload of the benchmark can cost, and nothing
// else: it has no language, no report and no state. What ccm takes beyond it is
// what ccm costs. docs/performance.md says what is compared with what.
//
//	floor nothing                        start and end
//	floor stat     LIST T                lstat every path
//	floor stable   LIST DATA SIZE T      open, fstat, read, compare, close
//	floor create   LIST DATA SIZE T HOW  compare; what differs is a temporary file,
//	                                     written, owner and mode set, renamed
//	floor compare  A B T                 read two files and compare them
//	floor sizes    A B                   stat two files
//	floor packages LIST                  one dpkg-query, all names looked up
//	floor services LIST                  one systemctl show of all names
//	floor once     LOG SECONDS ARG...    run a command and say what it took, as JSON
//
// LIST has a name on each line, DATA the contents one after the other, SIZE bytes
// each. T is the number of workers. HOW is the durability: none, each (fsync of
// every file and of its directory) or batch (all temporaries, one syncfs, all
// renames, one fsync of each directory).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/luaccm/ccm/test/bench/measure"
)

func main() {
	if len(os.Args) < 2 {
		fail("want a mode; see the source")
	}
	a := args(os.Args[2:])
	if os.Args[1] == "once" {
		a.at(2)
		took, err := measure.Run(a[0], time.Duration(a.number(1))*time.Second, a[2:])
		check(err)
		check(json.NewEncoder(os.Stdout).Encode(took))
		return
	}
	var differ int
	var took time.Duration
	switch os.Args[1] {
	case "nothing":
	case "stat":
		differ = missing(lines(a.at(0)), a.number(1))
	case "stable":
		w := load(a)
		began := time.Now()
		differ = len(w.differing())
		took = time.Since(began)
	case "create":
		w := load(a)
		began := time.Now()
		differ = w.create(a.at(4))
		took = time.Since(began)
	case "compare":
		differ = compare(a.at(0), a.at(1), a.number(2))
	case "sizes":
		differ = sizes(a.at(0), a.at(1))
	case "packages":
		differ = packages(lines(a.at(0)))
	case "services":
		differ = services(lines(a.at(0)))
	default:
		fail("unknown mode " + os.Args[1])
	}
	// How many things were not as wanted, and how long looking at them took without
	// reading LIST and DATA.
	fmt.Println(differ, took.Nanoseconds())
}

// args are the arguments of a mode.
type args []string

func (a args) at(i int) string {
	if i >= len(a) {
		fail("too few arguments; see the source")
	}
	return a[i]
}

func (a args) number(i int) int {
	n, err := strconv.Atoi(a.at(i))
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(msg string) {
	fmt.Fprintln(os.Stderr, "floor:", msg)
	os.Exit(1)
}
