package terminal

import "io"

// A StickyWriter writes to W and keeps the first error, so that callers can check once, at the end.
type StickyWriter struct {
	W   io.Writer
	Err error
}

// Unwrap returns W.
func (s *StickyWriter) Unwrap() io.Writer { return s.W }

// Write implements io.Writer.
func (s *StickyWriter) Write(p []byte) (int, error) {
	n, err := s.W.Write(p)
	if s.Err == nil {
		s.Err = err
	}
	return n, err
}
