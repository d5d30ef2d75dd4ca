package host

// An Extraction identifies an archive that was extracted.
type Extraction struct {
	// URL is where it came from, without credentials; "" if it was copied.
	URL string
	// Checksum is the SHA-256 of the archive in hexadecimal.
	Checksum string
}

// Extractions remembers from one run to the next which archive was extracted last, by the path of
// the archive and the path that shows that it was extracted.
type Extractions interface {
	// Extracted returns the archive that was extracted last. It is not ok if that is unknown.
	Extracted(archive, creates string) (e Extraction, ok bool)
	// Redact returns a URL as Remember keeps it: without the texts of secrets.
	Redact(url string) string
	// Remember records an archive that was extracted.
	Remember(archive, creates string, e Extraction) error
	// Forget is set if an archive is about to be extracted, so that it is unknown which one is
	// there until Remember is called.
	Forget(archive string) error
}

// noExtractions remembers nothing.
type noExtractions struct{}

func (noExtractions) Extracted(string, string) (Extraction, bool)          { return Extraction{}, false }
func (noExtractions) Redact(url string) string                             { return url }
func (noExtractions) Remember(archive, creates string, _ Extraction) error { return nil }
func (noExtractions) Forget(string) error                                  { return nil }

// Extractions returns the record of extracted archives. Only a host may change it.
func (m *machine) Extractions() Extractions { return m.extractions }
