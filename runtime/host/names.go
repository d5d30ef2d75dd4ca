package host

import (
	"context"
	"fmt"
	"io"
	"os"
)

// A NameLimit is how many names of directories a call may read.
type NameLimit int

// MaxNames is the NameLimit of a call of a script.
const MaxNames NameLimit = 1_000_000

// A TooManyNamesError says that a call has read as many names as it may.
type TooManyNamesError struct{ Limit NameLimit }

// Error says what the limit is.
func (e *TooManyNamesError) Error() string {
	return fmt.Sprintf("there are more than %d names to read, which is the limit", e.Limit)
}

// Hint says what to do.
func (e *TooManyNamesError) Hint() string {
	return "name a directory further down, or list it with a command such as find"
}

// Names is ReadDir for a directory that may be of any size. It ends with ctx, and gives a
// [TooManyNamesError] when there are more names than l allows.
func (v *View) Names(ctx context.Context, name string, l NameLimit) ([]string, error) {
	return v.readDir(name, &nameReader{ctx: ctx, limit: l})
}

// A nameReader reads the names of directories for one call, up to a limit. A nil one has no
// limit.
type nameReader struct {
	ctx   context.Context
	limit NameLimit
	read  NameLimit
	looks int
	err   error // why it has ended; fs.Glob passes over errors of directories
}

// namesAtOnce is how many names are read, or looked at, between two looks at the context.
const namesAtOnce = 512

// names returns the names in an open directory.
func (r *nameReader) names(f *os.File) (list []string, err error) {
	if r == nil {
		return f.Readdirnames(-1)
	}
	for r.end() == nil {
		part, err := f.Readdirnames(namesAtOnce)
		list = append(list, part...)
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		if r.read += NameLimit(len(part)); r.read > r.limit {
			r.err = &TooManyNamesError{r.limit}
		}
	}
	return nil, r.err
}

// look counts a look at a path, and returns an error if there should be no more.
func (r *nameReader) look() error {
	if r.looks++; r.looks%namesAtOnce == 0 {
		return r.end()
	}
	return r.err
}

// end returns why no more is to be read, nil if it is.
func (r *nameReader) end() error {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	return r.err
}
