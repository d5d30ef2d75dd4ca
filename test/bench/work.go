package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// size is how long the content of each file is.
const size = 1024

// pad is what the contents of all files end with: plain letters on one line,
// which no language reads anything into, and Choria's ccm takes.
var pad = strings.Repeat("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab", size/64)[:size-8]

// content returns the content of file i: no two are the same.
func content(i int) string { return fmt.Sprintf("%08d", i) + pad }

// files are n files in a directory.
type files struct {
	dir string
	n   int
}

func (f files) path(i int) string { return filepath.Join(f.dir, fmt.Sprintf("f%06d.conf", i)) }

// fill makes the files what they should be.
func (f files) fill() error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	for i := range f.n {
		if err := os.WriteFile(f.path(i), []byte(content(i)), 0o644); err != nil {
			return err
		}
		if err := os.Chmod(f.path(i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// drift overwrites one file in a hundred.
func (f files) drift() error {
	for i := 0; i < f.n; i += 100 {
		if err := os.WriteFile(f.path(i), []byte("drifted"+content(i)[7:]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// drifted returns how many files drift overwrites.
func (f files) drifted() int { return (f.n + 99) / 100 }

// check reports files that are not as they should be.
func (f files) check(outcome) error {
	for i := range f.n {
		have, err := os.ReadFile(f.path(i))
		if err != nil {
			return err
		}
		if string(have) != content(i) {
			return fmt.Errorf("%s is not as it should be", f.path(i))
		}
		if fi, err := os.Stat(f.path(i)); err != nil || fi.Mode() != 0o644 {
			return fmt.Errorf("%s does not have mode 0644", f.path(i))
		}
	}
	return nil
}

// checkAll is check, and reports files that should not be there.
func (f files) checkAll(o outcome) error {
	if err := f.check(o); err != nil {
		return err
	}
	names, err := os.ReadDir(f.dir)
	if err == nil && len(names) != f.n {
		err = fmt.Errorf("%d files in %s instead of %d", len(names), f.dir, f.n)
	}
	return err
}

// work writes what the floor reads: the names and contents of files.
func (f files) work(dir string) (list, data string, err error) {
	var names, contents bytes.Buffer
	for i := range f.n {
		names.WriteString(f.path(i) + "\n")
		contents.WriteString(content(i))
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", filepath.Base(f.dir), f.n))
	list, data = base+".list", base+".data"
	return list, data, errors.Join(os.WriteFile(list, names.Bytes(), 0o644), os.WriteFile(data, contents.Bytes(), 0o644))
}

// bigFile writes n bytes that differ from block to block.
func bigFile(name string, n int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	block := []byte(strings.Repeat(pad, (1<<20)/len(pad)+1)[:1<<20])
	for k := int64(0); k*int64(len(block)) < n; k++ {
		copy(block, fmt.Sprintf("%08d", k))
		if _, err := f.Write(block[:min(int64(len(block)), n-k*int64(len(block)))]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(f.Chmod(0o644), f.Close())
}
