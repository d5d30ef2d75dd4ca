package terminal

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal, or writes to one (Unwrap).
func IsTerminal(w any) bool {
	f := file(w)
	return f != nil && isatty.IsTerminal(f.Fd())
}

// Size returns how many columns and rows the terminal has that w writes to, 0 if that is
// not known.
func Size(w any) (columns, rows int) {
	f := file(w)
	if f == nil {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// file returns the file that is written to in the end, nil if it is none.
func file(w any) *os.File {
	for {
		u, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = u.Unwrap()
	}
	f, _ := w.(*os.File)
	return f
}
