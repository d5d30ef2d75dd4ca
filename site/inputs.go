package site

import (
	"log/slog"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// An inputLog is what scripts looked at besides the machine: variables of the
// environment, files, commands.
type inputLog struct {
	secrets *secret.Keeper
	list    []std.Input
	logged  int // how many of them
}

func (l *inputLog) add(in std.Input) { l.list = append(l.list, in) }

// flush logs what was added since the last time. That waits until the script was
// evaluated: what in it is secret is known only then.
func (l *inputLog) flush(log *slog.Logger) {
	for _, in := range l.redacted(l.list[l.logged:]) {
		log.Debug("input", "kind", in.Kind, "name", in.Name, "value", in.Value)
	}
	l.logged = len(l.list)
}

// records returns what is recorded of all inputs.
func (l *inputLog) records() []state.Input { return l.redacted(l.list) }

// redacted returns inputs with a keyed digest in the place of what was a secret
// then, or is one now.
func (l *inputLog) redacted(inputs []std.Input) (list []state.Input) {
	for _, in := range inputs {
		x := state.Input{Kind: in.Kind, Name: l.secrets.Redact(in.Name), Value: l.secrets.Redact(in.Value)}
		if in.Secret || l.secrets.Contains(in.Text) {
			x.Value = l.secrets.Mask(in.Text)
		}
		list = append(list, x)
	}
	return list
}
