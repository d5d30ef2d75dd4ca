package safepath

import (
	"context"
	"fmt"
	"io"
	"os"
)

// A NameLimit is the number of directory entries that a call may read.
type NameLimit int

// MaxNames is the limit for a call in a script.
const MaxNames NameLimit = 1_000_000

// A TooManyNamesError reports that a call reached its limit.
type TooManyNamesError struct{ Limit NameLimit }

// Error names the limit.
func (e *TooManyNamesError) Error() string {
	return fmt.Sprintf("directory listing exceeds the limit of %d names", e.Limit)
}

// Hint returns the advice.
func (e *TooManyNamesError) Hint() string {
	return "use a subdirectory, or list it with a command such as find"
}

// A NameReader reads directories for one call of a script, until its limit or the end of its context. A nil
// NameReader has no limit.
type NameReader struct {
	Ctx   context.Context
	Limit NameLimit
	limit NameLimit
	Err   error // why it has ended, which fs.Glob does not return
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

// Look is called before a path is looked at or opened, and returns an error if the reader has ended.
func (r *NameReader) Look() error {
	if r == nil {
		return nil
	}
	return r.end()
}

// Ended returns the error that ended it, nil if there was none.
func (r *NameReader) Ended() error {
	if r == nil {
		return nil
	}
	return r.Err
}

// end returns the error that ends it, such as that of its context.
func (r *NameReader) end() error {
	if r.Err == nil {
		r.Err = r.Ctx.Err()
	}
	return r.Err
}

// namesAtOnce is the number of names between two checks of the context.
const namesAtOnce = 512
