package secret

// A Scanner searches the data written to it for secrets. A nil Scanner finds none.
type Scanner struct {
	k     *Keeper
	tail  string
	found bool
}

// Scanner returns a Scanner, nil if there are no secrets.
func (k *Keeper) Scanner() *Scanner {
	if !k.Any() {
		return nil
	}
	return &Scanner{k: k}
}

// Write implements io.Writer.
func (s *Scanner) Write(p []byte) (int, error) {
	if !s.found {
		text := s.tail + string(p)
		s.found = s.k.Contains(text)
		s.k.mu.RLock()
		s.tail = text[max(0, len(text)-s.k.longest):]
		s.k.mu.RUnlock()
	}
	return len(p), nil
}

// Found reports whether there was a secret.
func (s *Scanner) Found() bool { return s != nil && s.found }
