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

// Columns returns how many columns the terminal has that w writes to, 0 if that is not
// known.
func Columns(w any) int {
	f := file(w)
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
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
