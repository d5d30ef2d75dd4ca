package terminal

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// A LogHandler writes log records for people, one a line:
//
//	15:04:05 INF message key=value
//
// Libraries for this pass control sequences in values through, or drop control characters.
type LogHandler struct {
	p      Printer
	level  slog.Level
	color  bool
	prefix string // prefix of keys: the groups
	attrs  Text   // attributes of all records
}

var _ slog.Handler = (*LogHandler)(nil)

// NewLogHandler returns a handler that writes records of at least a level to p.
func NewLogHandler(p Printer, level slog.Level, color bool) *LogHandler {
	return &LogHandler{p: p, level: level, color: color}
}

// Enabled implements slog.Handler.
func (h *LogHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h *LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		with.attrs = with.add(with.attrs, h.prefix, a)
	}
	return &with
}

// WithGroup implements slog.Handler.
func (h *LogHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.prefix += name + "."
	return &with
}

// Handle implements slog.Handler.
func (h *LogHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := h.attrs
	r.Attrs(func(a slog.Attr) bool {
		attrs = h.add(attrs, h.prefix, a)
		return true
	})
	begin := Text{}
	if !r.Time.IsZero() {
		begin = Sprintf("%s ", Faint.On(h.color).Paint(LineText(r.Time.Format(time.TimeOnly))))
	}
	name, style := levelName(r.Level)
	_, err := h.p.Print(Sprintf("%s%s %s%s\n", begin, style.On(h.color).Paint(LineText(name)), r.Message, attrs))
	return err
}

// levelName returns the short name and the style of a level.
func levelName(level slog.Level) (string, Style) {
	switch {
	case level >= slog.LevelError:
		return "ERR", "91"
	case level >= slog.LevelWarn:
		return "WRN", "93"
	case level >= slog.LevelInfo:
		return "INF", "92"
	}
	return "DBG", Style("")
}

// add appends an attribute to formatted attributes.
func (h *LogHandler) add(attrs Text, prefix string, a slog.Attr) Text {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, x := range value.Group() {
			attrs = h.add(attrs, prefix, x)
		}
		return attrs
	}
	if a.Equal(slog.Attr{}) {
		return attrs
	}
	return Sprintf("%s %s%s", attrs, Faint.On(h.color).Paint(LineText(prefix+a.Key+"=")), quoted(value.String()))
}

// quoted returns a value, quoted if its end would be unclear otherwise.
func quoted(s string) string {
	if s == "" || firstSpecial(s, false) >= 0 || strings.ContainsAny(s, ` ="`) {
		return strconv.Quote(s)
	}
	return s
}
