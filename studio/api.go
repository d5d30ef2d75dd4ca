package studio

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/studio/guard"
	"github.com/luaccm/ccm/studio/model"
)

// A refusal is an error with its answer.
type refusal struct {
	status int
	Failure
}

// Error implements error.
func (r *refusal) Error() string { return r.Failure.Error }

// refuse returns a refusal without further fields.
func refuse(status int, code, message string) *refusal {
	return &refusal{status, Failure{Error: message, Code: code}}
}

// post returns the handler of a request with a body; it replies with the result of answer.
func post[In any](answer func(ctx context.Context, in In) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if guard.Decode(w, r, &in) {
			respond(w)(answer(r.Context(), in))
		}
	}
}

// respond returns a function that replies with a value or an error. A nil value has no body.
func respond(w http.ResponseWriter) func(v any, err error) {
	return func(v any, err error) {
		switch started, ok := v.(*Job); {
		case err != nil:
			status, f := failureOf(err)
			fail(w, status, f)
		case v == nil:
			w.WriteHeader(http.StatusNoContent)
		case ok:
			guard.Reply(w, http.StatusAccepted, started)
		default:
			guard.Reply(w, http.StatusOK, v)
		}
	}
}

// failureOf returns the status and the body for an error.
func failureOf(err error) (int, Failure) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status, r.Failure
	}
	if r, ok := errors.AsType[*model.Refusal](err); ok {
		f := Failure{Error: terminal.Lines(r.Error()), Hint: terminal.Lines(r.Hint), Line: r.Line}
		switch {
		case errors.Is(err, model.ErrShape):
			f.Code = "shape"
		case errors.Is(err, model.ErrShared):
			f.Code = "shared"
		case errors.Is(err, model.ErrPath):
			f.Code = "path"
		}
		return http.StatusUnprocessableEntity, f
	}
	status := http.StatusUnprocessableEntity
	switch {
	case errors.Is(err, errNothing):
		return http.StatusConflict, Failure{Error: err.Error(), Code: "nothing"}
	case errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		status = http.StatusForbidden
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS):
		status = http.StatusInternalServerError
	}
	f := Failure{Error: terminal.Lines(err.Error())}
	if d, ok := errors.AsType[*diag.Error](err); ok {
		f.Hint = terminal.Lines(d.Hint)
		f.Error = terminal.Lines((&diag.Error{Subject: d.Subject, Err: d.Err}).Message())
	}
	return status, f
}

// fail replies with an error.
func fail(w http.ResponseWriter, status int, f Failure) { guard.Reply(w, status, f) }
