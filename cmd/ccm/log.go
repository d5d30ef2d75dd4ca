package main

import (
	"log/slog"

	"github.com/luaccm/ccm/runtime/terminal"
)

// newLogger returns the log of a run: what commands say, and with debug every
// effect.
func newLogger(e *env, w terminal.Printer, debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return slog.New(terminal.NewLogHandler(w, level, colorful(e, e.stderr)))
}
