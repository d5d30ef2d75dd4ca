package node

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// mostLine is the length of the longest line of a record that is read.
const mostLine = 16 << 20

// A lineReader reads the complete lines of a record that may still grow.
type lineReader struct {
	r      *bufio.Reader
	offset int64 // the end of the last returned line
}

func newLineReader(f *os.File, offset int64) *lineReader {
	_, _ = f.Seek(offset, io.SeekStart) // an error shows when it is read
	return &lineReader{r: bufio.NewReaderSize(f, 64<<10), offset: offset}
}

// next returns the next line without its end. It is not ok if the line is incomplete yet. A line
// that is too long is empty.
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
