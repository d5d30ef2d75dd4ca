// Package unpack extracts archives on a host, completely or not at all, and copies directories of
// the user.
//
// Begin with [Extract] and [CopyTree].
package unpack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// Options are how to unpack an archive.
type Options struct {
	Format Format
	// Parent is the directory for the entries. A missing one is made with mode 0755.
	Parent string
	// MaxEntries and MaxBytes bound the number of entries and the size of the extracted files; 0
	// means no limit.
	MaxEntries int
	MaxBytes   int64
	// Strip is the number of directories removed from the beginning of each name. An entry with no
	// more than that is not extracted.
	Strip int
	// Last is a path that is moved into place after all others, so that a program that finds it
	// also finds the rest; "" for none.
	Last string
}

// A LimitError reports that an archive exceeds a limit.
type LimitError struct {
	Entries bool  // the limit is of entries, not of bytes
	Limit   int64 // the limit
}

// Error reports which limit was reached.
func (e *LimitError) Error() string {
	if e.Entries {
		return fmt.Sprintf("archive exceeds the limit of %d entries", e.Limit)
	}
	return fmt.Sprintf("archive expands to more than the limit of %s", bytesize.Format(e.Limit))
}

// Extract unpacks the archive at the path. It is all Go: the machine needs neither tar nor unzip.
//
// First, everything is unpacked into a stage inside the parent. If an entry would land outside
// the parent, by its name or through a link, or is a device, or cannot be read, that is an error
// and nothing is left behind. Only then are the files moved to their paths, each in one step,
// replacing existing files and links. A directory in the place of a file, or the reverse, is an
// error too, found before anything is moved.
//
// Files belong to the user of this process. They keep their times and their permissions, without
// setuid, setgid and sticky. Existing directories stay as they are.
func Extract(ctx context.Context, h *host.Host, archive string, x Options) (err error) {
	file, err := h.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	h.Log().Debug("extract", "archive", archive, "parent", x.Parent)
	return host.WithParents(h, filepath.Join(x.Parent, "entry"), func() error { return extract(ctx, h, archive, file, x) })
}

// extract unpacks the open archive into a directory that exists.
func extract(ctx context.Context, h *host.Host, archive string, file *os.File, x Options) (err error) {
	s, err := newStage(h, archive, x)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.discard()) }()
	if err := readEntries(file, filepath.Base(archive), x.Format, ctx.Err, s.add); err != nil {
		return err
	}
	if len(s.kinds) == 0 && x.Strip > 0 {
		return diag.None("entry in the archive is %d directories deep", x.Strip)
	}
	if err := s.checkLinks(x.Parent); err != nil {
		return err
	}
	return s.place(ctx)
}
