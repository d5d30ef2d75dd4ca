package site

import (
	"log/slog"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// An inputLog has the inputs that scripts read besides the machine: environment variables, files,
// commands.
type inputLog struct {
	secrets *secret.Keeper
	list    []std.Input
	logged  int // number of inputs logged
}

func (l *inputLog) add(in std.Input) { l.list = append(l.list, in) }

// flush logs the new inputs. It is called after the script was evaluated, because only then all
// its secrets are known.
func (l *inputLog) flush(log *slog.Logger) {
	for _, in := range l.redacted(l.list[l.logged:]) {
		log.Debug("input", "kind", in.Kind, "name", in.Name, "value", in.Value)
	}
	l.logged = len(l.list)
}

// records returns all inputs for the record.
func (l *inputLog) records() []state.Input { return l.redacted(l.list) }

// redacted returns inputs in which a keyed digest replaces each value that was or is secret.
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
