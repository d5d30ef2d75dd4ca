package agent

import (
	"context"
	"log/slog"
	"os"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/terminal"
)

// newAgentLogger returns the log of the agent, one line a message. The journal of systemd adds the
// time, and takes the level from the beginning of a line (sd-daemon(3)).
func newAgentLogger(e *cli.Env, name string) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[name]
	if os.Getenv("JOURNAL_STREAM") != "" && !terminal.IsTerminal(e.Stderr) {
		return slog.New(journalHandler{e.Stderr, level})
	}
	return slog.New(terminal.NewLogHandler(e.Stderr, level, cli.Colorful(e, e.Stderr)))
}

// A journalHandler writes lines for the journal. The agent logs no attributes.
type journalHandler struct {
	w     terminal.Printer
	level slog.Level
}

// Enabled implements slog.Handler.
func (h journalHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h journalHandler) Handle(_ context.Context, r slog.Record) error {
	priority := 7 // of syslog(3)
	switch {
	case r.Level >= slog.LevelError:
		priority = 3
	case r.Level >= slog.LevelWarn:
		priority = 4
	case r.Level >= slog.LevelInfo:
		priority = 6
	}
	_, err := h.w.Print(terminal.Sprintf("<%d>%s\n", priority, r.Message))
	return err
}
