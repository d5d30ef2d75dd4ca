package secret

import (
	"io"
	"slices"
	"strings"
	"sync"
)

// A Writer masks secrets in the text that is written to it. Bytes that may be the
// beginning of a secret are kept until the next write; all others are passed on at once.
// It is safe for use by several goroutines.
type Writer struct {
	w  io.Writer
	k  *Keeper
	mu sync.Mutex
	// pending is what may be the beginning of a secret.
	pending string
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer, k *Keeper) *Writer { return &Writer{w: w, k: k} }

// To returns a Writer to out that masks the same secrets.
func (w *Writer) To(out io.Writer) *Writer { return NewWriter(out, w.k) }

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if !w.k.Any() {
		return w.w.Write(p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.pending + string(p)
	n := len(text) - w.k.partialSuffix(text)
	// A secret that overlaps the pending bytes is pending as a whole.
	for _, s := range w.k.spansOf(text) {
		if s.from < n && s.to > n {
			n = s.from
		}
	}
	w.pending = text[n:]
	if n > 0 {
		if _, err := io.WriteString(w.w, w.k.Redact(text[:n])); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes the pending bytes.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	if w.pending == "" {
		return nil
	}
	text := w.pending
	w.pending = ""
	_, err := io.WriteString(w.w, w.k.Redact(text))
	return err
}

// JSON returns a writer for whole JSON documents, one in each call of Write. See
// [Keeper.JSON].
func (w *Writer) JSON(p *Protocol) io.Writer { return jsonWriter{w, p} }

type jsonWriter struct {
	*Writer
	p *Protocol
}

// Write implements io.Writer.
func (w jsonWriter) Write(doc []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flush(); err != nil {
		return 0, err
	}
	if _, err := w.w.Write(w.k.JSON(doc, w.p)); err != nil {
		return 0, err
	}
	return len(doc), nil
}

func (k *Keeper) spansOf(text string) []span {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.spans(text, false)
}

// partialSuffix returns the length of the longest end of a text that may be the beginning
// of a secret.
func (k *Keeper) partialSuffix(text string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sorted == nil {
		for _, list := range k.byPrefix {
			for _, f := range list {
				k.sorted = append(k.sorted, f.text)
			}
		}
		slices.Sort(k.sorted)
	}
	for i := max(0, len(text)-k.longest+1); i < len(text); i++ {
		rest := text[i:]
		if len(rest) > 1 {
			if n := pair(rest); k.prefixBits[n>>6]&(1<<(n&63)) == 0 {
				continue
			}
		}
		at, _ := slices.BinarySearch(k.sorted, rest)
		if at < len(k.sorted) && len(k.sorted[at]) > len(rest) && strings.HasPrefix(k.sorted[at], rest) {
			return len(rest)
		}
		// The form itself may be there, and a longer one that begins with it.
		if at+1 < len(k.sorted) && strings.HasPrefix(k.sorted[at+1], rest) {
			return len(rest)
		}
	}
	return 0
}
