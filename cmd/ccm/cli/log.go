package cli

import (
	"log/slog"

	"github.com/luaccm/ccm/runtime/terminal"
)

// NewLogger returns the log of a run: output of commands, and with debug every effect.
func NewLogger(e *Env, w terminal.Printer, debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(terminal.NewLogHandler(w, level, Colorful(e, e.Stderr)))
}
