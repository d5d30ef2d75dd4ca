package terminal

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal, or a wrapper of one (Unwrap).
func IsTerminal(w any) bool {
	f := file(w)
	return f != nil && isatty.IsTerminal(f.Fd())
}

// Size returns the columns and rows of the terminal that w writes to, 0 if unknown.
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

// file returns the file that w writes to, through wrappers (Unwrap); nil if it is not a file.
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
