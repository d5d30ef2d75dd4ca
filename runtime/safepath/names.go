package safepath

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

// A NameReader reads the names of directories for one call, up to a limit. A nil one has no
// limit.
type NameReader struct {
	Ctx   context.Context
	Limit NameLimit
	limit NameLimit
	looks int
	Err   error // why it has ended; fs.Glob passes over errors of directories
}

// Names returns the names in an open directory.
func (r *NameReader) Names(f *os.File) (list []string, err error) {
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
		if r.limit += NameLimit(len(part)); r.limit > r.Limit {
			r.Err = &TooManyNamesError{r.Limit}
		}
	}
	return nil, r.Err
}

// Look counts a look at a path, and returns an error if there should be no more.
func (r *NameReader) Look() error {
	if r == nil {
		return nil
	}
	if r.looks++; r.looks%namesAtOnce == 0 {
		return r.end()
	}
	return r.Err
}

// Ended returns why it has ended, nil if it has not.
func (r *NameReader) Ended() error {
	if r == nil {
		return nil
	}
	return r.Err
}

// end returns why no more is to be read, nil if it is.
func (r *NameReader) end() error {
	if r.Err == nil {
		r.Err = r.Ctx.Err()
	}
	return r.Err
}

// namesAtOnce is how many names are read, or looked at, between two looks at the context.
const namesAtOnce = 512
