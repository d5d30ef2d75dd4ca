// Package unpack extracts archives on a host, all of an archive or nothing, and copies
// directories of the user.
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
	"github.com/luaccm/ccm/runtime/host"
)

// Options are how to unpack an archive.
type Options struct {
	Format Format
	// Parent is the directory that the entries go to. If it is missing, it is
	// made, with mode 0755.
	Parent string
	// MaxEntries and MaxBytes end the extraction of an archive that holds more
	// entries, or expands to more bytes; 0 means no limit.
	MaxEntries int
	MaxBytes   int64
	// Strip is how many directories are left out at the beginning of each name. What has
	// no more than that is not extracted.
	Strip int
	// Last is a path that gets its place after all others, so that a program that finds
	// it there finds the rest as well; "" for none.
	Last string
}

// A LimitError says that an archive holds more than is allowed.
type LimitError struct {
	Entries bool  // whether it is the number of entries, not of bytes
	Limit   int64 // that was reached
}

// Error says which limit was reached.
func (e *LimitError) Error() string {
	if e.Entries {
		return fmt.Sprintf("the archive holds more than %d entries, which is the limit", e.Limit)
	}
	return fmt.Sprintf("the archive expands to more than %s, which is the limit", bytesize.Format(e.Limit))
}

// Extract unpacks the archive at the path. Nothing but Go does it: the machine
// needs neither tar nor unzip.
//
// Everything is unpacked into a directory of its own inside the parent first. If
// any entry would land outside the parent, by its name or by way of a link, or
// is a device, or cannot be read, that is an error and nothing is left behind.
// Only then do the files get their places, each in one step, over existing files
// and links. A directory or a file that stands where the archive has the other
// is an error too, found before anything gets its place.
//
// Files belong to the user that runs this process. They keep their permissions
// but for setuid, setgid and sticky, and their times. Directories that are
// there already are left as they are.
func Extract(ctx context.Context, h *host.Host, archive string, x Options) (err error) {
	file, err := h.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	h.Log().Debug("extract", "archive", archive, "parent", x.Parent)
	return host.WithParents(h, filepath.Join(x.Parent, "entry"), func() error { return extract(ctx, h, archive, file, x) })
}

// extract unpacks the open archive into a directory that is there.
func extract(ctx context.Context, h *host.Host, archive string, file *os.File, x Options) (err error) {
	s, err := newStage(h, archive, x)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.discard()) }()
	if err := readEntries(file, x.Format, ctx.Err, s.add); err != nil {
		return err
	}
	if len(s.kinds) == 0 && x.Strip > 0 {
		return fmt.Errorf("nothing in the archive lies %d directories deep", x.Strip)
	}
	if err := s.checkLinks(x.Parent); err != nil {
		return err
	}
	return s.place(ctx)
}
