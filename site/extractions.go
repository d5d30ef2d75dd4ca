package site

import (
	"sync"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
)

// recordedExtractions remembers extracted archives in the state directory of a recorder. Without
// a usable state directory it remembers none; while its lock is not held, it records none.
type recordedExtractions struct {
	recorder *Recorder
	once     sync.Once
	found    *state.Extractions // nil for none
}

func (x *recordedExtractions) open() *state.Extractions {
	x.once.Do(func() {
		if st, err := x.recorder.Open("", ""); err == nil { // a run reports the error
			x.found = st.Store.Extractions(st.Root)
		}
	})
	return x.found
}

// Extracted implements host.Extractions.
func (x *recordedExtractions) Extracted(archive, creates string) (e host.Extraction, ok bool) {
	if found := x.open(); found != nil {
		return found.Extracted(archive, creates)
	}
	return e, false
}

// Redact implements host.Extractions.
func (x *recordedExtractions) Redact(url string) string {
	return x.recorder.process.Secrets.Redact(url)
}

// Remember implements host.Extractions.
func (x *recordedExtractions) Remember(archive, creates string, e host.Extraction) error {
	if found := x.open(); found != nil && x.recorder.work != nil {
		return found.Remember(archive, creates, e)
	}
	return nil
}

// Forget implements host.Extractions.
func (x *recordedExtractions) Forget(archive string) error {
	if found := x.open(); found != nil && x.recorder.work != nil {
		return found.Forget(archive)
	}
	return nil
}
