package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Refusal is the body of an answer of 400 and above.
type Refusal struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is a word for programs, empty for most.
	Code string `json:"code,omitempty"`
}

// Reply answers with JSON.
func Reply(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		_ = enc.Encode(Refusal{Error: err.Error()}) // two words of text
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the browser went away
}

// Decode reads the body of a request: one JSON value with no other fields than those of v. For
// another body it replies with the mistake and returns false.
func Decode(w http.ResponseWriter, r *http.Request, v any) bool {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = diag.Expected("one JSON object")
		}
	}
	if err == nil {
		return true
	}
	status := http.StatusBadRequest
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		status = http.StatusRequestEntityTooLarge
	}
	Reply(w, status, Refusal{Error: "the request: " + err.Error()})
	return false
}
