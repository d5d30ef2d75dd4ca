package state

import (
	"errors"
	"runtime"
)

// inOrder puts n things into their form, in parts of some of them on several
// goroutines, and hands the parts on in order. Form appends the things from one
// number to another to b. What form and each have failed at is returned in the end.
func inOrder(n, part int, form func(b []byte, from, to int) ([]byte, error), each func([]byte) error) error {
	if n <= part {
		text, err := form(nil, 0, n)
		return errors.Join(err, each(text))
	}
	type formed struct {
		text []byte
		err  error
	}
	parts := make(chan chan formed, 2*runtime.GOMAXPROCS(0))
	spare := make(chan []byte, cap(parts)+2)
	go func() {
		defer close(parts)
		for from := 0; from < n; from += part {
			done := make(chan formed, 1)
			parts <- done // waits while many are under way
			go func() {
				var b []byte
				select {
				case b = <-spare:
				default:
					b = make([]byte, 0, 48<<10)
				}
				text, err := form(b[:0], from, min(from+part, n))
				done <- formed{text, err}
			}()
		}
	}()
	var errs []error
	for done := range parts {
		f := <-done
		errs = append(errs, f.err)
		errs = append(errs, each(f.text))
		select {
		case spare <- f.text:
		default:
		}
	}
	return errors.Join(errs...)
}
