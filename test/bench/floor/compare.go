//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// compare returns whether two files differ, 0 or 1. Each worker takes a part.
func compare(a, b string, workers int) int {
	x, y, size, same := open(a, b)
	if !same {
		return 1
	}
	var differ atomic.Bool
	var wg sync.WaitGroup
	part := (size + int64(workers) - 1) / int64(workers)
	for k := range int64(workers) {
		wg.Go(func() {
			if !equal(x, y, k*part, min((k+1)*part, size)) {
				differ.Store(true)
			}
		})
	}
	wg.Wait()
	if differ.Load() {
		return 1
	}
	return 0
}

func open(a, b string) (x, y *os.File, size int64, same bool) {
	x, err := os.Open(a)
	check(err)
	y, err = os.Open(b)
	check(err)
	sx, err := x.Stat()
	check(err)
	sy, err := y.Stat()
	check(err)
	return x, y, sx.Size(), sx.Size() == sy.Size()
}

func equal(x, y *os.File, from, to int64) bool {
	const block = 256 << 10
	p, q := make([]byte, block), make([]byte, block)
	for at := from; at < to; {
		n := min(block, to-at)
		_, err := io.ReadFull(io.NewSectionReader(x, at, n), p[:n])
		check(err)
		_, err = io.ReadFull(io.NewSectionReader(y, at, n), q[:n])
		check(err)
		if !bytes.Equal(p[:n], q[:n]) {
			return false
		}
		at += n
	}
	return true
}

// sizes returns whether two files have different sizes, 0 or 1.
func sizes(a, b string) int {
	x, err := os.Stat(a)
	check(err)
	y, err := os.Stat(b)
	check(err)
	if x.Size() != y.Size() {
		return 1
	}
	return 0
}
