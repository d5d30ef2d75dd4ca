package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archives is the part about archives of a release.
type archives struct {
	Formats         []string
	NameTemplate    string   `yaml:"name_template"`
	WrapInDirectory bool     `yaml:"wrap_in_directory"`
	BuildsInfo      fileInfo `yaml:"builds_info"`
	Files           []struct {
		Source      string `yaml:"src"`
		Destination string `yaml:"dst"`
		StripParent bool   `yaml:"strip_parent"`
		Info        fileInfo
	}
}

// fileInfo is the owner, group, mode and time of a file in an archive.
type fileInfo struct {
	Owner, Group, MTime string
	Mode                int64
}

// An entry is a file of an archive.
type entry struct {
	source, name string
	info         fileInfo
}

// archive makes the archive with a program.
func (b *builder) archive(f facts, program string) error {
	a := b.release.Archives[0]
	name, err := b.expandName(f, a.NameTemplate, "."+a.Formats[0])
	if err != nil {
		return err
	}
	dir := strings.TrimSuffix(name, "."+a.Formats[0])
	list := []entry{{program, filepath.Base(program), a.BuildsInfo}}
	for _, x := range a.Files {
		matches, err := filepath.Glob(filepath.Join(b.root, x.Source))
		if err != nil || len(matches) == 0 {
			return fmt.Errorf("%s: no such files", x.Source)
		}
		for _, source := range matches {
			list = append(list, entry{source, path.Join(x.Destination, filepath.Base(source)), x.Info})
		}
	}
	slices.SortFunc(list, func(x, y entry) int { return cmp.Compare(x.name, y.name) })
	file, err := os.Create(filepath.Join(b.out, name))
	if err != nil {
		return err
	}
	defer file.Close()
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	w := tar.NewWriter(packed)
	for _, x := range list {
		if err := f.add(w, x, path.Join(dir, x.name)); err != nil {
			return err
		}
	}
	if err := cmp.Or(w.Close(), packed.Close(), file.Close()); err != nil {
		return err
	}
	b.made = append(b.made, name)
	return nil
}

// add adds a file to an archive.
func (f facts) add(w *tar.Writer, x entry, name string) error {
	text, err := os.ReadFile(x.source)
	if err != nil {
		return err
	}
	at, err := f.timeOf(x.info.MTime)
	if err != nil {
		return err
	}
	err = w.WriteHeader(&tar.Header{
		Name: name, Mode: x.info.Mode, Size: int64(len(text)), ModTime: at.Truncate(time.Second),
		Uname: x.info.Owner, Gname: x.info.Group, Typeflag: tar.TypeReg,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
