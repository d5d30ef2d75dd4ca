package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"
)

// capture keeps the beginning and the end of its input.
type capture struct {
	head, tail bytes.Buffer
	remaining  int
}

// Write implements io.Writer. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if room := OutputLimit/2 - c.head.Len(); room > 0 {
		k := min(room, len(p))
		c.head.Write(p[:k])
		p = p[k:]
	}
	c.tail.Write(p)
	if c.tail.Len() > OutputLimit {
		cut := c.tail.Len() - OutputLimit/2
		c.remaining += cut
		c.tail.Next(cut)
	}
	return n, nil
}

// Bytes returns the kept bytes.
func (c *capture) Bytes() []byte {
	if cut := c.tail.Len() - OutputLimit/2; cut > 0 {
		c.remaining += cut
		c.tail.Next(cut)
	}
	out := c.head.Bytes()
	if c.remaining > 0 {
		out = append(out, fmt.Sprintf("\n[%d bytes omitted]\n", c.remaining)...)
	}
	return append(out, c.tail.Bytes()...)
}

// lineWriter calls a function for each line.
type lineWriter struct {
	pw   *io.PipeWriter
	done sync.WaitGroup
}

func newLineWriter(onLine func(string)) *lineWriter {
	pr, pw := io.Pipe()
	w := &lineWriter{pw: pw}
	w.done.Go(func() {
		sc := bufio.NewScanner(pr)
		sc.Buffer(nil, 2*longestLine)
		sc.Split(splitLine)
		for sc.Scan() {
			onLine(sc.Text())
		}
		_, _ = io.Copy(io.Discard, pr)
	})
	return w
}

// longestLine is the largest number of bytes in a line of output.
const longestLine = 64 << 10

// splitLine is a bufio.SplitFunc. A carriage return ends a line: each update of a progress
// display is a line of its own.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i >= 0 && data[i] == '\r' && i+1 == len(data) && !atEOF:
		return 0, nil, nil // a line feed may follow
	case i >= 0 && bytes.HasPrefix(data[i:], []byte("\r\n")):
		return i + 2, data[:i], nil
	case i >= 0:
		return i + 1, data[:i], nil
	case len(data) >= longestLine || atEOF && len(data) > 0:
		return len(data), data, nil
	}
	return 0, nil, nil
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) { return w.pw.Write(p) }

// Close waits until onLine has been called with the last line.
func (w *lineWriter) Close() error {
	err := w.pw.Close()
	w.done.Wait()
	return err
}
