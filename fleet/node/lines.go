package node

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// mostLine is how long a line of a record may be to be looked at.
const mostLine = 16 << 20

// A lineReader reads the complete lines of a record that may still grow.
type lineReader struct {
	r      *bufio.Reader
	offset int64 // behind the last line that was returned
}

func newLineReader(f *os.File, offset int64) *lineReader {
	_, _ = f.Seek(offset, io.SeekStart) // what comes of it is seen when it is read
	return &lineReader{r: bufio.NewReaderSize(f, 64<<10), offset: offset}
}

// next returns the next line without its end. A line that is not complete yet gives ok false, and one that
// is too long is empty.
func (l *lineReader) next() (line []byte, ok bool, err error) {
	var size int64
	for {
		part, err := l.r.ReadSlice('\n')
		size += int64(len(part))
		if size <= mostLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		l.offset += size
		return bytes.TrimSuffix(line, []byte("\n")), true, nil
	}
}
